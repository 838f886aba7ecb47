#ifndef ROBOTARM_H
#define ROBOTARM_H

typedef unsigned char GABOOL;
#define GAFALSE ((GABOOL)0)
#define GATRUE ((GABOOL)1)

/* Positions in metres, and metres per step of 100 ms. */
#define REACH 0.5f  /* the arm ends there, to both sides */
#define HEIGHT 0.5f /* and there, upwards; it stands on 0 */
#define FAST 0.25f
#define SLOW 0.125f

typedef enum {
  joystick_NONE,
  joystick_LEFT,
  joystick_RIGHT,
  joystick_UP,
  joystick_DOWN,
  joystick_TRIGGER,
  joystick_HOME,
  joystick_STOP
} GAENUM_joystick;

typedef enum {
  robotarm_REST,
  robotarm_LEFT,
  robotarm_RIGHT,
  robotarm_UP,
  robotarm_DOWN,
  robotarm_HOMING,
  robotarm_STOPPED
} GAENUM_robotarm;

typedef struct {
  GAENUM_joystick joystick;
} t_robotarm_input;

typedef struct {
  GAENUM_robotarm mode;
  GABOOL grip;
  float x;
  float y;
} t_robotarm_state;

void robotarm_init(t_robotarm_state *_state_);
void robotarm_compute(const t_robotarm_input *_in_, t_robotarm_state *_state_);

#endif
