/* The arrows of arrows.c as a search for some conditions needs them: only with the conditions that it wants, met on the
   step or in the state to which it leads; none where another one leads to the same state and meets as much; and states
   that have the same arrows, and are both final or not, as one. What then has the same arrows is found in rounds. */

#define FEW 16 /* a round that leaves out fewer than one state in so many is the last one */

typedef struct { place end; uint32_t met; } Edge;

static struct {
  u64 count, edges, *first;
  Edge *edge;
  place *class_of, *after; /* for each state of arrows.c the number of its class; for each class that in the next round */
  unsigned char *ends;
  int over;
} merged;

static inline int within(const Set *a, const Set *b) {
  for (int i = 0; i < WORDS; i++) if (a->bit[i] & ~b->bit[i]) return 0;
  return 1;
}
static inline Set joined(Set a, const Set *b) {
  for (int i = 0; i < WORDS; i++) a.bit[i] |= b->bit[i];
  return a;
}
static inline Set wanted_of(const Arrow *arrow, const Set *wanted) {
  Set met = joined(all.set[arrow->met], &all.set[all.here[arrow->end]]);
  for (int i = 0; i < WORDS; i++) met.bit[i] &= wanted->bit[i];
  return met;
}
static void drop_merged(void) {
  less(merged.first, (all.count + 1) * sizeof(u64)), less(merged.edge, (all.arrows + 1) * sizeof(Edge));
  less(merged.class_of, all.count * sizeof(place)), less(merged.after, all.count * sizeof(place)), less(merged.ends, all.count);
  memset(&merged, 0, sizeof merged);
}
static int by_end(const void *a, const void *b) {
  const Edge *x = a, *y = b;
  return x->end != y->end ? (x->end > y->end) - (x->end < y->end) : (x->met > y->met) - (x->met < y->met);
}
/* Sorts the edges from `begin` to `end` into the place `put`, without those that another one makes needless. Where they
   end then. */
static u64 sorted(u64 begin, u64 end, u64 put) {
  u64 group = put;
  qsort(merged.edge + begin, end - begin, sizeof(Edge), by_end);
  for (; begin < end; begin++) {
    Edge edge = merged.edge[begin];
    u64 left, k;
    if (group < put && merged.edge[group].end != edge.end) group = put;
    for (k = group; k < put && !within(&all.set[edge.met], &all.set[merged.edge[k].met]); k++) {}
    if (k < put) continue;
    for (left = k = group; k < put; k++)
      if (!within(&all.set[merged.edge[k].met], &all.set[edge.met])) merged.edge[left++] = merged.edge[k];
    merged.edge[left] = edge;
    put = left + 1;
  }
  return put;
}
static void begin_merged(const Set *wanted, int final) {
  merged.first = more(0, 0, (all.count + 1) * sizeof(u64)), merged.edge = more(0, 0, (all.arrows + 1) * sizeof(Edge));
  merged.class_of = more(0, 0, all.count * sizeof(place)), merged.after = more(0, 0, all.count * sizeof(place));
  merged.ends = more(0, 0, all.count);
  for (u64 from = 0; from < all.count && !failed; from++) {
    u64 end = merged.edges;
    for (u64 i = all.first[from]; i < all.first[from + 1] && !failed; i++) {
      Set met = wanted_of(&all.arrow[i], wanted);
      merged.edge[end].end = all.arrow[i].end;
      merged.edge[end++].met = number_of_set(&met);
    }
    merged.class_of[from] = (place)from;
    merged.ends[from] = final >= GOALS || all.set[all.here[from]].bit[final >> 6] >> (final & 63) & 1;
    merged.edges = merged.first[from + 1] = sorted(merged.edges, end, merged.edges);
  }
  merged.count = all.count;
}
static u64 mixed_edges(const Edge *edge, u64 count, u64 x) {
  for (; count--; edge++) { x = (x ^ ((u64)edge->end << 32 | edge->met)) * 0x9E3779B97F4A7C15ull; x ^= x >> 29; }
  return x;
}
/* A round: of all states with the same edges one is left. Whether it was the last one. */
static int merge_states(void) {
  u64 slots = 64, count = 0, put = 0, before = merged.count;
  place *slot;
  while (slots < 2 * before) slots *= 2;
  slot = more(0, 0, slots * sizeof(place));
  if (failed) return 0;
  for (u64 from = 0, begin = 0, end; from < before; from++, begin = end) {
    u64 edges = (end = merged.first[from + 1]) - begin, k;
    u64 at = mixed_edges(merged.edge + begin, edges, merged.ends[from]) & (slots - 1);
    for (; slot[at]; at = (at + 1) & (slots - 1)) {
      k = slot[at] - 1;
      if (merged.ends[k] == merged.ends[from] && merged.first[k + 1] - merged.first[k] == edges &&
          !memcmp(merged.edge + merged.first[k], merged.edge + begin, edges * sizeof(Edge))) break;
    }
    if (!slot[at]) {
      slot[at] = (place)++count;
      memmove(merged.edge + put, merged.edge + begin, edges * sizeof(Edge));
      merged.first[count] = put += edges;
      merged.ends[count - 1] = merged.ends[from];
    }
    merged.after[from] = slot[at] - 1;
  }
  less(slot, slots * sizeof(place));
  for (u64 i = 0; i < all.count; i++) merged.class_of[i] = merged.after[merged.class_of[i]];
  merged.edges = 0;
  for (u64 from = 0, begin = 0, end; from < count; from++, begin = end) {
    end = merged.first[from + 1];
    for (u64 i = begin; i < end; i++) merged.edge[i].end = merged.after[merged.edge[i].end];
    merged.edges = merged.first[from + 1] = sorted(begin, end, merged.edges);
  }
  merged.count = count;
  return merged.over = before - count < before / FEW + 1;
}
