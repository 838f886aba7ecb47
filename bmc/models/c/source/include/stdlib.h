#ifndef CHAINCOVER_STDLIB_H
#define CHAINCOVER_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
int abs(int value);
long labs(long value);
void abort(void);
void exit(int status);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);
int rand(void);
void srand(unsigned int seed);
int atoi(const char *text);
#endif
