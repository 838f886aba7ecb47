/* Seat-belt reminder: after 500 steps without a belt a chime beats 60 times, once in five steps, and gives up. */
#include "reminder.h"

void reminder_init(struct reminder *r)
{
  r->timer = 0;
  r->beats = 0;
  r->pause = 0;
  r->mode = OFF;
}

void reminder_step(struct reminder *r, const struct signals *s)
{
  if (!s->ignition) {
    r->mode = OFF;
    return;
  }
  if (s->belt) {
    r->mode = FASTENED;
    return;
  }
  switch (r->mode) {
    case WAITING:
      if (++r->timer >= PATIENCE) {
        r->beats = 0;
        r->pause = 0;
        r->mode = WARNING;
      }
      break;
    case WARNING:
      if (++r->pause >= PAUSE) {
        r->pause = 0;
        if (++r->beats >= BEATS)
          r->mode = SILENT;
      }
      break;
    case SILENT:
      break;
    default: /* OFF, FASTENED */
      r->timer = 0;
      r->mode = WAITING;
      break;
  }
}
