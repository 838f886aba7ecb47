/* Tool turret of a lathe: swings to any of 15 places; two long tools stand in each other's way. */
#include "turret.h"

void turret_init(struct turret *t)
{
  t->tool = 0;
  t->target = 0;
  t->swinging = 0;
}

static int is_long(unsigned char tool)
{
  return tool == LONG_DRILL || tool == BORING_BAR;
}

void turret_step(struct turret *t, const struct request *r)
{
  if (t->swinging) {
    t->tool = t->target;
    t->swinging = 0;
    return;
  }
  if (r->tool == t->tool)
    return;
  if (is_long(t->tool) && is_long(r->tool)) /* by way of a short tool only */
    return;
  if (r->spindle)
    return;
  t->target = r->tool;
  if (t->tool == 0) { /* place 0 is empty: nothing has to be drawn back */
    t->tool = r->tool;
    return;
  }
  t->swinging = 1;
}
