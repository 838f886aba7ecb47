/* Dishwasher: a programme of phases, each with a timer of its own. */
#include "dishwasher.h"

#define FILL_TIME 12
#define WASH_TIME 40
#define DRAIN_TIME 10
#define RINSE_TIME 25
#define DRY_TIME 30

void dishwasher_init(struct dishwasher *d)
{
  d->phase = IDLE;
  d->timer = 0;
  d->eco = 0;
  d->rinsed = 0;
}

static void enter(struct dishwasher *d, unsigned char phase)
{
  d->phase = phase;
  d->timer = 0;
}

/* One step is a minute; an open door holds the programme. */
void dishwasher_step(struct dishwasher *d, const struct panel *p)
{
  if (p->door && d->phase != IDLE && d->phase != FAULT)
    return;
  d->timer++;
  switch (d->phase) {
    case IDLE:
      d->timer = 0;
      if (p->start && !p->door) {
        d->eco = p->eco;
        d->rinsed = 0;
        enter(d, FILL);
      }
      break;
    case FILL:
      if (p->full)
        enter(d, d->rinsed ? RINSE : WASH);
      else if (d->timer == FILL_TIME)
        enter(d, FAULT);
      break;
    case WASH:
      if (p->cancel || d->timer == WASH_TIME) {
        d->rinsed = p->cancel; /* a cancelled programme only drains */
        enter(d, DRAIN);
      }
      break;
    case DRAIN:
      if (d->timer == DRAIN_TIME) {
        if (d->rinsed)
          enter(d, IDLE);
        else {
          d->rinsed = 1;
          enter(d, FILL);
        }
      }
      break;
    case RINSE:
      if (d->timer == RINSE_TIME)
        enter(d, d->eco ? IDLE : DRY);
      break;
    case DRY:
      if (d->timer == DRY_TIME)
        enter(d, IDLE);
      break;
    default: /* FAULT: the water tap is closed */
      d->timer = 0;
      if (p->cancel)
        enter(d, IDLE);
      break;
  }
}
