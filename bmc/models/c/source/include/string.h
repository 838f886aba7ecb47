#ifndef CHAINCOVER_STRING_H
#define CHAINCOVER_STRING_H
#include <stddef.h>
void *memset(void *target, int value, size_t size);
void *memcpy(void *target, const void *source, size_t size);
void *memmove(void *target, const void *source, size_t size);
int memcmp(const void *left, const void *right, size_t size);
size_t strlen(const char *text);
char *strcpy(char *target, const char *source);
char *strncpy(char *target, const char *source, size_t size);
int strcmp(const char *left, const char *right);
int strncmp(const char *left, const char *right, size_t size);
void *memchr(const void *memory, int value, size_t size);
#endif
