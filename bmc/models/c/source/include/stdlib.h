#ifndef CHAINCOVER_STDLIB_H
#define CHAINCOVER_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
int abs(int value);
long labs(long value);
long long llabs(long long value);
typedef struct { int quot; int rem; } div_t;
typedef struct { long quot; long rem; } ldiv_t;
typedef struct { long long quot; long long rem; } lldiv_t;
div_t div(int number, int by);
ldiv_t ldiv(long number, long by);
lldiv_t lldiv(long long number, long long by);
void abort(void);
void exit(int status);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void free(void *memory);
int rand(void);
void srand(unsigned int seed);
int atoi(const char *text);
#endif
