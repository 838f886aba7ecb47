/* Level control of a buffer tank: filtered level, pump with hysteresis, totalizer of the volume, dry-run protection. */
#include <stdbool.h>

#define ALPHA 0.125f      /* filter, step of 0.5 s */
#define LEVEL_ON 70.0f    /* per cent */
#define LEVEL_OFF 30.0f
#define LEVEL_HIGH 90.0f
#define FLOW_MIN 0.5f     /* litres per second */
#define DRY_STEPS 10
#define BATCH 250.0       /* litres */

typedef enum { STANDBY, PUMPING, DRY_RUN, SERVICE } pump_state;

typedef struct {
  float level_raw; /* per cent */
  float flow;      /* litres per second */
  bool enable;
  bool ack;
} tank_inputs;

typedef struct {
  pump_state state;
  float level;
  double volume;   /* since the last batch */
  double total;
  int dry_count;
  unsigned int batches;
  bool alarm_high;
} tank_state;

void tank_init(tank_state *t)
{
  t->state = STANDBY;
  t->level = 0.0f;
  t->volume = 0.0;
  t->total = 0.0;
  t->dry_count = 0;
  t->batches = 0;
  t->alarm_high = false;
}

void tank_step(tank_state *t, const tank_inputs *in)
{
  t->level += ALPHA * (in->level_raw - t->level);
  if (t->level > LEVEL_HIGH)
    t->alarm_high = true;
  else if (t->level < LEVEL_HIGH - 5.0f)
    t->alarm_high = false;

  switch (t->state) {
  case STANDBY:
    if (in->enable && t->level > LEVEL_ON) {
      t->state = PUMPING;
      t->dry_count = 0;
    }
    break;
  case PUMPING:
    t->volume += 0.5 * in->flow;
    t->total += 0.5 * in->flow;
    if (in->flow < FLOW_MIN) {
      t->dry_count++;
      if (t->dry_count >= DRY_STEPS)
        t->state = DRY_RUN;
    } else
      t->dry_count = 0;
    if (t->volume >= BATCH) {
      t->volume -= BATCH;
      t->batches++;
      if (t->batches % 4 == 0)
        t->state = SERVICE;
    }
    if (t->state == PUMPING && (!in->enable || t->level < LEVEL_OFF))
      t->state = STANDBY;
    break;
  case DRY_RUN:
    if (in->ack && t->level > LEVEL_OFF)
      t->state = STANDBY;
    break;
  case SERVICE:
    if (in->ack) {
      t->state = STANDBY;
      t->volume = 0.0;
    }
    break;
  }
}
