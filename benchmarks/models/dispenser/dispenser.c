/* Dispenser: fills barrels, and keeps a total of all pulses of the flow meter in 32 bits. */
#include "dispenser.h"

void dispenser_init(struct dispenser *d)
{
  d->total = 0;
  d->at_start = 0;
  d->valve = 0;
  d->warned = 0;
}

void dispenser_step(struct dispenser *d, const struct meter *m)
{
  d->total += m->pulses; /* since it was built: nothing sets it back */
  if (d->valve) {
    if (d->total - d->at_start >= BARREL || m->stop)
      d->valve = 0;
  } else if (m->start && !m->stop && !d->warned) {
    d->at_start = d->total;
    d->valve = 1;
  }
  if (d->total >= SERVICE)
    d->warned = 1;
}
