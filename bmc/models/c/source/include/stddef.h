#ifndef CHAINCOVER_STDDEF_H
#define CHAINCOVER_STDDEF_H
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef int wchar_t;
#ifndef NULL
#define NULL ((void *)0)
#endif
#define offsetof(type, member) offsetof(type, member)
#endif
