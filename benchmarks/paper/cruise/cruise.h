#ifndef CRUISE_H
#define CRUISE_H

typedef unsigned char GABOOL;
#define GAFALSE ((GABOOL)0)
#define GATRUE ((GABOOL)1)

typedef enum { cruise_OFF, cruise_ON, cruise_DIS } GAENUM_mode;

typedef struct {
  GABOOL gas;
  GABOOL brake;
  GABOOL acc;
  GABOOL dec;
  GABOOL button;
} t_cruise_io;

typedef struct {
  GAENUM_mode mode;
  unsigned int speed;
  GABOOL enable;
} t_cruise_state;

void cruise_init(t_cruise_state *_state_);
void cruise_compute(const t_cruise_io *_io_, t_cruise_state *_state_);

#endif
