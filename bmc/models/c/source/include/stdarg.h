#ifndef CHAINCOVER_STDARG_H
#define CHAINCOVER_STDARG_H
#include <chaincover_va_list.h>
typedef __builtin_va_list va_list, __gnuc_va_list;
#define va_start(list, last) __builtin_va_start(list, last)
#define va_arg(list, type) (*__chaincover_va_arg(list, (type *)0))
#define va_copy(to, from) __builtin_va_copy(to, from)
#define va_end(list) __builtin_va_end(list)
#endif
