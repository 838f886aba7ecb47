/* Exhaustive search over a compiled controller: its states, and its shortest run over all goals.
 *
 * controller.h, which run.py writes, includes the controller and defines STATE, INPUT, GOALS, INPUTS, OPEN_BYTE, initial, step,
 * allowed, input, covers and is_final. States are compared by all their bytes.
 *
 *   search count LIMIT     how many states there are (at most LIMIT)
 *   search graph LIMIT     all states, and every different step: from, to, goals covered
 *   search shortest NODES  breadth-first over (state, goals covered): length with and without the final condition
 *   search sweep LIMIT     the same with a bit for each of these pairs: for at most LIMIT states, and few goals
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "controller.h"

#define WORDS (GOALS / 64 + 1)

typedef unsigned long long mask;

struct goals { mask words[WORDS]; };

struct arc { unsigned to; struct goals goals; };
struct place { unsigned count; struct arc *arcs; int expanded; int final; };

static STATE *states;
static struct place *places;
static size_t known, room;
static unsigned *table; /* state + 1, or 0 */
static size_t slots;

static unsigned long long hash(const void *data, size_t size)
{
  const unsigned char *bytes = data;
  unsigned long long value = 1469598103934665603ull;

  while (size--)
    value = (value ^ *bytes++) * 1099511628211ull;
  return value ^ value >> 29;
}

static void *must(void *memory)
{
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(3);
  }
  return memory;
}

static void rehash(void)
{
  slots = slots ? 2 * slots : 1024;
  free(table);
  table = must(calloc(slots, sizeof *table));
  for (size_t number = 0; number < known; number++) {
    size_t slot = hash(&states[number], sizeof(STATE)) & (slots - 1);
    while (table[slot])
      slot = (slot + 1) & (slots - 1);
    table[slot] = (unsigned)number + 1;
  }
}

static unsigned number_of(const STATE *state)
{
  if (2 * known >= slots)
    rehash();
  size_t slot = hash(state, sizeof(STATE)) & (slots - 1);
  for (; table[slot]; slot = (slot + 1) & (slots - 1))
    if (!memcmp(&states[table[slot] - 1], state, sizeof(STATE)))
      return table[slot] - 1;
  if (known == room) {
    room = room ? 2 * room : 1024;
    states = must(realloc(states, room * sizeof *states));
    places = must(realloc(places, room * sizeof *places));
  }
  memcpy(&states[known], state, sizeof(STATE));
  memset(&places[known], 0, sizeof *places);
  STATE copy = *state;
  places[known].final = is_final(&copy);
  table[slot] = (unsigned)++known;
  return (unsigned)known - 1;
}

/* All different steps from a state. */
static void expand(unsigned from)
{
  struct arc *arcs = NULL;
  unsigned count = 0, space = 0;

  if (places[from].expanded)
    return;
  for (size_t chosen = 0; chosen < INPUTS; chosen++) {
    STATE before, after;
    INPUT in;
    memcpy(&before, &states[from], sizeof before);
    memcpy(&after, &states[from], sizeof after);
    memset(&in, 0, sizeof in);
    input(&in, chosen);
    if (!allowed(&before, &in))
      continue;
    step(&after, &in);
    struct arc arc = {number_of(&after), {{0}}};
    for (int goal = 0; goal < GOALS; goal++)
      if (covers(goal, &before, &in, &after))
        arc.goals.words[goal / 64] |= 1ull << goal % 64;
    unsigned place = 0;
    while (place < count && (arcs[place].to != arc.to || memcmp(&arcs[place].goals, &arc.goals, sizeof arc.goals)))
      place++;
    if (place < count)
      continue;
    if (count == space)
      arcs = must(realloc(arcs, (space = space ? 2 * space : 4) * sizeof *arcs));
    arcs[count++] = arc;
  }
  places[from].arcs = arcs;
  places[from].count = count;
  places[from].expanded = 1;
}

static int count(size_t limit)
{
  for (size_t from = 0; from < known; from++) {
    if (known > limit) {
      printf("more than %zu\n", limit);
      return 0;
    }
    expand((unsigned)from);
  }
  printf("states %zu\n", known);
  return 1;
}

static void graph(size_t limit)
{
  if (!count(limit))
    return;
  for (size_t from = 0; from < known; from++) {
    if (places[from].final)
      printf("final %zu\n", from);
    for (unsigned place = 0; place < places[from].count; place++) {
      printf("step %zu %u", from, places[from].arcs[place].to);
      for (int goal = 0; goal < GOALS; goal++)
        if (places[from].arcs[place].goals.words[goal / 64] >> goal % 64 & 1)
          printf(" %d", goal);
      printf("\n");
    }
  }
}

struct node { unsigned state; mask covered; };

static struct node *nodes;
static size_t *index_of;
static size_t reached, index_size;

static int add(unsigned state, mask covered, size_t limit)
{
  struct node node = {state, covered};
  unsigned long long key[2] = {state, covered};
  size_t slot = hash(key, sizeof key) & (index_size - 1);

  for (; index_of[slot]; slot = (slot + 1) & (index_size - 1))
    if (nodes[index_of[slot] - 1].state == state && nodes[index_of[slot] - 1].covered == covered)
      return 0;
  if (reached == limit) {
    printf("more than %zu nodes\n", limit);
    exit(0);
  }
  nodes[reached] = node;
  index_of[slot] = ++reached;
  return 1;
}

static void shortest(size_t limit)
{
  mask all = (1ull << GOALS % 64) - 1;
  size_t begin = 0, length = 0;
  int anywhere = 0;

  if (GOALS > 63)
    exit(2);
  for (index_size = 1024; index_size < 2 * limit; index_size *= 2)
    ;
  nodes = must(malloc(limit * sizeof *nodes));
  index_of = must(calloc(index_size, sizeof *index_of));
  add(0, 0, limit);
  for (; begin < reached; length++) {
    size_t end = reached;
    for (size_t now = begin; now < end; now++)
      if (nodes[now].covered == all) {
        if (!anywhere++)
          printf("anywhere %zu\n", length);
        if (places[nodes[now].state].final) {
          printf("final %zu\nnodes %zu\n", length, reached);
          return;
        }
      }
    for (; begin < end; begin++) {
      struct node node = nodes[begin];
      expand(node.state);
      for (unsigned place = 0; place < places[node.state].count; place++)
        add(places[node.state].arcs[place].to, node.covered | places[node.state].arcs[place].goals.words[0], limit);
    }
  }
  printf("nodes %zu\n", reached);
}

static void sweep(size_t limit)
{
  if (!count(limit))
    return;
  size_t all = ((size_t)1 << GOALS) - 1, length = 0, words = (known << GOALS) / 64 + 1, fresh = 1;
  mask *seen = must(calloc(words, sizeof *seen)), *now = must(calloc(words, sizeof *now));
  int anywhere = 0;

  seen[0] = now[0] = 1;
  for (; fresh; length++) {
    mask *next = must(calloc(words, sizeof *next));
    fresh = 0;
    for (size_t word = 0; word < words; word++)
      for (mask left = now[word]; left; left &= left - 1) {
        size_t pair = word * 64 + (size_t)__builtin_ctzll(left), covered = pair & all;
        struct place *place = &places[pair >> GOALS];
        if (covered == all && !anywhere++)
          printf("anywhere %zu\n", length);
        if (covered == all && place->final) {
          printf("final %zu\n", length);
          return;
        }
        for (unsigned arc = 0; arc < place->count; arc++) {
          size_t to = (size_t)place->arcs[arc].to << GOALS | covered | place->arcs[arc].goals.words[0];
          if (!(seen[to / 64] >> to % 64 & 1)) {
            seen[to / 64] |= 1ull << to % 64;
            next[to / 64] |= 1ull << to % 64;
            fresh = 1;
          }
        }
      }
    free(now);
    now = next;
  }
}

int main(int number, char **words)
{
  STATE start;
  size_t limit = number == 3 ? (size_t)atol(words[2]) : 0;

  memset(&start, OPEN_BYTE, sizeof start);
  initial(&start);
  number_of(&start);
  if (!limit)
    return 2;
  if (!strcmp(words[1], "count"))
    count(limit);
  else if (!strcmp(words[1], "graph"))
    graph(limit);
  else if (!strcmp(words[1], "sweep"))
    sweep(limit);
  else
    shortest(limit);
  return 0;
}
