/* Power window, re-engineered in the style of generated code: a key of the driver counts before one of the passenger.
 *
 * A short press moves the window by itself, a long one as long as it lasts. An obstacle while the window closes lets it
 * open for a while. With the extension (WITH_FAULT) a motor that stalls is never fully trusted again.
 */
#include "window.h"

void window_init(t_window_state *_state_, t_window_output *_out_)
{
  _state_->mode = window_NEUTRAL;
  _state_->timer = 0;
  _out_->move_up = GAFALSE;
  _out_->move_down = GAFALSE;
}

static void window_enter(t_window_state *_state_, GAENUM_window mode)
{
  _state_->mode = mode;
  _state_->timer = 0;
}

void window_compute(const t_window_input *_in_, t_window_output *_out_, t_window_state *_state_)
{
  GABOOL driver = _in_->driver_up || _in_->driver_down;
  GABOOL up = driver ? (_in_->driver_up && !_in_->driver_down) : (_in_->passenger_up && !_in_->passenger_down);
  GABOOL down = driver ? (_in_->driver_down && !_in_->driver_up) : (_in_->passenger_down && !_in_->passenger_up);

  _state_->timer = _state_->timer + 1;
#ifdef WITH_FAULT
  if (_in_->stalled && _out_->move_up && _state_->mode < window_FAULT_UP) {
    window_enter(_state_, window_FAULT_UP);
  } else if (_in_->stalled && _out_->move_down && _state_->mode < window_FAULT_UP) {
    window_enter(_state_, window_FAULT_DOWN);
  } else
#endif
  switch (_state_->mode) {
  case window_NEUTRAL:
    _state_->timer = 0;
    if (up) {
      window_enter(_state_, window_UP_INITIAL);
    } else if (down) {
      window_enter(_state_, window_DOWN_INITIAL);
    }
    break;
  case window_UP_INITIAL:
    if (_in_->obstacle) {
      window_enter(_state_, window_EMERGENCY);
    } else if (down) {
      window_enter(_state_, window_NEUTRAL);
    } else if (!up) {
      window_enter(_state_, window_UP_AUTO);
    } else if (_state_->timer >= (int)SHORT_PRESS) {
      window_enter(_state_, window_UP_MANUAL);
    }
    break;
  case window_UP_AUTO:
    if (_in_->obstacle) {
      window_enter(_state_, window_EMERGENCY);
    } else if (down || _state_->timer >= (int)TRAVEL) {
      window_enter(_state_, window_NEUTRAL);
    }
    break;
  case window_UP_MANUAL:
    _state_->timer = 0;
    if (_in_->obstacle) {
      window_enter(_state_, window_EMERGENCY);
    } else if (!up) {
      window_enter(_state_, window_NEUTRAL);
    }
    break;
  case window_DOWN_INITIAL:
    if (up) {
      window_enter(_state_, window_NEUTRAL);
    } else if (!down) {
      window_enter(_state_, window_DOWN_AUTO);
    } else if (_state_->timer >= (int)SHORT_PRESS) {
      window_enter(_state_, window_DOWN_MANUAL);
    }
    break;
  case window_DOWN_AUTO:
    if (up || _state_->timer >= (int)TRAVEL) {
      window_enter(_state_, window_NEUTRAL);
    }
    break;
  case window_DOWN_MANUAL:
    _state_->timer = 0;
    if (!down) {
      window_enter(_state_, window_NEUTRAL);
    }
    break;
  case window_EMERGENCY:
    if (_state_->timer >= (int)RETRACT) {
      window_enter(_state_, window_NEUTRAL);
    }
    break;
#ifdef WITH_FAULT
  case window_FAULT_UP:
  case window_FAULT_DOWN:
    _state_->timer = 0;
    break;
#endif
  }
  _out_->move_up = _state_->mode == window_UP_INITIAL || _state_->mode == window_UP_AUTO || _state_->mode == window_UP_MANUAL;
  _out_->move_down = _state_->mode == window_DOWN_INITIAL || _state_->mode == window_DOWN_AUTO ||
                     _state_->mode == window_DOWN_MANUAL || _state_->mode == window_EMERGENCY;
#ifdef WITH_FAULT
  if (_state_->mode == window_FAULT_UP) {
    _out_->move_down = down;
  } else if (_state_->mode == window_FAULT_DOWN) {
    _out_->move_up = up;
  }
#endif
}
