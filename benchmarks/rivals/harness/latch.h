/* latch: its objects, its inputs and its goals. */
#include "latch.c"
static struct latch L_, *l = &L_;
static unsigned char set, reset;

#define GOALS 5
#define FINAL (l->q == 0)

static void harness_start(void) {
  latch_init(l);
}

static void harness_choose(void) {
  INPUT(set, value == 0 || value == 1)
  INPUT(reset, value == 0 || value == 1)
}

static void harness_before(void) {
  if (l->q == 0 && set && !reset) COVER(0); /* sets */
  if (l->q == 1 && reset && !set) COVER(1); /* resets */
  if (l->q == 1 && !set && !reset) COVER(2); /* holds */
  if (l->q == 1 && set && reset) COVER(3); /* reset_wins */
}

static void harness_step(void) {
  latch_step(l,set,reset);
}

static void harness_after(void) {
  if (l->changes == 3) COVER(4); /* worn */
}
