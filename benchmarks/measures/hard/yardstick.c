/* The shortest chain of programs/liftdoor, searched by hand: breadth first over all pairs of a state and the set of goals
   covered, a bit for each pair. The controller runs as it is; goals, inputs and the end are written down here once more,
   as a person reads them in its project file. Prints the steps, the pairs that were met, and the states. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "door.c"

enum { GOALS = 10, ALL = (1 << GOALS) - 1, STATES = 1 << 18, ARCS = 1 << 20 };
/* a state: the door, and what goals ask of the steps before: the phase was NUDGING; the beam was broken there at 3, for
   one step, for two; the door had dwelt for 29 */
typedef struct { struct door d; u8 nudged, stuck, stuck_twice, dwelt; } State;
typedef struct { uint32_t to, goals; } Arc;

static State state[STATES];
static Arc arc[ARCS];
static uint32_t first[STATES + 1], states, *number, *queue;
static uint64_t *met;

static uint32_t number_of(const State *s)
{
  const struct door *d = &s->d;
  uint32_t key = d->phase | d->pos << 3 | d->dwell << 7 | d->held << 12 | d->retry << 18 | d->buzzer << 20 | d->locked << 21
               | s->nudged << 22 | s->stuck << 23 | s->stuck_twice << 24 | (uint32_t)s->dwelt << 25;
  if (!number[key]) { state[states] = *s; number[key] = ++states; }
  return number[key] - 1;
}
static Arc step(State s, const struct sensors *in)
{
  struct door a = s.d;
  int open = a.phase == OPEN, nudging = a.phase == NUDGING, goals;
  State after = {a, nudging, nudging && a.pos == 3 && in->beam, s.stuck && in->beam, a.dwell == 29};
  door_step(&after.d, in);
  goals = (open && a.dwell == T_DWELL - 1 && !in->beam && !in->overload && !in->open_button && !in->service)
        | (open && a.dwell == 3 && in->close_button && after.d.phase == CLOSING) << 1
        | (a.phase == CLOSING && a.retry == 2 && a.pos == 1 && in->beam) << 2
        | (a.phase == CLOSING && in->beam && after.d.phase == NUDGING) << 3
        | (open && a.held == T_NUDGE - 1 && in->beam && after.d.phase == NUDGING) << 4
        | (open && a.held == T_NUDGE && in->beam && in->service) << 5
        | (a.phase == FAULT && s.nudged && after.d.phase == REVERSING) << 6
        | (s.stuck_twice && in->beam && a.pos == 3) << 7
        | (nudging && !s.nudged && a.pos == 8) << 8
        | (open && in->overload && s.dwelt) << 9;
  return (Arc){number_of(&after), goals};
}
static void list_arcs(void)
{
  State start = {0};
  door_init(&start.d);
  number_of(&start);
  for (uint32_t from = 0, arcs = 0; from < states; first[++from] = arcs)
    for (int i = 0; i < 128; i++) {
      struct sensors in = {i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1, i >> 5 & 1, i >> 6};
      uint32_t k = first[from];
      if (in.close_button && in.open_button) continue;
      arc[arcs] = step(state[from], &in);
      while (arc[k].to != arc[arcs].to || arc[k].goals != arc[arcs].goals) k++;
      arcs += k == arcs;
    }
}
int main(void)
{
  uint64_t begin = 0, end = 1, stop = 1, steps = 0;
  number = calloc(1 << 26, sizeof *number);
  list_arcs();
  met = calloc((uint64_t)states << GOALS >> 6, sizeof *met);
  queue = malloc(((uint64_t)states << GOALS) * sizeof *queue);
  if (!met || !queue) return 1;
  queue[0] = 0;
  for (met[0] = 1; begin < end; begin++) {
    uint32_t pair = queue[begin];
    if (begin == stop) { stop = end; steps++; }
    if ((pair & ALL) == ALL && state[pair >> GOALS].d.phase == CLOSED && state[pair >> GOALS].d.locked) {
      printf("%llu %llu %u\n", (unsigned long long)steps, (unsigned long long)end, states);
      return 0;
    }
    for (uint32_t k = first[pair >> GOALS]; k < first[(pair >> GOALS) + 1]; k++) {
      uint32_t after = arc[k].to << GOALS | (pair & ALL) | arc[k].goals;
      if (met[after >> 6] >> (after & 63) & 1) continue;
      met[after >> 6] |= (uint64_t)1 << (after & 63);
      queue[end++] = after;
    }
  }
  return 2;
}
