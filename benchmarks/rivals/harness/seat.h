/* seat: its objects, its inputs and its goals. */
#include "seat.c"

#define GOALS 6
#define FINAL (SEAT_CTRL_SEAT_CTRL_next_state == 0 && seat_position == 2)

static void harness_start(void) {
  seat_init();
}

static void harness_choose(void) {
  INPUT(seat_forth, value == 0 || value == 1)
  INPUT(seat_back, value == 0 || value == 1)
  INPUT(seat_store, value == 0 || value == 1)
  INPUT(seat_recall, value == 0 || value == 1)
  INPUT(seat_ignition, value == 0 || value == 1)
  INPUT(seat_current, value == 0 || value == 100)
}

static void harness_before(void) {
  /* stored */
  if (SEAT_CTRL_SEAT_CTRL_next_state == 1 && seat_bitlist[0] && seat_ignition && seat_store && seat_position == 4
      && !seat_motor_back && !seat_recall) COVER(0);
  /* recalls */
  if (SEAT_CTRL_SEAT_CTRL_next_state == 2 && seat_position == 2 && seat_memory == 4 && seat_motor_forth
      && seat_recall) COVER(1);
  /* arrives */
  if (SEAT_CTRL_SEAT_CTRL_next_state == 2 && seat_position == 3 && seat_memory == 4 && seat_motor_forth && seat_recall
      && seat_ignition) COVER(2);
  /* blocked */
  if (SEAT_CTRL_SEAT_CTRL_next_state == 2 && seat_motor_back && seat_sc_MOVE >= 1 && seat_current > 80 && seat_recall
      && seat_ignition && seat_position > seat_memory + 1) COVER(3);
  /* no_recall */
  if (SEAT_CTRL_SEAT_CTRL_next_state == 1 && seat_bitlist[SEAT_CTRL__BLOCKED_IDX] && seat_ignition && seat_recall
      && !seat_forth && !seat_back && !seat_motor_forth && !seat_motor_back) COVER(4);
  /* end_stop */
  if (MOVE_SEAT_CTRL_next_state == 2 && seat_position == 1 && seat_back && seat_ignition && !seat_recall) COVER(5);
}

static void harness_step(void) {
  seat_DU();
}

static void harness_after(void) {
}
