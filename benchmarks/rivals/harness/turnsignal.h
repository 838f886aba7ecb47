/* turnsignal: its objects, its inputs and its goals. */
#include <stdint.h>
static uint8_t ticks; /* a local static of turnsignal.c */
#include "turnsignal.c"
static lever_t lever;
static unsigned char hazard, ignition;
static unsigned char seen6_1;

#define GOALS 8
#define FINAL (mode == MODE_IDLE && !lit)

static void harness_start(void) {
  turnsignal_init();
}

static void harness_choose(void) {
  INPUT(lever, value == 0 || value == 1 || value == 2)
  INPUT(hazard, value == 0 || value == 1)
  INPUT(ignition, value == 0 || value == 1)
}

static void harness_before(void) {
  if (mode == MODE_HOLD && held <= TIP_LIMIT && lever == LEVER_OFF && ignition && !hazard) COVER(0); /* tip */
  /* tip_ends */
  if (mode == MODE_TIP && flashes == 1 && lit && ticks == 1 && lever == LEVER_OFF && ignition && !hazard) COVER(1);
  if (mode == MODE_HOLD && held > TIP_LIMIT && lever == LEVER_OFF && !hazard) COVER(2); /* released */
  if (mode == MODE_TIP && side == LAMPS_LEFT && lever == LEVER_RIGHT && ignition && !hazard) COVER(3); /* other_side */
  if (mode == MODE_HOLD && hazard) COVER(4); /* hazard */
  if (mode == MODE_HAZARD && !hazard && lever == LEVER_LEFT && ignition) COVER(5); /* hazard_to_lever */
  if (hazard && seen6_1) COVER(6); /* hazard_flashes */
  if (mode == MODE_TIP && !ignition && !hazard) COVER(7); /* no_ignition */
  seen6_1 = mode == MODE_HAZARD && lit && ticks == 1 && hazard;
}

static void harness_step(void) {
  turnsignal_step(lever,hazard,ignition);
}

static void harness_after(void) {
}
