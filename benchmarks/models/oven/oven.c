/* Baking oven: heats up, keeps warm, lets the heat out where the door stays open, and watches its sensor. */
#include "oven.h"

void oven_init(struct oven *o)
{
  o->mode = OFF;
  o->heater = 0;
  o->opened = 0;
  o->timer = 0;
  o->last = 4;
}

static void enter(struct oven *o, unsigned char mode)
{
  o->mode = mode;
  o->heater = mode == HEATING;
  o->opened = 0;
  o->timer = 0;
}

static int implausible(const struct oven *o, const struct signals *s)
{
  return s->temp > o->last + JUMP || o->last > s->temp + JUMP;
}

void oven_step(struct oven *o, const struct signals *s)
{
  if (o->mode != FAULT && implausible(o, s))
    enter(o, FAULT);
  o->last = s->temp;
  switch (o->mode) {
    case OFF:
      if (s->start && !s->door)
        enter(o, HEATING);
      break;
    case HEATING:
      if (s->door)
        enter(o, OFF);
      else if (s->temp >= HOT)
        enter(o, READY);
      else if (++o->timer >= TOO_LONG)
        enter(o, FAULT);
      break;
    case READY:
      if (s->door) {
        if (++o->opened >= AIRED)
          enter(o, AIRING);
      } else if (s->temp < WARM) {
        enter(o, HEATING);
      } else {
        o->opened = 0;
      }
      break;
    case AIRING:
      if (s->temp < COOL)
        enter(o, OFF);
      break;
    default: /* FAULT: switched off by hand, once it is cool */
      if (s->temp < COOL && !s->start)
        enter(o, OFF);
      break;
  }
}
