/* Stand-in for the solver's data: what models without continuous states set once when they start. */
#ifndef RTW_SOLVER_H
#define RTW_SOLVER_H
#include <rtwtypes.h>
typedef enum { MINOR_TIME_STEP, MAJOR_TIME_STEP } SimTimeStep;
typedef struct {
  void *rtModelPtr;
  SimTimeStep *simTimeStepPtr;
  void *solverData;
  const char_T *solverName;
  boolean_T isVariableStepSolver;
  time_T **tPtr;
  time_T *stepSizePtr;
  time_T solverStopTime;
  const char_T **errStatusPtr;
} RTWSolverInfo;
#define rtsiSetRTModelPtr(S, pointer) ((S)->rtModelPtr = (pointer))
#define rtsiSetSimTimeStepPtr(S, pointer) ((S)->simTimeStepPtr = (pointer))
#define rtsiGetSimTimeStep(S) (*(S)->simTimeStepPtr)
#define rtsiSetSimTimeStep(S, step) (*(S)->simTimeStepPtr = (step))
#define rtsiSetSolverData(S, data) ((S)->solverData = (void *)(data))
#define rtsiSetSolverName(S, name) ((S)->solverName = (name))
#define rtsiSetVariableStepSolver(S, is) ((S)->isVariableStepSolver = (is))
#define rtsiSetTPtr(S, pointer) ((S)->tPtr = (pointer))
#define rtsiSetT(S, time) (*(*(S)->tPtr) = (time))
#define rtsiGetT(S) (*(*(S)->tPtr))
#define rtsiSetStepSizePtr(S, pointer) ((S)->stepSizePtr = (pointer))
#define rtsiGetStepSize(S) (*(S)->stepSizePtr)
#define rtsiSetSolverStopTime(S, time) ((S)->solverStopTime = (time))
#define rtsiGetSolverStopTime(S) ((S)->solverStopTime)
#define rtsiSetErrorStatusPtr(S, pointer) ((S)->errStatusPtr = (pointer))
#endif
