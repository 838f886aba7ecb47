/* Seat-belt reminder: who drives for 500 steps without a belt hears a chime, until the belt is fastened. */
#include "belt.h"

void belt_init(struct belt *b)
{
  b->timer = 0;
  b->mode = OFF;
}

void belt_step(struct belt *b, const struct signals *s)
{
  if (!s->ignition || s->belt) {
    b->timer = 0;
    b->mode = s->ignition ? SAFE : OFF;
    return;
  }
  if (b->timer < PATIENCE)
    b->timer++;
  b->mode = b->timer < PATIENCE ? WAITING : CHIMING;
}
