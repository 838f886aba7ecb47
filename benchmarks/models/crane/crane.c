/* Crane: what is compared are sums and weighted sums of up to seven bytes, and all of them wrap at 256. */
#include "crane.h"

void crane_init(struct crane *c)
{
  c->stage = OFF;
}

void crane_step(struct crane *c, const struct telegram *t)
{
  unsigned char load = t->lf + t->lb + t->rf + t->rb;
  unsigned char lean = 3 * t->lf + 5 * t->lb - 3 * t->rf - 5 * t->rb;
  unsigned char stress = load + 3 * t->wind;
  unsigned char moment = lean + 7 * t->reach;
  unsigned char sum = load + t->wind + t->reach + t->check;
  int heavy = load > 200;
  int tilted = lean > 40 && lean < 216; /* by more than 40 to one side */
  int gust = stress > 220;

  if (sum != 0) { /* the telegram is broken */
    if (c->stage == ALARM)
      c->stage = LOCKED;
    else if (c->stage != OFF && c->stage != LOCKED)
      c->stage = ALARM;
  } else
    switch (c->stage) {
      case OFF:
        if (t->up && load < 4 && !gust)
          c->stage = TEST;
        break;
      case TEST:
        if (tilted || load >= 4)
          c->stage = OFF;
        else if (moment == 0)
          c->stage = READY;
        break;
      case READY:
        if (t->release)
          c->stage = OFF;
        else if (t->up && load > 20 && !heavy && !tilted)
          c->stage = HOIST;
        break;
      case HOIST:
        if (heavy && gust)
          c->stage = ALARM;
        else if (heavy || gust)
          c->stage = SLOW;
        else if (!t->up && moment > 100 && moment < 156)
          c->stage = SLEW;
        break;
      case SLOW:
        if (tilted)
          c->stage = LOWER;
        else if (!heavy && !gust)
          c->stage = HOIST;
        break;
      case SLEW:
        if (tilted || gust)
          c->stage = LOWER;
        else if (t->up && moment < 30)
          c->stage = HOIST;
        break;
      case LOWER:
        if (load < 4)
          c->stage = READY;
        break;
      case ALARM:
        if (!gust && !tilted && t->release)
          c->stage = LOWER;
        break;
      default: /* LOCKED */
        if (t->release && !t->up && load == 0 && lean == 0)
          c->stage = OFF;
        break;
    }
}
