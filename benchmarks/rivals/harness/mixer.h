/* mixer: its objects, its inputs and its goals. */
#include "filter.c"
#include "mixer.c"
static mixer_inputs_t IN_, *in = &IN_;
static mixer_state_t X_, *x = &X_;
static mixer_outputs_t OU_, *out = &OU_;
static unsigned char seen0_1, seen4_1;

#define GOALS 5
#define FINAL (out->hot == 50 && !out->saturated && x->integral == 0)

static void harness_start(void) {
  mixer_init(x,out);
}

static void harness_choose(void) {
  INPUT(in->setpoint, value == 40 || value == 50)
  INPUT(in->measured, value == 30 || value == 50)
  INPUT(in->flush, value == 0 || value == 1)
}

static void harness_before(void) {
  if (in->setpoint == 50 && in->measured == 50 && !in->flush && seen0_1) COVER(0); /* outlier */
  /* wide_open */
  if (x->integral == INTEGRAL_LIMIT && x->filter.history[0] == 320 && x->filter.history[1] == 320
      && x->last.measured == 30 && in->setpoint == 50 && in->measured == 30 && !in->flush) COVER(1);
  if (x->integral == -INTEGRAL_LIMIT && in->setpoint == 40 && in->measured == 50 && in->flush) COVER(2); /* flushed */
  seen0_1 = x->filter.history[0] == 0 && x->filter.history[1] == 0 && x->integral == 0 && in->setpoint == 50
      && in->measured == 30 && !in->flush;
  seen4_1 = x->litres == 192 && x->wraps == 0;
}

static void harness_step(void) {
  mixer_step(in,x,out);
}

static void harness_after(void) {
  if (out->hot == 0 && out->saturated) COVER(3); /* cold_only */
  if (x->litres == 0 && seen4_1) COVER(4); /* litres_wrap */
}
