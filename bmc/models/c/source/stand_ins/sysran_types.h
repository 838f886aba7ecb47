/* Stand-in for the marks that subsystems leave when they have run. */
#ifndef SIMSTRUCT_SYSRAN_TYPES_H
#define SIMSTRUCT_SYSRAN_TYPES_H
#include <rtwtypes.h>
typedef enum {
  SUBSYS_RAN_BC_DISABLE,
  SUBSYS_RAN_BC_ENABLE,
  SUBSYS_RAN_BC_DISABLE_TO_ENABLE,
  SUBSYS_RAN_BC_ENABLE_TO_DISABLE,
  SUBSYS_RAN_BC_ONE_SHOT
} SubSystemRanBCTransition;
typedef int8_T sysRanDType;
#endif
