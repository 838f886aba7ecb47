/* Turn signal control, hand written: static state, comfort blinking after a short tip, hazard lights. */
#include "turnsignal.h"

static blink_mode_t mode;
static lamps_t side;
static uint8_t held;    /* steps that the lever has been held, up to TIP_LIMIT + 1 */
static uint8_t flashes; /* flashes still to come in comfort blinking */
static bool lit;

static const struct {
  lever_t lever;
  lamps_t lamps;
} sides[] = {{LEVER_LEFT, LAMPS_LEFT}, {LEVER_RIGHT, LAMPS_RIGHT}};

void turnsignal_init(void) {
  mode = MODE_IDLE;
  side = LAMPS_NONE;
  held = 0;
  flashes = 0;
  lit = false;
}

static lamps_t side_of(lever_t lever) {
  for (unsigned k = 0; k < 2; k++) {
    if (sides[k].lever == lever)
      return sides[k].lamps;
  }
  return LAMPS_NONE;
}

static void start(blink_mode_t next, lamps_t which) {
  mode = next;
  side = which;
  held = 0;
  flashes = TIP_FLASHES;
}

/* One step of the flasher; true when a flash has just ended. */
static bool flasher(bool restart) {
  static uint8_t ticks;

  if (restart) {
    ticks = 0;
    lit = true;
    return false;
  }
  if (++ticks >= ON_STEPS) {
    ticks = 0;
    lit = !lit;
    return !lit;
  }
  return false;
}

lamps_t turnsignal_step(lever_t lever, bool hazard, bool ignition) {
  const lamps_t wanted = ignition ? side_of(lever) : LAMPS_NONE;
  bool restart = false;
  bool ended;

  if (hazard && mode != MODE_HAZARD) {
    start(MODE_HAZARD, LAMPS_BOTH);
    restart = true;
  }

  switch (mode) {
  case MODE_HAZARD:
    if (hazard)
      break;
    start(MODE_IDLE, LAMPS_NONE);
    /* the lever counts again at once */
    /* fall through */
  case MODE_IDLE:
    if (wanted != LAMPS_NONE) {
      start(MODE_HOLD, wanted);
      restart = true;
    }
    break;
  case MODE_HOLD:
    if (wanted == side && (held > TIP_LIMIT || held++ < TIP_LIMIT + 1))
      break;
    if (wanted == LAMPS_NONE && ignition && held <= TIP_LIMIT) {
      mode = MODE_TIP;
      break;
    }
    /* released after a long hold, or moved to the other side */
    /* fall through */
  case MODE_TIP:
    if (wanted != LAMPS_NONE && wanted != side) {
      start(MODE_HOLD, wanted);
      restart = true;
    } else if (mode == MODE_HOLD || flashes == 0 || !ignition) {
      start(MODE_IDLE, LAMPS_NONE);
    }
    break;
  }

  if (mode == MODE_IDLE) {
    lit = false;
    return LAMPS_NONE;
  }
  ended = flasher(restart);
  if (ended && flashes && --flashes == 0 && mode == MODE_TIP)
    start(MODE_IDLE, LAMPS_NONE);
  return lit ? side : LAMPS_NONE;
}
