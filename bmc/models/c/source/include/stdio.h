#ifndef CHAINCOVER_STDIO_H
#define CHAINCOVER_STDIO_H
#include <stddef.h>
typedef struct chaincover_file FILE;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *target, const char *format, ...);
int snprintf(char *target, size_t size, const char *format, ...);
int scanf(const char *format, ...);
int puts(const char *text);
int putchar(int character);
int getchar(void);
int fflush(FILE *file);
int fputs(const char *text, FILE *file);
#endif
