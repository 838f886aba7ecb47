/* Lubricator of a machine, four lines in turn: one timer of 16 bits goes on in every step and wraps around. */
#include "lubricator.h"

void lubricator_init(struct lubricator *l)
{
  l->timer = 0;
  l->mode = REST;
  l->misses = 0;
  l->line = 0;
}

static void enter(struct lubricator *l, unsigned char mode)
{
  l->mode = mode;
  l->timer = 0;
}

void lubricator_step(struct lubricator *l, const struct machine *m)
{
  l->timer++;
  switch (l->mode) {
    case REST:
      if (m->runs && l->timer >= REST_TIME)
        enter(l, PUMPING);
      break;
    case PUMPING:
      if (m->pressure) {
        l->misses = 0;
        enter(l, HOLDING);
      } else if (l->timer >= PUMP_TIME) {
        if (++l->misses == MISSES)
          enter(l, BLOCKED);
        else
          enter(l, REST);
      }
      break;
    case HOLDING:
      if (!m->pressure) /* lost: the same line again */
        enter(l, REST);
      else if (l->timer == HOLD_TIME) {
        l->line = (l->line + 1) % LINES;
        enter(l, REST);
      }
      break;
    default: /* BLOCKED */
      if (m->reset && !m->runs) {
        l->misses = 0;
        enter(l, REST);
      }
      break;
  }
}
