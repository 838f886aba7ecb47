/* Firing of a kiln: a timer of minutes, and within it one of steps. */
#include "kiln.h"

void kiln_init(struct kiln *k)
{
  k->ticks = 0;
  k->minutes = 0;
  k->mode = COLD;
}

static void enter(struct kiln *k, unsigned char mode)
{
  k->mode = mode;
  k->ticks = 0;
  k->minutes = 0;
}

void kiln_step(struct kiln *k, const struct keys *p)
{
  if (k->mode == COLD) {
    if (p->start && !p->door)
      enter(k, HEATING);
    return;
  }
  if (k->mode == HELD) { /* both timers stand still */
    if (!p->hold)
      k->mode = SOAKING;
    return;
  }
  if (++k->ticks >= TICKS) {
    k->ticks = 0;
    k->minutes++;
  }
  switch (k->mode) {
    case HEATING:
      if (p->door)
        enter(k, COOLING);
      else if (k->minutes >= HEAT_TIME)
        enter(k, SOAKING);
      break;
    case SOAKING:
      if (k->minutes >= SOAK_TIME)
        enter(k, COOLING);
      else if (p->hold)
        k->mode = HELD;
      break;
    default: /* COOLING */
      if (k->minutes >= COOL_TIME)
        enter(k, COLD);
      break;
  }
}
