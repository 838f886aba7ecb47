/* cruise: its objects, its inputs and its goals. */
#include "cruise.c"
static t_input I_;
static t_input *i = &I_;
static t_state S_;
static t_state *s = &S_;

#define GOALS 4
#define FINAL (s->mode == OFF && s->speed == 0 && !s->enable)

static void harness_start(void) {
  init(s);
}

static void harness_choose(void) {
  INPUT(i->gas, value == 0 || value == 1)
  INPUT(i->brake, value == 0 || value == 1)
  INPUT(i->acc, value == 0 || value == 1)
  INPUT(i->dec, value == 0 || value == 1)
  INPUT(i->button, value == 0 || value == 1)
  __CPROVER_assume(i->gas + i->brake + i->acc + i->dec + i->button == 1);
}

static void harness_before(void) {
  if (s->mode == ON && s->speed == 1 && i->dec) COVER(0); /* p_1 */
  if (s->mode == DIS && s->speed == 2 && i->dec) COVER(1); /* p_2 */
  if (s->mode == ON && i->brake) COVER(2); /* p_3 */
  if (s->mode == OFF && s->speed == 2 && !s->enable && i->button) COVER(3); /* p_4 */
}

static void harness_step(void) {
  compute(i,s);
}

static void harness_after(void) {
}
