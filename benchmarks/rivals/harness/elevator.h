/* elevator: its objects, its inputs and its goals. */
#include "elevator.c"
static unsigned char seen3_1;

#define GOALS 6
#define FINAL (cabin_floor == 0 && !door_open && lamps == 0)

static void harness_start(void) {
  elevator_init();
}

static void harness_choose(void) {
  INPUT(call_buttons, value == 0 || value == 1 || value == 2 || value == 4 || value == 8)
  INPUT(obstacle, value == 0 || value == 1)
}

static void harness_before(void) {
  if (cabin_floor == 3 && !door_open && pending[3]) COVER(0); /* top */
  if (direction == UP && cabin_floor == 1 && !door_open && pending[1] && pending[3]) COVER(1); /* stop_on_the_way */
  /* turn */
  if (direction == UP && !door_open && !pending[3] && !pending[2] && cabin_floor == 2 && call_buttons == 0
      && pending[0] && !pending[1]) COVER(2);
  if (door_open && obstacle && seen3_1) COVER(3); /* obstacle_twice */
  if (door_open && door_timer == 1 && !obstacle) COVER(4); /* door_closes */
  seen3_1 = door_open && obstacle;
}

static void harness_step(void) {
  elevator_step();
}

static void harness_after(void) {
  if (lamps == 9 && cabin_floor == 1) COVER(5); /* two_requests */
}
