/* latch: a harness for CBMC, written from its interface. */
#include "source-0.c"
void __CPROVER_assume(int condition);
void __CPROVER_assert(int condition, const char *description);
unsigned char cc_nondet_8(void);
unsigned short cc_nondet_16(void);
unsigned int cc_nondet_32(void);
unsigned long long cc_nondet_64(void);
float cc_nondet_float(void);
double cc_nondet_double(void);
typedef unsigned long long cc_u64;
typedef unsigned __int128 cc_u128;
typedef __int128 cc_s128;
#define u64 cc_u64
#define u128 cc_u128
#define s128 cc_s128
#define MASK(w) ((w) >= 128 ? ~(u128)0 : (((u128)1 << (w)) - 1))
#define sn(a, w) ((long long)((u64)(a) << (64 - (w))) >> (64 - (w)))
#define sx(a, w) ((w) >= 128 ? (s128)(a) : (s128)((u128)(a) << (128 - (w))) >> (128 - (w)))
#define sdiv cc_sdiv
#define srem cc_srem
static u128 sdiv(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return x < 0 ? 1 : MASK(w);
  r = p / q;
  return ((x < 0) != (y < 0) ? -r : r) & MASK(w);
}
static u128 srem(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return a;
  r = p % q;
  return (x < 0 ? -r : r) & MASK(w);
}
static struct latch *cc_0_pointer;
static __typeof__(*cc_0_pointer) cc_0;
static unsigned char cc_1;
static unsigned char cc_2;
#ifndef CC_WANTED
#define CC_WANTED (cc_covered_0 && cc_covered_1 && cc_covered_2 && cc_covered_3 && cc_covered_4)
#endif
static _Bool cc_covered_0; /* sets */
static _Bool cc_covered_1; /* resets */
static _Bool cc_covered_2; /* holds */
static _Bool cc_covered_3; /* reset_wins */
static _Bool cc_covered_4; /* worn */
static void cc_choose(void) {
  unsigned char cc_in_0 = cc_nondet_8();
  cc_1 = cc_in_0;
  __CPROVER_input("cc_in_0", (unsigned char)cc_1);
  unsigned char cc_in_1 = cc_nondet_8();
  cc_2 = cc_in_1;
  __CPROVER_input("cc_in_1", (unsigned char)cc_2);
  __CPROVER_assume(((unsigned char)cc_1 <= 1u) && ((unsigned char)cc_2 <= 1u));
}
static void cc_before(void) {
  if (((unsigned char)cc_0.q == 0u) && (!((unsigned char)cc_1 == 0u)) && ((unsigned char)cc_2 == 0u)) cc_covered_0 = 1; /* sets */
  if (((unsigned char)cc_0.q == 1u) && (!((unsigned char)cc_2 == 0u)) && ((unsigned char)cc_1 == 0u)) cc_covered_1 = 1; /* resets */
  if (((unsigned char)cc_0.q == 1u) && ((unsigned char)cc_1 == 0u) && ((unsigned char)cc_2 == 0u)) cc_covered_2 = 1; /* holds */
  if (((unsigned char)cc_0.q == 1u) && (!((unsigned char)cc_1 == 0u)) && (!((unsigned char)cc_2 == 0u))) cc_covered_3 = 1; /* reset_wins */
}
static void cc_step(void) {
  latch_step((void *)&cc_0, cc_1, cc_2);
}
static void cc_after(void) {
  if ((unsigned char)cc_0.changes == 3u) cc_covered_4 = 1; /* worn */
}
static void cc_start(void) {
  latch_init((void *)&cc_0);
}
void chaincover_main(void) {
  cc_start();
  cc_after();
  while (1) {
    cc_choose();
    cc_before();
    cc_step();
    cc_after();
    __CPROVER_assert(!(CC_WANTED && ((unsigned char)cc_0.q == 0u)), "CC_WANTED");
  }
}
