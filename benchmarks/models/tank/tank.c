/* Filling of a tank: its level is a sum of what flows in, kept between 0 and the capacity. */
#include "tank.h"

void tank_init(struct tank *t)
{
  t->level = 0;
  t->rest = 0;
  t->mode = IDLE;
}

void tank_step(struct tank *t, const struct signals *s)
{
  switch (t->mode) {
    case IDLE:
      if (s->begin)
        t->mode = FILLING;
      else if (s->drain && t->level >= LOW)
        t->mode = DRAINING;
      break;
    case FILLING:
      t->level += s->inflow;
      if (t->level >= CAPACITY) {
        t->level = CAPACITY;
        t->mode = OVERFLOW;
      } else if (!s->begin) {
        t->rest = 0;
        t->mode = t->level >= FULL ? RESTING : IDLE;
      }
      break;
    case RESTING:
      if (++t->rest >= SETTLING)
        t->mode = DRAINING;
      break;
    case DRAINING:
      if (t->level < 4) {
        t->level = 0;
        t->mode = IDLE;
      } else {
        t->level -= 4;
      }
      break;
    default: /* OVERFLOW */
      if (s->drain)
        t->mode = DRAINING;
      break;
  }
}
