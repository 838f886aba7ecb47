/* Drive of a slide: an encoder of 16 bits counts in every mode, also while the slide is pushed by hand. */
#include "drive.h"

void drive_init(struct drive *d)
{
  d->position = PARKED;
  d->mode = OFF;
}

void drive_step(struct drive *d, const struct panel *p)
{
  if (p->pulse > 0 && d->position < 65535)
    d->position++;
  else if (p->pulse < 0 && d->position > 0)
    d->position--;

  switch (d->mode) {
    case OFF:
      if (p->start)
        d->mode = HOMING;
      break;
    case HOMING:
      if (d->position == 0)
        d->mode = READY;
      break;
    case READY:
      if (p->start)
        d->mode = FORWARD;
      break;
    case FORWARD:
      if (d->position >= TARGET)
        d->mode = AT_TARGET;
      else if (p->stop)
        d->mode = READY;
      break;
    case AT_TARGET:
      if (d->position > END_STOP)
        d->mode = FAULT;
      else if (p->start)
        d->mode = BACKWARD;
      break;
    case BACKWARD:
      if (d->position <= PARKED)
        d->mode = READY;
      else if (p->stop)
        d->mode = AT_TARGET;
      break;
    default: /* FAULT */
      if (p->stop && d->position < TARGET)
        d->mode = OFF;
      break;
  }
}
