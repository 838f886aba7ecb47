/* Stand-in for infinities and NaN, and for their tests. */
#ifndef RT_NONFINITE_H
#define RT_NONFINITE_H
#include <math.h>
#include <stddef.h>
#include <rtwtypes.h>
#define rtInf ((real_T)(1.0e308 * 10.0))
#define rtMinusInf (-rtInf)
#define rtNaN (rtInf - rtInf)
#define rtInfF ((real32_T)rtInf)
#define rtMinusInfF (-rtInfF)
#define rtNaNF ((real32_T)rtNaN)
#define rt_InitInfAndNaN(size) ((void)(size))
#define rtIsInf(value) ((boolean_T)((value) == rtInf || (value) == rtMinusInf))
#define rtIsInfF(value) ((boolean_T)((value) == rtInfF || (value) == rtMinusInfF))
#define rtIsNaN(value) ((boolean_T)((value) != (value)))
#define rtIsNaNF(value) ((boolean_T)((value) != (value)))
#endif
