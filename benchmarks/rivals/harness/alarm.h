/* alarm: its objects, its inputs and its goals. */
#include "car_alarm.c"
static t_car_alarm_io IO_;
static t_car_alarm_io *io = &IO_;
static t_car_alarm_state ST_;
static t_car_alarm_state *state = &ST_;
static unsigned char seen4_1;

#define GOALS 8
#define FINAL (state->Unlocked_OPEN && !io->siren && !io->flash && !io->armed_led)

static void harness_start(void) {
  car_alarm_init(io,state);
}

static void harness_choose(void) {
  INPUT(io->lock, value == 0 || value == 1)
  INPUT(io->door, value == 0 || value == 1)
  INPUT(io->shock, value == 0 || value == 1)
}

static void harness_before(void) {
  if (state->Armed_OPEN && io->lock && io->door && !io->shock) COVER(0); /* p_door */
  if (state->Armed_OPEN && io->lock && !io->door && io->shock) COVER(1); /* p_shock */
  if (state->Alarm_Loud_OPEN && !io->lock) COVER(2); /* p_unlock */
  if (state->Arming_OPEN && io->lock && io->door) COVER(3); /* waits_for_door */
  if (state->Alarm_Loud_OPEN && state->counter == SIREN_TIME - 1 && io->lock) COVER(5); /* siren_ends */
  if (state->Alarm_Flash_OPEN && state->counter == FLASH_TIME - 1 && io->lock && !io->door) COVER(6); /* rearms */
  seen4_1 = state->Arming_OPEN;
}

static void harness_step(void) {
  car_alarm_compute(io,state);
}

static void harness_after(void) {
  if (state->Armed_OPEN && io->armed_led && seen4_1) COVER(4); /* arms */
  if (state->Silent_OPEN) COVER(7); /* silent */
}
