/* Car alarm, re-engineered in the style of generated code. A door that is open when the battery is connected tells that
 * the car is coded for a country without sirens: from then on it only flashes.
 */
#include "alarm.h"

void alarm_init(t_alarm_state *_state_, t_alarm_output *_out_)
{
  _state_->mode = alarm_POWER_UP;
  _state_->timer = 0;
  _out_->armed = GAFALSE;
  _out_->siren = GAFALSE;
  _out_->flash = GAFALSE;
}

static void alarm_enter(t_alarm_state *_state_, GAENUM_alarm mode)
{
  _state_->mode = mode;
  _state_->timer = 0;
}

void alarm_compute(const t_alarm_input *_in_, t_alarm_output *_out_, t_alarm_state *_state_)
{
  GABOOL quiet = _state_->mode >= alarm_QUIET_UNLOCKED;

  _state_->timer = _state_->timer + 1;
  switch (_state_->mode) {
  case alarm_POWER_UP:
    alarm_enter(_state_, _in_->door ? alarm_QUIET_UNLOCKED : alarm_UNLOCKED);
    break;
  case alarm_UNLOCKED:
  case alarm_QUIET_UNLOCKED:
    _state_->timer = 0;
    if (_in_->lock && _in_->door) {
      alarm_enter(_state_, quiet ? alarm_QUIET_WAITING : alarm_WAITING);
    } else if (_in_->lock) {
      alarm_enter(_state_, quiet ? alarm_QUIET_ARMING : alarm_ARMING);
    }
    break;
  case alarm_WAITING:
  case alarm_QUIET_WAITING:
    _state_->timer = 0;
    if (!_in_->lock) {
      alarm_enter(_state_, quiet ? alarm_QUIET_UNLOCKED : alarm_UNLOCKED);
    } else if (!_in_->door) {
      alarm_enter(_state_, quiet ? alarm_QUIET_ARMING : alarm_ARMING);
    }
    break;
  case alarm_ARMING:
  case alarm_QUIET_ARMING:
    if (!_in_->lock) {
      alarm_enter(_state_, quiet ? alarm_QUIET_UNLOCKED : alarm_UNLOCKED);
    } else if (_in_->door) {
      alarm_enter(_state_, quiet ? alarm_QUIET_WAITING : alarm_WAITING);
    } else if (_state_->timer >= ARM_DELAY) {
      alarm_enter(_state_, quiet ? alarm_QUIET_ARMED : alarm_ARMED);
    }
    break;
  case alarm_ARMED:
    _state_->timer = 0;
    if (!_in_->lock) {
      alarm_enter(_state_, alarm_UNLOCKED);
    } else if (_in_->door) {
      alarm_enter(_state_, alarm_SIREN);
    }
    break;
  case alarm_QUIET_ARMED:
    _state_->timer = 0;
    if (!_in_->lock) {
      alarm_enter(_state_, alarm_QUIET_UNLOCKED);
    } else if (_in_->door) {
      alarm_enter(_state_, alarm_QUIET_FLASH);
    }
    break;
  case alarm_SIREN:
    if (!_in_->lock) {
      alarm_enter(_state_, alarm_UNLOCKED);
    } else if (_state_->timer >= SIREN_TIME) {
      alarm_enter(_state_, alarm_FLASH);
    }
    break;
  case alarm_FLASH:
  case alarm_QUIET_FLASH:
    if (!_in_->lock) {
      alarm_enter(_state_, quiet ? alarm_QUIET_UNLOCKED : alarm_UNLOCKED);
    } else if (_state_->timer >= FLASH_TIME) {
      if (_in_->door) {
        alarm_enter(_state_, quiet ? alarm_QUIET_SILENT : alarm_SILENT);
      } else {
        alarm_enter(_state_, quiet ? alarm_QUIET_ARMED : alarm_ARMED);
      }
    }
    break;
  case alarm_SILENT:
  case alarm_QUIET_SILENT:
    _state_->timer = 0;
    if (!_in_->lock) {
      alarm_enter(_state_, quiet ? alarm_QUIET_UNLOCKED : alarm_UNLOCKED);
    } else if (!_in_->door) {
      alarm_enter(_state_, quiet ? alarm_QUIET_ARMED : alarm_ARMED);
    }
    break;
  }
  _out_->armed = _state_->mode == alarm_ARMED || _state_->mode == alarm_QUIET_ARMED;
  _out_->siren = _state_->mode == alarm_SIREN;
  _out_->flash = _state_->mode == alarm_SIREN || _state_->mode == alarm_FLASH || _state_->mode == alarm_QUIET_FLASH;
}
