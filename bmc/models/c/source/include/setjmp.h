#ifndef CHAINCOVER_SETJMP_H
#define CHAINCOVER_SETJMP_H
typedef long jmp_buf[32];
int setjmp(jmp_buf environment);
void longjmp(jmp_buf environment, int value);
#endif
