/* Gas burner: ignition, flame guard and lock-out. */
#include "burner.h"

void burner_init(struct burner *b)
{
  b->mode = OFF;
  b->tries = 0;
  b->valve = 0;
  b->spark = 0;
}

static void enter(struct burner *b, unsigned char mode)
{
  b->mode = mode;
}

/* One step is a second. */
void burner_step(struct burner *b, const struct sensors *s)
{
  switch (b->mode) {
    case OFF:
      if (s->demand && !s->flame && s->air && !s->reset) {
        b->tries = 0;
        enter(b, PURGE);
      } else if (s->flame && !s->demand)
        enter(b, LOCKED);
      break;
    case PURGE:
      if (!s->demand || s->reset)
        enter(b, OFF);
      else if (s->air && !s->flame)
        enter(b, IGNITE);
      else if (s->flame)
        enter(b, LOCKED);
      break;
    case IGNITE:
      if (s->flame && s->air && s->demand)
        enter(b, BURN);
      else if (!s->demand || !s->air)
        enter(b, OFF);
      else {
        b->tries++;
        if (b->tries >= TRIES)
          enter(b, LOCKED);
        else
          enter(b, PURGE);
      }
      break;
    case BURN:
      if (!s->demand || s->reset || !s->air)
        enter(b, COOL);
      else if (!s->flame)
        enter(b, b->tries > 0 ? LOCKED : PURGE);
      break;
    case COOL:
      if (!s->flame && s->air)
        enter(b, s->demand && !s->reset ? PURGE : OFF);
      else if (s->flame && s->reset)
        enter(b, LOCKED);
      break;
    default: /* LOCKED */
      if (s->reset && !s->flame && !s->demand)
        enter(b, OFF);
      break;
  }
  b->valve = b->mode == IGNITE || b->mode == BURN;
  b->spark = b->mode == IGNITE;
}
