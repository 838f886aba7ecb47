/* Charging station for cars: a fault stays until the power is switched off. */
#include "charger.h"

void charger_init(struct charger *c)
{
  c->state = BOOT;
}

void charger_step(struct charger *c, const struct line *l)
{
  switch (c->state) {
    case BOOT:
      c->state = l->selftest ? FREE : OUT_OF_ORDER;
      break;
    case FREE:
      if (l->leak)
        c->state = FAULT;
      else if (l->card && !l->car)
        c->state = RESERVED;
      else if (l->car)
        c->state = CONNECTED;
      break;
    case RESERVED:
      if (l->leak)
        c->state = FAULT;
      else if (l->car)
        c->state = l->card ? CHARGING : CONNECTED;
      else if (l->card)
        c->state = FREE;
      break;
    case CONNECTED:
      if (l->leak)
        c->state = FAULT;
      else if (!l->car)
        c->state = FREE;
      else if (l->card)
        c->state = CHARGING;
      break;
    case CHARGING:
      if (l->leak)
        c->state = FAULT;
      else if (!l->car)
        c->state = BROKEN; /* the plug was pulled under load */
      else if (l->full)
        c->state = DONE;
      else if (l->hot)
        c->state = PAUSED;
      else if (l->card)
        c->state = CONNECTED;
      break;
    case PAUSED:
      if (!l->car)
        c->state = FREE;
      else if (l->card)
        c->state = CONNECTED;
      else if (!l->hot)
        c->state = CHARGING;
      break;
    case DONE:
      if (!l->car)
        c->state = FREE;
      else if (!l->full)
        c->state = CHARGING;
      break;
    default: /* FAULT, OUT_OF_ORDER */
      break;
  }
}
