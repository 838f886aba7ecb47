/* Charge control of a lithium pack. Called once per second by the housekeeping task. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPACITY_AS 36000.0 /* ampere seconds: 10 Ah */
#define V_MAX 4.20f
#define V_MIN 3.00f
#define V_PRE 3.20f
#define T_HOT 45.0f
#define T_COLD 0.0f
#define T_HYST 5.0f
#define PRECHARGE_S 600L
#define CV_TAPER 0.50f
#define REST_S 120L

enum bms_mode { BMS_IDLE, BMS_PRECHARGE, BMS_CC, BMS_CV, BMS_FULL, BMS_FAULT };

struct bms {
  enum bms_mode mode;
  long uptime;          /* s */
  long mode_since;
  double charge;        /* As in the pack */
  float temp;           /* filtered, degrees C */
  float ripple;         /* filtered magnitude of the change of the current */
  float last_current;
  bool temp_ok;
  uint8_t faults;
  uint32_t cycles;
};

static void set(struct bms *b, enum bms_mode mode)
{
  b->mode = mode;
  b->mode_since = b->uptime;
}

void bms_init(struct bms *b)
{
  b->mode = BMS_IDLE;
  b->uptime = 0L;
  b->mode_since = 0L;
  b->charge = 0.5 * CAPACITY_AS;
  b->temp = 20.0f;
  b->ripple = 0.0f;
  b->last_current = 0.0f;
  b->temp_ok = true;
  b->faults = 0;
  b->cycles = 0;
}

int bms_run(struct bms *b, float volts, float amps, float celsius, bool plug)
{
  long in_mode;

  b->uptime++;
  in_mode = b->uptime - b->mode_since;

  b->temp = 0.9f * b->temp + 0.1f * celsius;
  b->ripple = 0.8f * b->ripple + 0.2f * fabsf(amps - b->last_current);
  b->last_current = amps;
  b->charge += amps;
  if (b->charge > CAPACITY_AS)
    b->charge = CAPACITY_AS;
  else if (b->charge < 0.0)
    b->charge = 0.0;

  if (b->temp > T_HOT || b->temp < T_COLD)
    b->temp_ok = false;
  else if (b->temp < T_HOT - T_HYST && b->temp > T_COLD + T_HYST)
    b->temp_ok = true;

  switch (b->mode) {
  case BMS_IDLE:
    if (plug && b->temp_ok && volts > V_MIN && in_mode > 2)
      set(b, volts < V_PRE ? BMS_PRECHARGE : BMS_CC);
    break;
  case BMS_PRECHARGE:
    if (!plug)
      set(b, BMS_IDLE);
    else if (volts >= V_PRE)
      set(b, BMS_CC);
    else if (in_mode >= PRECHARGE_S) {
      b->faults++;
      set(b, BMS_FAULT);
    }
    break;
  case BMS_CC:
    if (!plug)
      set(b, BMS_IDLE);
    else if (!b->temp_ok || b->ripple > 8.0f) {
      if (b->faults < 10)
        b->faults++;
      set(b, BMS_FAULT);
    } else if (volts >= V_MAX)
      set(b, BMS_CV);
    break;
  case BMS_CV:
    if (!plug)
      set(b, BMS_IDLE);
    else if (amps < CV_TAPER && amps >= 0.0f && b->ripple < 0.25f) {
      b->cycles++;
      set(b, BMS_FULL);
    }
    break;
  case BMS_FULL:
    if (!plug || (volts < 4.05f && in_mode > REST_S))
      set(b, BMS_IDLE);
    break;
  case BMS_FAULT:
    if (!plug && b->temp_ok && in_mode >= REST_S && b->faults < 3)
      set(b, BMS_IDLE);
    break;
  }
  return b->mode == BMS_PRECHARGE ? 1 : b->mode == BMS_CC ? 5 : b->mode == BMS_CV ? 2 : 0;
}
