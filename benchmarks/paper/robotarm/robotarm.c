/* Robot arm with a joystick, re-engineered in the style of generated code. A loaded arm moves slowly, and only above the
 * ground; the trigger closes and opens the grip where the arm rests on it.
 */
#include "robotarm.h"

void robotarm_init(t_robotarm_state *_state_)
{
  _state_->mode = robotarm_REST;
  _state_->grip = GAFALSE;
  _state_->x = 0.0f;
  _state_->y = 0.0f;
}

/* A loaded arm does not move sideways on the ground. */
static GABOOL robotarm_free(const t_robotarm_state *_state_)
{
  return !_state_->grip || _state_->y > 0.0f;
}

static float robotarm_limited(float value, float low, float high)
{
  return value < low ? low : value > high ? high : value;
}

static float robotarm_towards_zero(float value, float speed)
{
  return value > speed ? value - speed : value < -speed ? value + speed : 0.0f;
}

void robotarm_compute(const t_robotarm_input *_in_, t_robotarm_state *_state_)
{
  float speed = _state_->grip ? SLOW : FAST;

  switch (_state_->mode) {
  case robotarm_LEFT:
    if (robotarm_free(_state_)) {
      _state_->x = robotarm_limited(_state_->x - speed, -REACH, REACH);
    }
    break;
  case robotarm_RIGHT:
    if (robotarm_free(_state_)) {
      _state_->x = robotarm_limited(_state_->x + speed, -REACH, REACH);
    }
    break;
  case robotarm_UP:
    _state_->y = robotarm_limited(_state_->y + speed, 0.0f, HEIGHT);
    break;
  case robotarm_DOWN:
    _state_->y = robotarm_limited(_state_->y - speed, 0.0f, HEIGHT);
    break;
  case robotarm_HOMING:
    if (_state_->x != 0.0f) {
      if (robotarm_free(_state_)) {
        _state_->x = robotarm_towards_zero(_state_->x, speed);
      }
    } else {
      _state_->y = robotarm_towards_zero(_state_->y, speed);
    }
    break;
  case robotarm_REST:
  case robotarm_STOPPED:
    break;
  }

  if (_in_->joystick == joystick_STOP) {
    _state_->mode = _state_->mode == robotarm_STOPPED ? robotarm_REST : robotarm_STOPPED;
  } else if (_state_->mode == robotarm_HOMING) {
    if (_state_->x == 0.0f && _state_->y == 0.0f) {
      _state_->mode = robotarm_REST;
    }
  } else if (_state_->mode != robotarm_STOPPED) {
    switch (_in_->joystick) {
    case joystick_LEFT:
      _state_->mode = robotarm_LEFT;
      break;
    case joystick_RIGHT:
      _state_->mode = robotarm_RIGHT;
      break;
    case joystick_UP:
      _state_->mode = robotarm_UP;
      break;
    case joystick_DOWN:
      _state_->mode = robotarm_DOWN;
      break;
    case joystick_HOME:
      _state_->mode = robotarm_HOMING;
      break;
    case joystick_TRIGGER:
      if (_state_->mode == robotarm_REST && _state_->y == 0.0f) {
        _state_->grip = !_state_->grip;
      }
      _state_->mode = robotarm_REST;
      break;
    default:
      _state_->mode = robotarm_REST;
      break;
    }
  }
}
