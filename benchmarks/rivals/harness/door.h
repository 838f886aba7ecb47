/* door: its objects, its inputs and its goals. */
#include "door.c"

#define GOALS 7
#define FINAL (door_DW.is_c3_door == door_IN_Closed && !door_Y.lamp)

static void harness_start(void) {
  door_initialize();
}

static void harness_choose(void) {
  INPUT(door_U.standstill, value == 0 || value == 1)
  INPUT(door_U.button, value == 0 || value == 1)
  INPUT(door_U.close, value == 0 || value == 1)
  INPUT(door_U.obstacle, value == 0 || value == 1)
}

static void harness_before(void) {
  /* opens */
  if (door_DW.is_c3_door == door_IN_Closed && door_DW.UnitDelay_DSTATE == 0 && door_U.standstill && door_U.button)
      COVER(0);
  /* held_button */
  if (door_DW.is_c3_door == door_IN_Closed && door_DW.UnitDelay_DSTATE == 1 && door_U.standstill && door_U.button)
      COVER(1);
  if (door_DW.is_Moving == door_IN_Closing && door_DW.retries == 0 && door_U.obstacle) COVER(2); /* obstacle */
  if (door_DW.is_Moving == door_IN_Closing && door_DW.retries == 1 && door_U.obstacle) COVER(3); /* fault */
  /* by_hand */
  if (door_DW.is_c3_door == door_IN_Fault && door_U.close && !door_U.obstacle && door_U.standstill) COVER(4);
  /* by_itself */
  if (door_DW.is_c3_door == door_IN_Open && door_DW.temporalCounter_i1 == 3 && !door_U.close && !door_U.button)
      COVER(5);
  /* latest_obstacle */
  if (door_DW.is_Moving == door_IN_Closing && door_DW.temporalCounter_i1 == 2 && door_U.obstacle) COVER(6);
}

static void harness_step(void) {
  door_step();
}

static void harness_after(void) {
}
