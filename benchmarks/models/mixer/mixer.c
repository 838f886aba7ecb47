/* Water mixer, fixed point: a PI controller on filtered errors sets the hot and the cold valve. */
#include <string.h>

#include "mixer.h"

#define GAIN_P 6             /* 1/16 percent per 1/16 degree, times 1/2 */
#define INTEGRAL_LIMIT 320   /* 20 percent in 1/16 */
#define LITRE_STEP 64u

static const mixer_state_t cold_start = {{40, 40, 0}, {{0, 0, 0}}, 0, 0, 0, 0};

void mixer_init(mixer_state_t *x, mixer_outputs_t *out) {
  memcpy(x, &cold_start, sizeof *x);
  memset(out, 0, sizeof(*out));
  out->cold = 100;
}

/* Every third call is a litre while the hot valve is wide open. */
static void count_flow(mixer_state_t *x, uint8_t hot) {
  static uint8_t calls;
  uint8_t before = x->litres;

  calls = (uint8_t)((calls + 1) % 3);
  if (hot >= 60 && calls == 0)
    x->litres += LITRE_STEP;
  if (x->litres < before)
    x->wraps = (uint8_t)((x->wraps + 1u) % 2u);
}

void mixer_step(const mixer_inputs_t *in, mixer_state_t *x, mixer_outputs_t *out) {
  mixer_inputs_t now = *in;
  int16_t error, filtered;
  int32_t demand;

  if (now.flush) {
    memset(&x->filter, 0, sizeof x->filter);
    x->integral = 0;
  }

  error = (int16_t)((now.setpoint - now.measured) * 16);
  filtered = filter_update(&x->filter, error);
  x->trend = (int8_t)(uint8_t)(now.measured == x->last.measured ? 0 : now.measured > x->last.measured ? 1 : 255);

  x->integral = saturate(x->integral + filtered / 4 * 2, -INTEGRAL_LIMIT, INTEGRAL_LIMIT);
  demand = 50 * 16 + ((int32_t)filtered * GAIN_P >> 1) + x->integral;
  demand -= x->trend * 16 * 4;
  out->saturated = (uint8_t)(demand < 0 || demand > 100 * 16);
  out->hot = (uint8_t)(saturate(demand, 0, 1600) >> 4);
  out->hot -= out->hot % 5;
  out->cold = (uint8_t)(100u - out->hot);

  count_flow(x, out->hot);
  x->last = now;
}
