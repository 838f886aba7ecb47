#ifndef CHAINCOVER_LIMITS_H
#define CHAINCOVER_LIMITS_H
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MAX __CC_SHRT_MAX__
#define SHRT_MIN (-SHRT_MAX - 1)
#define USHRT_MAX __CC_USHRT_MAX__
#define INT_MAX __CC_INT_MAX__
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX __CC_UINT_MAX__
#define LONG_MAX __CC_LONG_MAX__
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX __CC_ULONG_MAX__
#define LLONG_MAX __CC_LLONG_MAX__
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX __CC_ULLONG_MAX__
#endif
