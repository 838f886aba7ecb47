/* crossing: its objects, its inputs and its goals. */
#include "crossing.c"
static TickData D_;
static TickData *d = &D_;
static unsigned char seen6_1;

#define GOALS 7
#define FINAL (d->_pg2 && d->green)

static void harness_start(void) {
  reset(d);
}

static void harness_choose(void) {
  INPUT(d->walk, value == 0 || value == 1)
  INPUT(d->fault, value == 0 || value == 1)
}

static void harness_before(void) {
  if (d->_pg2 && d->walk && !d->fault) COVER(0); /* requested */
  if (d->_pg4 && d->count == 1 && !d->fault) COVER(1); /* walk */
  if (d->_pg6 && d->count == 2 && !d->fault) COVER(2); /* back */
  if (d->_pg6 && d->count == 2 && d->fault) COVER(3); /* fault_while_walking */
  if (d->_pg8 && d->yellow && d->fault) COVER(4); /* blinks */
  if (d->_pg8 && d->walk && !d->fault) COVER(5); /* repaired */
  seen6_1 = d->_pg4 && d->fault;
}

static void harness_step(void) {
  tick(d);
}

static void harness_after(void) {
  if (d->_pg8 && !d->yellow && seen6_1) COVER(6); /* fault_in_yellow */
}
