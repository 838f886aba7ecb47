/* latch: a harness for CBMC, written from its interface. */
#include "source-0.c"
void __CPROVER_assume(int condition);
void __CPROVER_assert(int condition, const char *description);
unsigned char cc_nondet_unsigned_char(void);
unsigned short cc_nondet_unsigned_short(void);
unsigned int cc_nondet_unsigned_int(void);
unsigned long long cc_nondet_unsigned_long_long(void);
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
static struct latch *cc_the_l_pointer;
static __typeof__(*cc_the_l_pointer) cc_the_l;
static unsigned char cc_the_set;
static unsigned char cc_the_reset;
#ifndef CC_WANTED
#define CC_WANTED (cc_covered_0 && cc_covered_1 && cc_covered_2 && cc_covered_3 && cc_covered_4)
#endif
static _Bool cc_covered_0; /* sets */
static _Bool cc_covered_1; /* resets */
static _Bool cc_covered_2; /* holds */
static _Bool cc_covered_3; /* reset_wins */
static _Bool cc_covered_4; /* worn */
static void chaincover_choose(void) {
  unsigned char cc_in_0 = cc_nondet_unsigned_char();
  cc_the_set = cc_in_0;
  __CPROVER_input("cc_in_0", (unsigned char)cc_the_set);
  unsigned char cc_in_1 = cc_nondet_unsigned_char();
  cc_the_reset = cc_in_1;
  __CPROVER_input("cc_in_1", (unsigned char)cc_the_reset);
  __CPROVER_assume(((unsigned char)cc_the_set <= 1u) && ((unsigned char)cc_the_reset <= 1u));
}
static void chaincover_before(void) {
  if (((unsigned char)cc_the_l.q == 0u) && (!((unsigned char)cc_the_set == 0u)) && ((unsigned char)cc_the_reset == 0u)) cc_covered_0 = 1; /* sets */
  if (((unsigned char)cc_the_l.q == 1u) && (!((unsigned char)cc_the_reset == 0u)) && ((unsigned char)cc_the_set == 0u)) cc_covered_1 = 1; /* resets */
  if (((unsigned char)cc_the_l.q == 1u) && ((unsigned char)cc_the_set == 0u) && ((unsigned char)cc_the_reset == 0u)) cc_covered_2 = 1; /* holds */
  if (((unsigned char)cc_the_l.q == 1u) && (!((unsigned char)cc_the_set == 0u)) && (!((unsigned char)cc_the_reset == 0u))) cc_covered_3 = 1; /* reset_wins */
}
static void chaincover_step(void) {
  latch_step((void *)&cc_the_l, cc_the_set, cc_the_reset);
}
static void chaincover_after(void) {
  if ((unsigned char)cc_the_l.changes == 3u) cc_covered_4 = 1; /* worn */
}
static void chaincover_start(void) {
  latch_init((void *)&cc_the_l);
}
static void chaincover_end(void) {
  __CPROVER_assert(!(CC_WANTED && ((unsigned char)cc_the_l.q == 0u)), "CC_WANTED");
}
void chaincover_main(void) {
  chaincover_start();
  chaincover_after();
  while (1) {
    chaincover_choose();
    chaincover_before();
    chaincover_step();
    chaincover_after();
    chaincover_end();
  }
}
