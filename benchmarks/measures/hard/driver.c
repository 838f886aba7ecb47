/* Random runs of a compiled controller. Nothing here knows of ChainCover's search.
 *
 * tables.h says what the inputs may be. program.c is the controller with a harness around it: it draws the inputs of a
 * step from cc_nondet_*, says with __CPROVER_assume whether they are allowed, and sets the flag of a goal in the step
 * that covers it. An input keeps each value for 1 to 60 steps; in three runs of four half of the
 * values, 7 of 8 or 31 of 32 are the one at rest (0, if it is allowed). Inputs that the project's constraints refuse are drawn
 * again. A run ends after its steps, at undefined behaviour (the compiler traps), or where no drawn inputs are allowed.
 * A goal is met where the same run then is in the final condition.
 *
 *   driver SEED STEPS SECONDS        one line for each goal that is met: goal, run, its steps, steps of all runs till then
 *   driver SEED STEPS SECONDS RUN    instead the inputs of that run, one line for each step
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long word;
#include "tables.h"

#define LONGEST_HELD 60u
/* The most steps for which an input keeps a value. */

#define DRAWN_AGAIN 200
/* How often the inputs of one step are drawn before the run is given up. Half of that: some runs with constraints on
 * many inputs end early. */

#define CLOCK_EVERY 4096
/* Steps between two looks at the clock. */

static const int lengths[] = {100, 1000, 10000, 100000};
/* Steps of the runs, one after the other and from the beginning again. */

static const unsigned awake[] = {32, 16, 4, 1};
/* Of 32 values so many are drawn, and the others are the one at rest: one of the four for each run. */

extern char __data_start, _end; /* of the linker: everything that the program keeps lies between them */
extern _Bool *const cc_flags[];
void cc_start(void);
void cc_choose(void);
void cc_step(void);
void cc_end(void);

static struct drive {
  sigjmp_buf stopped;
  word seed, random, steps, budget, before[SLOTS], value[SLOTS];
  double seconds;
  unsigned left[SLOTS], rest;
  int place, allowed, final, waiting, open, recorded;
  _Bool met[GOALS + 1], seen[GOALS + 1];
  char *memory;
} *drive; /* outside of the memory that is set back before each run */

static word drawn(void)
{
  word z = drive->random += 0x9e3779b97f4a7c15ull; /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static word below(word count) { return count ? drawn() % count : drawn(); }
static double part(void) { return (double)(drawn() >> 11) / 9007199254740992.0; }

static double number(word bits, int kind)
{
  double wide;
  float narrow;
  unsigned half = (unsigned)bits;
  if (kind == 32) {
    memcpy(&narrow, &half, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, &bits, sizeof wide);
  return wide;
}

static word bits_of(double number, int kind)
{
  word bits = 0;
  float narrow = (float)number;
  if (kind == 32)
    memcpy(&bits, &narrow, sizeof narrow);
  else
    memcpy(&bits, &number, sizeof number);
  return bits;
}

static double width(const struct range *range, int kind)
{
  double ends;
  if (!kind)
    return (double)(range->high - range->low) + 1.0;
  ends = number(range->high, kind) - number(range->low, kind);
  ends = ends < 0 ? -ends : ends;
  return ends < 1e30 ? ends : 1.0; /* to infinity, or NaN: drawn by its bits, and as likely as a unit */
}

/* Each value of an input is about as likely as another one; one draw of eight gives an end of a range. */
static word any_value(const struct input *input)
{
  const struct range *range = input->ranges;
  double whole = 0.0, at;
  int n;
  if (!below(8)) {
    range += below((word)input->count);
    return below(2) ? range->low : range->high;
  }
  for (n = 0; n < input->count; n++)
    whole += width(&range[n], input->kind);
  at = part() * whole;
  for (n = 0; n + 1 < input->count && at >= width(&range[n], input->kind); n++)
    at -= width(&range[n], input->kind);
  range += n;
  if (!input->kind || range->high - range->low < 2)
    return range->low + below(range->high - range->low + 1);
  at = number(range->high, input->kind);
  if (!(at > -1e30 && at < 1e30))
    return range->low + below(range->high - range->low + 1);
  at = part();
  return bits_of(number(range->low, input->kind) * (1 - at) + number(range->high, input->kind) * at, input->kind);
}

static word at_rest(const struct input *input)
{
  const struct range *range = input->ranges;
  int n;
  for (n = 0; n < input->count; n++)
    if (range[n].low == 0 || (!input->kind && (long long)range[n].low < 0 && (long long)range[n].high >= 0))
      return 0;
  return range->low;
}

/* A value for an input that a constraint names: the last one, any one, or one that differs by a number of theirs. */
static word another_value(int place)
{
  word number = numbers[below(NUMBERS)], last = drive->before[place];
  if (inputs[place].kind)
    return below(2) ? last : any_value(&inputs[place]);
  switch (below(5)) {
  case 0:
    return last;
  case 1:
    return any_value(&inputs[place]);
  case 2:
    return last + number;
  case 3:
    return last - number;
  default:
    return number;
  }
}

static word next_value(void) { return drive->value[drive->place++]; }
unsigned char cc_nondet_unsigned_char(void) { return (unsigned char)next_value(); }
unsigned short cc_nondet_unsigned_short(void) { return (unsigned short)next_value(); }
unsigned cc_nondet_unsigned_int(void) { return (unsigned)next_value(); }
word cc_nondet_unsigned_long_long(void) { return next_value(); }
float cc_nondet_float(void) { return (float)number(next_value(), 32); }
double cc_nondet_double(void) { return number(next_value(), 64); }
void __CPROVER_assume(int condition) { drive->allowed &= condition != 0; }
void __CPROVER_assert(int condition, const char *description) { (void)description; drive->final = !condition; }

static void undefined(int number)
{
  (void)number;
  siglongjmp(drive->stopped, 1);
}

/* What this step has covered waits for the final condition. */
static void look(word run, int steps)
{
  int goal;
  for (goal = 0; goal < GOALS; goal++)
    if (*cc_flags[goal] && !drive->met[goal] && !drive->seen[goal]) {
      drive->seen[goal] = 1;
      drive->waiting++;
    }
  if (!drive->waiting)
    return;
  cc_end();
  if (!drive->final)
    return;
  for (goal = 0; goal < GOALS; goal++)
    if (drive->seen[goal]) {
      drive->seen[goal] = 0;
      drive->met[goal] = 1;
      drive->open--;
      if (!drive->recorded)
        printf("goal %d %llu %d %llu\n", goal, run, steps, drive->steps);
    }
  drive->waiting = 0;
}

static int allowed_inputs(unsigned most)
{
  int input, tries;
  for (input = 0; input < INPUTS; input++)
    if (drive->left[input]-- == 0) {
      drive->value[input] = below(32) >= awake[drive->rest] ? at_rest(&inputs[input]) : any_value(&inputs[input]);
      drive->left[input] = (unsigned)below(most);
    }
  for (tries = 0;; tries++) {
    drive->allowed = 1;
    drive->place = 0;
    cc_choose();
    if (drive->allowed)
      return 1;
    if (tries == DRAWN_AGAIN)
      return 0;
    for (input = 0; input < INPUTS; input++)
      if (inputs[input].constrained || tries > DRAWN_AGAIN / 2)
        drive->value[input] = another_value(input);
  }
}

static int over(void)
{
  return drive->steps >= drive->budget || (double)clock() / CLOCKS_PER_SEC >= drive->seconds || !drive->open;
}

static void start(void)
{
  int place;
  for (place = 0; place < CHOSEN; place++)
    drive->value[place] = any_value(&inputs[INPUTS + place]);
  drive->allowed = 1;
  drive->place = 0;
  cc_start();
}

static void one_run(word run)
{
  int length = lengths[run % 4], step, input;
  unsigned most;
  memcpy(&__data_start, drive->memory, (size_t)(&_end - &__data_start));
  memset(drive->left, 0, sizeof drive->left);
  memset(drive->before, 0, sizeof drive->before);
  memset(drive->seen, 0, sizeof drive->seen);
  drive->waiting = 0;
  drive->random = (drive->seed << 40) ^ run;
  most = 1 + (unsigned)below(LONGEST_HELD);
  drive->rest = (unsigned)below(4);
  if (sigsetjmp(drive->stopped, 0))
    return;
  start();
  if (!drive->allowed)
    return;
  look(run, 0);
  for (step = 1; step <= length; step++) {
    if (!allowed_inputs(most))
      return;
    cc_step();
    if (drive->recorded) {
      for (input = 0; input < INPUTS; input++)
        printf("%llu%c", drive->value[input], input + 1 < INPUTS ? ' ' : '\n');
      if (!INPUTS)
        putchar('\n');
    }
    memcpy(drive->before, drive->value, sizeof drive->before);
    drive->steps++;
    look(run, step);
    if (drive->steps % CLOCK_EVERY == 0 && over())
      return;
  }
}

int main(int count, char **words)
{
  static const int traps[] = {SIGILL, SIGTRAP, SIGFPE, SIGSEGV, SIGBUS, SIGABRT};
  struct sigaction action;
  size_t n, size = (size_t)(&_end - &__data_start);
  word run = 0;
  if (count < 4)
    return 2;
  memset(&action, 0, sizeof action);
  action.sa_handler = undefined;
  action.sa_flags = SA_NODEFER;
  for (n = 0; n < sizeof traps / sizeof *traps; n++)
    sigaction(traps[n], &action, NULL);
  drive = calloc(1, sizeof *drive);
  if (!drive || !(drive->memory = malloc(size)))
    return 2;
  drive->seed = strtoull(words[1], NULL, 10);
  drive->budget = strtoull(words[2], NULL, 10);
  drive->seconds = strtod(words[3], NULL);
  drive->open = GOALS;
  drive->recorded = count > 4;
  memcpy(drive->memory, &__data_start, size);
  if (drive->recorded)
    one_run(strtoull(words[4], NULL, 10));
  else {
    for (; !over(); run++)
      one_run(run);
    printf("end %llu %llu %.3f\n", run, drive->steps, (double)clock() / CLOCKS_PER_SEC);
  }
  return 0;
}
