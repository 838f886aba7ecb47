/* What a user of CBMC would write for one chain through all goals: is there a run that covers every goal and ends in a
   state where FINAL holds? A header, such as latch.h, says what the controller's objects, inputs and goals are:
     cbmc harness.c -DMODEL='"latch.h"' -I benchmarks/models/latch --incremental-loop main.1 ...
   The first unwinding of main.1 that fails is the minimal length; each smaller one has been refuted. */
void __CPROVER_assume(int condition);
void __CPROVER_assert(int condition, const char *description);
short nondet_short(void);
float nondet_float(void);
double nondet_double(void);
unsigned char nondet_uchar(void);

#define MOST_GOALS 8
static unsigned char covered[MOST_GOALS];
#define COVER(goal) (covered[goal] = 1)
#define INPUT(variable, allowed) \
  {                              \
    short value = nondet_short(); \
    __CPROVER_assume(allowed);   \
    variable = value;            \
  }
#include MODEL

int main(void) {
  harness_start();
  harness_after();
  while (1) {
    harness_choose();
    harness_before();
    harness_step();
    harness_after();
    _Bool all = 1;
    for (int goal = 0; goal < GOALS; goal++) all = all && covered[goal];
    __CPROVER_assert(!(all && FINAL), "chain");
  }
}
