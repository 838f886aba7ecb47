/* Stand-in for Rte_<Component>.h of any software component: types and constants, no access functions. */
#ifndef CHAINCOVER_RTE_COMPONENT_H
#define CHAINCOVER_RTE_COMPONENT_H
#include <Rte_Type.h>
#ifndef RTE_RUNNABLE
#define RTE_RUNNABLE
#endif
#endif
