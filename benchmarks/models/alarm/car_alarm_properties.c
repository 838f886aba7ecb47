/* Properties of the car alarm in C: assume the goal, run a step, assert the outcome. */
#include <assert.h>

#include "car_alarm.h"

void __CPROVER_assume(int condition);

/* The alarm starts when a door opens in an armed car. */
void p_door(t_car_alarm_io *io, t_car_alarm_state *state) {
  __CPROVER_assume(state->Armed_OPEN && io->lock && io->door && !io->shock);
  car_alarm_compute(io, state);
  assert(io->siren && io->flash && !io->armed_led);
}

/* It starts when the car is shaken, too. */
void p_shock(t_car_alarm_io *io, t_car_alarm_state *state) {
  __CPROVER_assume(state->Armed_OPEN && io->lock && !io->door && io->shock);
  car_alarm_compute(io, state);
  assert(state->Alarm_Loud_OPEN && io->siren);
}

/* Unlocking silences it. */
void p_unlock(t_car_alarm_io *io, t_car_alarm_state *state) {
  __CPROVER_assume(state->Alarm_Loud_OPEN && !io->lock);
  car_alarm_compute(io, state);
  assert(!io->siren && !io->flash && state->Unlocked_OPEN);
}
