#ifndef CHAINCOVER_VA_LIST_H
#define CHAINCOVER_VA_LIST_H
typedef struct __va_list_tag {
  void *__at;
#if __SIZEOF_POINTER__ == 8
  unsigned long __rest[2];
#endif
} __builtin_va_list[1];
#endif
