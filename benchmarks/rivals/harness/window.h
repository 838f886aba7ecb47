/* window: its objects, its inputs and its goals. */
#include "window.c"
static boolean_T u_, d_, e_, mu_, md_, pi_;
static uint8_T c_;
static boolean_T *rtu_up = &u_, *rtu_down = &d_, *rtu_endStop = &e_;
static boolean_T *rty_moveUp = &mu_, *rty_moveDown = &md_, *rty_pinch = &pi_;
static uint8_T *rtu_current = &c_;
static DW_window_T DW_, *localDW = &DW_;
static unsigned char seen6_1;

#define GOALS 8
#define FINAL (localDW->is_c1_window == window_IN_Neutral && !*rty_pinch && !*rty_moveUp && !*rty_moveDown)

static void harness_start(void) {
  window_Init(rty_moveUp,rty_moveDown,rty_pinch,localDW);
}

static void harness_choose(void) {
  INPUT(*rtu_up, value == 0 || value == 1)
  INPUT(*rtu_down, value == 0 || value == 1)
  INPUT(*rtu_endStop, value == 0 || value == 1)
  INPUT(*rtu_current, value == 0 || value == 120 || value == 200)
}

static void harness_before(void) {
  if (localDW->is_MovingUp == window_IN_Auto && *rtu_endStop) COVER(0); /* auto_up_stops */
  if (localDW->is_MovingUp == window_IN_Auto && !*rtu_endStop && *rtu_current > 100) COVER(2); /* pinch */
  if (localDW->is_MovingUp == window_IN_Initial && !*rtu_endStop && *rtu_current == 120) COVER(3); /* inrush */
  if (localDW->is_c1_window == window_IN_Emergency && localDW->temporalCounter_i1 >= 3) COVER(4); /* retracted */
  /* acknowledge */
  if (localDW->is_c1_window == window_IN_Neutral && *rty_pinch && localDW->lastCommand == window_CMD_NONE && *rtu_up
      && !*rtu_down) COVER(5);
  /* auto_down_stops */
  if (localDW->is_MovingDown == window_IN_Auto && *rtu_up && !*rtu_down && !*rtu_endStop) COVER(7);
  seen6_1 = localDW->lastCommand == window_CMD_DOWN && *rtu_up && *rtu_down;
}

static void harness_step(void) {
  window(rtu_up,rtu_down,rtu_endStop,rtu_current,rty_moveUp,rty_moveDown,rty_pinch,localDW);
}

static void harness_after(void) {
  if (localDW->is_MovingUp == window_IN_Manual) COVER(1); /* manual_up */
  if (localDW->lastCommand == window_CMD_DOWN && seen6_1) COVER(6); /* both_keys */
}
