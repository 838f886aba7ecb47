/* Stand-in for AUTOSAR's platform types: exact sizes for every target. */
#ifndef PLATFORM_TYPES_H
#define PLATFORM_TYPES_H
#define CPU_TYPE_8 (8u)
#define CPU_TYPE_16 (16u)
#define CPU_TYPE_32 (32u)
#define CPU_TYPE_64 (64u)
#define MSB_FIRST (0u)
#define LSB_FIRST (1u)
#define HIGH_BYTE_FIRST (0u)
#define LOW_BYTE_FIRST (1u)
#ifndef CPU_TYPE
#define CPU_TYPE CPU_TYPE_32
#endif
#ifndef CPU_BIT_ORDER
#define CPU_BIT_ORDER LSB_FIRST
#endif
#ifndef CPU_BYTE_ORDER
#define CPU_BYTE_ORDER LOW_BYTE_FIRST
#endif
typedef unsigned char boolean;
typedef __INT8_TYPE__ sint8;
typedef __UINT8_TYPE__ uint8;
typedef __INT16_TYPE__ sint16;
typedef __UINT16_TYPE__ uint16;
typedef __INT32_TYPE__ sint32;
typedef __UINT32_TYPE__ uint32;
typedef __INT64_TYPE__ sint64;
typedef __UINT64_TYPE__ uint64;
typedef int sint8_least;
typedef unsigned int uint8_least;
typedef int sint16_least;
typedef unsigned int uint16_least;
typedef __INT32_TYPE__ sint32_least;
typedef __UINT32_TYPE__ uint32_least;
typedef float float32;
typedef double float64;
#ifndef TRUE
#define TRUE 1u
#endif
#ifndef FALSE
#define FALSE 0u
#endif
#endif
