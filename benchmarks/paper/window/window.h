#ifndef WINDOW_H
#define WINDOW_H

typedef unsigned char GABOOL;
#define GAFALSE ((GABOOL)0)
#define GATRUE ((GABOOL)1)

/* Steps of 50 ms. */
#define SHORT_PRESS 3U /* a key held so long moves the window by hand */
#define TRAVEL 5U      /* a window that moves by itself has arrived */
#define RETRACT 4U     /* after an obstacle the window opens for so long */

typedef enum {
  window_NEUTRAL,
  window_UP_INITIAL,
  window_UP_AUTO,
  window_UP_MANUAL,
  window_DOWN_INITIAL,
  window_DOWN_AUTO,
  window_DOWN_MANUAL,
  window_EMERGENCY
#ifdef WITH_FAULT
  , window_FAULT_UP,  /* the motor stalled while closing: the window can only be opened */
  window_FAULT_DOWN   /* it stalled while opening: the window can only be closed */
#endif
} GAENUM_window;

typedef struct {
  GABOOL driver_up;
  GABOOL driver_down;
  GABOOL passenger_up;
  GABOOL passenger_down;
  GABOOL obstacle;
#ifdef WITH_FAULT
  GABOOL stalled;
#endif
} t_window_input;

typedef struct {
  GABOOL move_up;
  GABOOL move_down;
} t_window_output;

typedef struct {
  GAENUM_window mode;
  int timer;
} t_window_state;

void window_init(t_window_state *_state_, t_window_output *_out_);
void window_compute(const t_window_input *_in_, t_window_output *_out_, t_window_state *_state_);

#endif
