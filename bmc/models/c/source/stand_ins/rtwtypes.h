/* Stand-in for the types of Simulink Coder: the basic ones, truth values, and an untyped pointer. */
#ifndef RTWTYPES_H
#define RTWTYPES_H
#include <tmwtypes.h>
#ifndef false
#define false (0U)
#endif
#ifndef true
#define true (1U)
#endif
typedef void *pointer_T;
#endif
