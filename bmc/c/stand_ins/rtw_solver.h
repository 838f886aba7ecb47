/* Stand-in for the solver's types: whether a step is a minor or a major one. */
#ifndef RTW_SOLVER_H
#define RTW_SOLVER_H
#include <rtwtypes.h>
typedef enum { MINOR_TIME_STEP, MAJOR_TIME_STEP } SimTimeStep;
#endif
