/* The modes in doubles of benchmarks/floats: their inputs and their goals. */
#include "mode.c"
static unsigned char was_3, was_2;

#define GOALS 5
#define FINAL (g_DW.mode == 0.0)

static void harness_start(void) {
  g_initialize();
}

static void harness_choose(void) {
  g_U.lever = nondet_uchar() & 1 ? 1.0 : 0.0;
  g_U.speed = nondet_double();
  g_U.fault = nondet_uchar() & 1;
  __CPROVER_assume(g_U.speed >= 0.0 && g_U.speed <= 200.0);
}

static void harness_before(void) {
  was_3 = g_DW.mode == 3.0;
  was_2 = g_DW.mode == 2.0;
}

static void harness_step(void) {
  g_step();
}

static void harness_after(void) {
  if (g_DW.mode == 1.0) COVER(0);
  if (g_DW.mode == 3.0) COVER(1);
  if (was_3 && g_DW.mode == 2.0) COVER(2);
  if (was_2 && g_DW.mode == 1.0) COVER(3);
  if (g_DW.mode == 9.0) COVER(4);
}
