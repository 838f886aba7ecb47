/* Boiler with seven sensors of 8 bits: what is compared are sums and differences of them. */
#include "boiler.h"

void boiler_init(struct boiler *b)
{
  b->stage = COLD;
}

void boiler_step(struct boiler *b, const struct sensors *s)
{
  int flow_hot = s->supply > s->back + 20;            /* degrees */
  int overheat = s->supply + s->wall > 360;
  int pressure_low = s->pressure + s->height < 60;
  int pressure_high = s->pressure > 200 && s->height < 100;
  int smoke = s->smoke > s->wall && s->smoke - s->wall > 40;

  if (b->stage != LOCKED && (overheat || (s->emergency && !s->key)))
    b->stage = LOCKED;
  else
    switch (b->stage) {
      case COLD:
        if (s->key && !pressure_low && s->demand > 100)
          b->stage = FILLED;
        break;
      case FILLED:
        if (pressure_low)
          b->stage = COLD;
        else if (s->supply < s->demand && !smoke)
          b->stage = FAN;
        break;
      case FAN:
        b->stage = smoke ? VENTING : LOW_FIRE;
        break;
      case LOW_FIRE:
        if (flow_hot)
          b->stage = PUMP;
        else if (smoke)
          b->stage = VENTING;
        break;
      case PUMP:
        if (s->supply + 50 < s->demand && !pressure_high)
          b->stage = HIGH_FIRE;
        else if (s->supply > s->demand)
          b->stage = COOLING;
        break;
      case HIGH_FIRE:
        if (pressure_high || s->supply > s->demand)
          b->stage = COOLING;
        break;
      case VENTING:
        if (!smoke && s->key)
          b->stage = FILLED;
        break;
      case COOLING:
        if (!flow_hot && s->back < 50)
          b->stage = COLD;
        break;
      default: /* LOCKED */
        if (s->key && s->emergency && s->wall < 60)
          b->stage = COLD;
        break;
    }
}
