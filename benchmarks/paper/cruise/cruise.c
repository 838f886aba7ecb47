/* Cruise control, re-engineered in the style of generated code after Fig. 1 and 2 of the paper on test case chains:
 * the button leaves ON and DIS again, as in Fig. 2.
 */
#include "cruise.h"

void cruise_init(t_cruise_state *_state_)
{
  _state_->mode = cruise_OFF;
  _state_->speed = 0U;
  _state_->enable = GAFALSE;
}

void cruise_compute(const t_cruise_io *_io_, t_cruise_state *_state_)
{
  GAENUM_mode mode = _state_->mode;

  switch (mode) {
  case cruise_ON:
    if (_io_->button) {
      _state_->mode = cruise_OFF;
    } else if (_io_->gas || _io_->brake) {
      _state_->mode = cruise_DIS;
    }
    break;
  case cruise_DIS:
    if (_io_->button) {
      _state_->mode = cruise_OFF;
    } else if ((_state_->speed == 2U && (_io_->dec || _io_->brake)) || (_state_->speed == 0U && (_io_->acc || _io_->gas))) {
      _state_->mode = cruise_ON;
    }
    break;
  case cruise_OFF:
    if ((_state_->speed == 0U && _state_->enable && (_io_->gas || _io_->acc)) || (_state_->speed == 1U && _io_->button) ||
        (_state_->speed == 2U && _state_->enable && (_io_->brake || _io_->dec))) {
      _state_->mode = cruise_ON;
    }
    break;
  }
  if (_io_->button) {
    _state_->enable = !_state_->enable;
  }
  if ((_io_->gas || (mode != cruise_ON && _io_->acc)) && _state_->speed < 2U) {
    _state_->speed = _state_->speed + 1U;
  }
  if ((_io_->brake || (mode != cruise_ON && _io_->dec)) && _state_->speed > 0U) {
    _state_->speed = _state_->speed - 1U;
  }
}
