/* Stand-in for the basic types of Simulink Coder: exact sizes for every target. */
#ifndef __TMWTYPES__
#define __TMWTYPES__
#include <limits.h>
typedef __INT8_TYPE__ int8_T;
typedef __UINT8_TYPE__ uint8_T;
typedef __INT16_TYPE__ int16_T;
typedef __UINT16_TYPE__ uint16_T;
typedef __INT32_TYPE__ int32_T;
typedef __UINT32_TYPE__ uint32_T;
typedef __INT64_TYPE__ int64_T;
typedef __UINT64_TYPE__ uint64_T;
typedef float real32_T;
typedef double real64_T;
typedef double real_T;
typedef double time_T;
typedef unsigned char boolean_T;
typedef int int_T;
typedef unsigned int uint_T;
typedef unsigned long ulong_T;
typedef unsigned long long ulonglong_T;
typedef char char_T;
typedef unsigned char uchar_T;
typedef char_T byte_T;
typedef struct { real32_T re; real32_T im; } creal32_T;
typedef struct { real64_T re; real64_T im; } creal64_T;
typedef struct { real_T re; real_T im; } creal_T;
#define MAX_int8_T ((int8_T)(127))
#define MIN_int8_T ((int8_T)(-128))
#define MAX_uint8_T ((uint8_T)(255U))
#define MAX_int16_T ((int16_T)(32767))
#define MIN_int16_T ((int16_T)(-32767 - 1))
#define MAX_uint16_T ((uint16_T)(65535U))
#define MAX_int32_T ((int32_T)(2147483647L))
#define MIN_int32_T ((int32_T)(-2147483647L - 1))
#define MAX_uint32_T ((uint32_T)(0xFFFFFFFFU))
#define MAX_int64_T ((int64_T)(9223372036854775807LL))
#define MIN_int64_T ((int64_T)(-9223372036854775807LL - 1LL))
#define MAX_uint64_T ((uint64_T)(0xFFFFFFFFFFFFFFFFULL))
#endif
