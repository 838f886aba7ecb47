/* Stand-in: without continuous states, generated code uses nothing of this header. */
#ifndef RTW_CONTINUOUS_H
#define RTW_CONTINUOUS_H
#include <rtwtypes.h>
#endif
