/* Stand-in for the constants of AUTOSAR's run-time environment. */
#ifndef RTE_H
#define RTE_H
#include <Std_Types.h>
#define RTE_E_OK ((Std_ReturnType)0u)
#define RTE_E_INVALID ((Std_ReturnType)1u)
#define RTE_E_LOST_DATA ((Std_ReturnType)64u)
#define RTE_E_MAX_AGE_EXCEEDED ((Std_ReturnType)64u)
#define RTE_E_COM_STOPPED ((Std_ReturnType)128u)
#define RTE_E_TIMEOUT ((Std_ReturnType)129u)
#define RTE_E_LIMIT ((Std_ReturnType)130u)
#define RTE_E_NO_DATA ((Std_ReturnType)131u)
#define RTE_E_TRANSMIT_ACK ((Std_ReturnType)132u)
#define RTE_E_NEVER_RECEIVED ((Std_ReturnType)133u)
#define RTE_E_UNCONNECTED ((Std_ReturnType)134u)
#endif
