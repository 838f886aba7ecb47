#ifndef CHAINCOVER_STDARG_H
#define CHAINCOVER_STDARG_H
typedef char *va_list;
void *__chaincover_va(va_list list);
#define va_start(list, last) __chaincover_va(list)
#define va_arg(list, type) (*(type *)__chaincover_va(list))
#define va_copy(to, from) __chaincover_va(to)
#define va_end(list) __chaincover_va(list)
#endif
