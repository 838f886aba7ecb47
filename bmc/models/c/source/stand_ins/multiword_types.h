/* Stand-in for integers of several words. */
#ifndef MULTIWORD_TYPES_H
#define MULTIWORD_TYPES_H
#include <rtwtypes.h>
typedef int32_T chunk_T;
typedef uint32_T uchunk_T;
typedef long int long_T;
typedef struct { uint32_T chunks[2]; } int64m_T;
typedef struct { uint32_T chunks[2]; } uint64m_T;
typedef struct { uint32_T chunks[3]; } int96m_T;
typedef struct { uint32_T chunks[3]; } uint96m_T;
typedef struct { uint32_T chunks[4]; } int128m_T;
typedef struct { uint32_T chunks[4]; } uint128m_T;
#endif
