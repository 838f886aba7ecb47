#ifndef CHAINCOVER_STDARG_H
#define CHAINCOVER_STDARG_H
typedef char *va_list;
#endif
