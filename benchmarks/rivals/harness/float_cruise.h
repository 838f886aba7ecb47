/* The cruise controller of benchmarks/floats: its inputs and its goals. */
#include "cruise.c"
static unsigned char was_on, was_braked, stepped;

#define GOALS 5
#define FINAL (cruise_DW.mode == 0)

static void harness_start(void) {
  cruise_initialize();
}

static void harness_choose(void) {
  cruise_U.speed = nondet_float();
  cruise_U.target = nondet_float();
  cruise_U.enable = nondet_uchar() & 1;
  cruise_U.brake = nondet_uchar() & 1;
  __CPROVER_assume(cruise_U.speed >= 0.0f && cruise_U.speed <= 200.0f);
  __CPROVER_assume(cruise_U.target >= 0.0f && cruise_U.target <= 200.0f);
}

static void harness_before(void) {
  if (was_braked && cruise_U.speed > 60.0f) COVER(4);
  was_on = cruise_DW.mode == 1;
  was_braked = cruise_DW.mode == 2 && cruise_U.brake;
}

static void harness_step(void) {
  cruise_step();
}

static void harness_after(void) {
  if (was_on && cruise_Y.throttle == 100.0f) COVER(0);
  if (was_on && cruise_DW.mode == 1 && cruise_Y.throttle == 0.0f) COVER(1);
  if (stepped && cruise_Y.throttle > 20.0f && cruise_Y.throttle < 30.0f) COVER(2);
  if (cruise_DW.integral > 20.0f) COVER(3);
  stepped = 1;
}
