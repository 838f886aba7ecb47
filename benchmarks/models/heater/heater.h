/* Room heater: the nodes timer and heater, with their memories and outputs. */
#ifndef HEATER_H
#define HEATER_H

#include "heater_types.h"

typedef struct Heater__timer_mem {
  int v_2;
} Heater__timer_mem;

typedef struct Heater__timer_out {
  int late;
} Heater__timer_out;

void Heater__timer_reset(Heater__timer_mem* self);

void Heater__timer_step(int on, Heater__timer_out* _out, Heater__timer_mem* self);

typedef struct Heater__heater_mem {
  Heater__st ck;
  int pnr;
  int v_9;
  Heater__timer_mem timer;
} Heater__heater_mem;

typedef struct Heater__heater_out {
  int power;
  int lamp;
} Heater__heater_out;

void Heater__heater_reset(Heater__heater_mem* self);

void Heater__heater_step(int up, int down, int frost, Heater__heater_out* _out, Heater__heater_mem* self);

#endif
