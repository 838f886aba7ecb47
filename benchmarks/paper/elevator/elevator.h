#ifndef ELEVATOR_H
#define ELEVATOR_H

typedef unsigned char GABOOL;
#define GAFALSE ((GABOOL)0)
#define GATRUE ((GABOOL)1)

#define TOP 2 /* floors 0, 1 and 2 */

typedef enum { elevator_HALTED, elevator_OPEN, elevator_UP, elevator_DOWN } GAENUM_elevator;

typedef struct {
  GABOOL button_0;
  GABOOL button_1;
  GABOOL button_2;
} t_elevator_input;

typedef struct {
  GAENUM_elevator mode;
  GABOOL upwards; /* the last direction */
  GABOOL call_0;
  GABOOL call_1;
  GABOOL call_2;
  unsigned char level;
} t_elevator_state;

void elevator_init(t_elevator_state *_state_);
void elevator_compute(const t_elevator_input *_in_, t_elevator_state *_state_);

#endif
