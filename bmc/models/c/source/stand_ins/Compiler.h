/* Stand-in for AUTOSAR's compiler abstraction: memory and pointer classes have no meaning here. */
#ifndef COMPILER_H
#define COMPILER_H
#include <Compiler_Cfg.h>
#define AUTOMATIC
#define TYPEDEF
#ifndef NULL_PTR
#define NULL_PTR ((void *)0)
#endif
#define INLINE inline
#define LOCAL_INLINE static inline
#define FUNC(type, memclass) type
#define FUNC_P2CONST(type, ptrclass, memclass) const type *
#define FUNC_P2VAR(type, ptrclass, memclass) type *
#define P2VAR(type, memclass, ptrclass) type *
#define P2CONST(type, memclass, ptrclass) const type *
#define CONSTP2VAR(type, memclass, ptrclass) type *const
#define CONSTP2CONST(type, memclass, ptrclass) const type *const
#define P2FUNC(type, ptrclass, name) type(*name)
#define CONST(type, memclass) const type
#define VAR(type, memclass) type
#endif
