/* Water mixer: fixed-point temperature control with a small filter and a flow counter. */
#ifndef MIXER_H
#define MIXER_H

#include <stdint.h>

typedef struct {
  int16_t setpoint; /* degrees */
  int16_t measured; /* degrees */
  uint8_t flush;    /* rinse: forget the past */
} mixer_inputs_t;

typedef struct {
  int16_t history[3]; /* last control errors in 1/16 degree, newest first */
} filter_t;

typedef struct {
  mixer_inputs_t last; /* inputs of the step before */
  filter_t filter;
  int16_t integral;    /* 1/16 percent */
  uint8_t litres;      /* counts in steps of 64 and wraps */
  uint8_t wraps;       /* litres has wrapped, modulo 2 */
  int8_t trend;        /* -1, 0, 1 */
} mixer_state_t;

typedef struct {
  uint8_t hot;      /* valve positions in percent */
  uint8_t cold;
  uint8_t saturated;
} mixer_outputs_t;

/* filter.c */
int16_t filter_update(filter_t *filter, int16_t error);
int16_t saturate(int32_t value, int16_t low, int16_t high);

/* mixer.c */
void mixer_init(mixer_state_t *x, mixer_outputs_t *out);
void mixer_step(const mixer_inputs_t *in, mixer_state_t *x, mixer_outputs_t *out);

#endif
