/* Light of a staircase: a clock of 32 bits runs from the start on, and times are compared with it. */
#include "stairlight.h"

void stairlight_init(struct stairlight *l)
{
  l->now = 0;
  l->since = 0;
  l->mode = DARK;
}

void stairlight_step(struct stairlight *l, const struct buttons *b)
{
  unsigned int passed;

  l->now++;
  passed = l->now - l->since;
  switch (l->mode) {
    case DARK:
      if (b->press) {
        l->since = l->now;
        l->mode = b->hold ? CLEANING : LIT;
      }
      break;
    case LIT:
      if (b->press)
        l->since = l->now;
      else if (passed >= LIGHT_TIME) {
        l->since = l->now;
        l->mode = DIMMED;
      }
      break;
    case DIMMED:
      if (b->press) {
        l->since = l->now;
        l->mode = LIT;
      } else if (passed >= WARN_TIME)
        l->mode = DARK;
      break;
    default: /* CLEANING */
      if ((b->press && b->hold) || passed >= CLEAN_TIME)
        l->mode = DARK;
      break;
  }
}
