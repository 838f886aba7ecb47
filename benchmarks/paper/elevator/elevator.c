/* Elevator for three floors, re-engineered in the style of generated code: a button stays pressed until the cabin has
 * opened its door on that floor, and the cabin keeps its direction as long as somebody waits there.
 */
#include "elevator.h"

void elevator_init(t_elevator_state *_state_)
{
  _state_->mode = elevator_HALTED;
  _state_->upwards = GATRUE;
  _state_->call_0 = GAFALSE;
  _state_->call_1 = GAFALSE;
  _state_->call_2 = GAFALSE;
  _state_->level = 0U;
}

static GABOOL elevator_called(const t_elevator_state *_state_, int level)
{
  return level == 0 ? _state_->call_0 : level == 1 ? _state_->call_1 : level == TOP && _state_->call_2;
}

static void elevator_open(t_elevator_state *_state_)
{
  _state_->mode = elevator_OPEN;
  if (_state_->level == 0U) {
    _state_->call_0 = GAFALSE;
  } else if (_state_->level == 1U) {
    _state_->call_1 = GAFALSE;
  } else {
    _state_->call_2 = GAFALSE;
  }
}

/* Where the cabin goes next: on in its direction, else back, else nowhere. */
static void elevator_choose(t_elevator_state *_state_)
{
  GABOOL above = (_state_->level < 1U && _state_->call_1) || (_state_->level < 2U && _state_->call_2);
  GABOOL below = (_state_->level > 1U && _state_->call_1) || (_state_->level > 0U && _state_->call_0);

  if (above && (_state_->upwards || !below)) {
    _state_->mode = elevator_UP;
    _state_->upwards = GATRUE;
  } else if (below) {
    _state_->mode = elevator_DOWN;
    _state_->upwards = GAFALSE;
  } else {
    _state_->mode = elevator_HALTED;
  }
}

void elevator_compute(const t_elevator_input *_in_, t_elevator_state *_state_)
{
  _state_->call_0 = _state_->call_0 || _in_->button_0;
  _state_->call_1 = _state_->call_1 || _in_->button_1;
  _state_->call_2 = _state_->call_2 || _in_->button_2;
  switch (_state_->mode) {
  case elevator_HALTED:
    if (elevator_called(_state_, _state_->level)) {
      elevator_open(_state_);
    } else {
      elevator_choose(_state_);
    }
    break;
  case elevator_OPEN:
    if (elevator_called(_state_, _state_->level)) {
      elevator_open(_state_); /* somebody holds the door */
    } else {
      elevator_choose(_state_);
    }
    break;
  case elevator_UP:
    _state_->level = _state_->level + 1U;
    if (elevator_called(_state_, _state_->level)) {
      elevator_open(_state_);
    }
    break;
  case elevator_DOWN:
    _state_->level = _state_->level - 1U;
    if (elevator_called(_state_, _state_->level)) {
      elevator_open(_state_);
    }
    break;
  }
}
