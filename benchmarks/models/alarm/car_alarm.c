/* Car alarm, in the style of generated state chart code: one flag per location, a shared timer.
 *
 *   Unlocked --lock, door closed--> Arming --ARM_DELAY--> Armed --door or shock--> Alarm{Loud, Flash}
 *   Unlocked --lock, door open----> Waiting --door closed--> Arming
 *   Alarm.Loud --SIREN_TIME--> Alarm.Flash --FLASH_TIME--> Armed (door closed) or Silent (door open)
 *   Silent --door closed--> Armed;  every location --not lock--> Unlocked
 */
#include "car_alarm.h"

void car_alarm_init(t_car_alarm_io *io, t_car_alarm_state *state) {
  state->counter = 0;
  state->Unlocked_OPEN = TRUE;
  state->Waiting_OPEN = FALSE;
  state->Arming_OPEN = FALSE;
  state->Armed_OPEN = FALSE;
  state->Alarm_OPEN = FALSE;
  state->Alarm_Loud_OPEN = FALSE;
  state->Alarm_Flash_OPEN = FALSE;
  state->Silent_OPEN = FALSE;
  io->armed_led = FALSE;
  io->siren = FALSE;
  io->flash = FALSE;
}

static void enter_Arming(t_car_alarm_state *state) {
  state->Arming_OPEN = TRUE;
  state->counter = 0;
}

static void enter_Armed(t_car_alarm_io *io, t_car_alarm_state *state) {
  state->Armed_OPEN = TRUE;
  io->armed_led = TRUE;
}

static void exit_Alarm(t_car_alarm_io *io, t_car_alarm_state *state) {
  state->Alarm_Loud_OPEN = FALSE;
  state->Alarm_Flash_OPEN = FALSE;
  state->Alarm_OPEN = FALSE;
  io->siren = FALSE;
  io->flash = FALSE;
}

static void compute_Alarm(t_car_alarm_io *io, t_car_alarm_state *state) {
  if (!io->lock) {
    exit_Alarm(io, state);
    state->Unlocked_OPEN = TRUE;
  } else if (state->Alarm_Loud_OPEN) {
    state->counter = state->counter + 1;
    if (state->counter >= SIREN_TIME) {
      state->Alarm_Loud_OPEN = FALSE;
      io->siren = FALSE;
      state->Alarm_Flash_OPEN = TRUE;
      state->counter = 0;
    }
  } else {
    if (state->Alarm_Flash_OPEN) {
      state->counter = state->counter + 1;
      if (state->counter >= FLASH_TIME) {
        exit_Alarm(io, state);
        if (io->door) {
          state->Silent_OPEN = TRUE;
        } else {
          enter_Armed(io, state);
        }
      }
    }
  }
}

void car_alarm_compute(t_car_alarm_io *io, t_car_alarm_state *state) {
  BOOL door_closed = TO_BOOL(!io->door);

  if (state->Unlocked_OPEN) {
    if (io->lock) {
      state->Unlocked_OPEN = FALSE;
      if (door_closed) {
        enter_Arming(state);
      } else {
        state->Waiting_OPEN = TRUE;
      }
    }
  } else if (state->Waiting_OPEN) {
    if (!io->lock) {
      state->Waiting_OPEN = FALSE;
      state->Unlocked_OPEN = TRUE;
    } else if (door_closed) {
      state->Waiting_OPEN = FALSE;
      enter_Arming(state);
    }
  } else if (state->Arming_OPEN) {
    if (!io->lock) {
      state->Arming_OPEN = FALSE;
      state->Unlocked_OPEN = TRUE;
    } else if (!door_closed) {
      state->Arming_OPEN = FALSE;
      state->Waiting_OPEN = TRUE;
    } else {
      state->counter = state->counter + 1;
      if (state->counter >= ARM_DELAY) {
        state->Arming_OPEN = FALSE;
        enter_Armed(io, state);
      }
    }
  } else if (state->Armed_OPEN) {
    if (!io->lock) {
      state->Armed_OPEN = FALSE;
      io->armed_led = FALSE;
      state->Unlocked_OPEN = TRUE;
    } else if (!door_closed || io->shock) {
      state->Armed_OPEN = FALSE;
      io->armed_led = FALSE;
      state->Alarm_OPEN = TRUE;
      state->Alarm_Loud_OPEN = TRUE;
      state->counter = 0;
      io->siren = TRUE;
      io->flash = TRUE;
    }
  } else if (state->Alarm_OPEN) {
    compute_Alarm(io, state);
  } else if (state->Silent_OPEN) {
    if (!io->lock) {
      state->Silent_OPEN = FALSE;
      state->Unlocked_OPEN = TRUE;
    } else if (door_closed) {
      state->Silent_OPEN = FALSE;
      enter_Armed(io, state);
    }
  }
}
