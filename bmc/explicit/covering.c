/* The shortest run that meets all wanted conditions, or that there is none: breadth first over pairs of a state and the
   set of conditions met on the way to it. A pair is left out where no run from it can meet what is left within the
   bound (the exact distances of one condition at a time tell that), and where the state was met with at least the same
   conditions before, in no more steps. This text follows arrows.c; states go by their numbers there. */

#define NOWHERE UINT16_MAX /* no run from here meets the condition and goes on to an end */
#define FARTHEST (UINT16_MAX - 1)

typedef struct { Set *met; uint32_t count, room; } Family;
typedef struct { place at; uint32_t before; Set met; } Pair;

static struct {
  place start;
  u64 *back_first, pairs, pair_room, next, stop, work, found;
  place *back, *queue;
  uint32_t *to_end;
  Set *set, wanted; /* the sets of arrows.c without conditions that are not wanted */
  int wanted_count, final, prepared;
  uint16_t *to_meet; /* for each state the steps to meet each wanted condition and to go on to an end */
  Family *family;
  Pair *pair;
  int64_t lower, least_total, depth;
} c;

static inline int within(const Set *a, const Set *b) {
  for (int i = 0; i < WORDS; i++) if (a->bit[i] & ~b->bit[i]) return 0;
  return 1;
}
static inline Set joined(Set a, const Set *b) {
  for (int i = 0; i < WORDS; i++) a.bit[i] |= b->bit[i];
  return a;
}
static void drop(void) {
  for (u64 i = 0; c.family && i < all.count; i++)
    c.family[i].met = less(c.family[i].met, c.family[i].room * sizeof(Set));
  less(c.back_first, (all.count + 2) * sizeof(u64)), less(c.back, (all.arrows + 1) * sizeof(place));
  less(c.queue, 2 * all.count * sizeof(place)), less(c.to_end, all.count * sizeof(uint32_t));
  less(c.set, all.sets * sizeof(Set)), less(c.to_meet, (all.count * c.wanted_count + 1) * sizeof(uint16_t));
  less(c.family, all.count * sizeof(Family)), less(c.pair, c.pair_room * sizeof(Pair));
  memset(&c, 0, sizeof c);
}
static void begin_covering(void) { /* how many conditions are wanted; the final one, if there is one; the start */
  drop();
  c.wanted_count = (int)word();
  for (int i = 0; i < c.wanted_count; i++) c.wanted.bit[i >> 6] |= (u64)1 << (i & 63);
  c.final = (int)word();
  c.start = (place)number_of(place_of(key_word(), 0));
  c.to_end = more(0, 0, all.count * sizeof(uint32_t));
  c.set = more(0, 0, all.sets * sizeof(Set));
  if (failed) return;
  for (u64 i = 0; i < all.sets; i++)
    for (int w = 0; w < WORDS; w++) c.set[i].bit[w] = all.set[i].bit[w] & c.wanted.bit[w];
  for (u64 i = 0; i < all.count; i++)
    c.to_end[i] = c.final >= GOALS || all.set[all.here[i]].bit[c.final >> 6] >> (c.final & 63) & 1 ? 0 : UINT32_MAX;
}
static void list_backward(void) {
  c.back_first = more(0, 0, (all.count + 2) * sizeof(u64));
  c.back = more(0, 0, (all.arrows + 1) * sizeof(place));
  c.queue = more(0, 0, 2 * all.count * sizeof(place));
  if (failed) return;
  for (u64 i = 0; i < all.arrows; i++) c.back_first[all.arrow[i].end + 2]++;
  for (u64 i = 0; i < all.count; i++) c.back_first[i + 2] += c.back_first[i + 1];
  for (u64 from = 0; from < all.count; from++)
    for (u64 i = all.first[from]; i < all.first[from + 1]; i++) c.back[c.back_first[all.arrow[i].end + 1]++] = (place)from;
}
/* Lowers each value to one more than the least value to which an arrow leads: states in the order of their own values,
   merged with those that were lowered. */
static void spread(uint32_t *value) {
  place *own = c.queue, *lowered = c.queue + all.count;
  u64 owned = 0, taken_own = 0, put = 0, got = 0, *begin, most = 0;
  for (u64 i = 0; i < all.count; i++) if (value[i] != UINT32_MAX) { owned++; if (value[i] > most) most = value[i]; }
  begin = more(0, 0, (most + 2) * sizeof(u64));
  if (failed) return;
  for (u64 i = 0; i < all.count; i++) if (value[i] != UINT32_MAX) begin[value[i] + 1]++;
  for (u64 i = 0; i <= most; i++) begin[i + 1] += begin[i];
  for (u64 i = 0; i < all.count; i++) if (value[i] != UINT32_MAX) own[begin[value[i]]++] = (place)i;
  /* begin[v] is now where the states of value v end */
  for (u64 v = 0, depth = 0;; depth++) {
    u64 last = put;
    if (got == put) { while (v <= most && begin[v] <= taken_own) v++; if (v > most) break; depth = v; }
    for (; got < last; got++) {
      place at = lowered[got];
      for (u64 b = c.back_first[at]; b < c.back_first[at + 1]; b++)
        if (value[c.back[b]] > depth + 1) { value[c.back[b]] = (uint32_t)depth + 1; lowered[put++] = c.back[b]; }
    }
    for (; depth <= most && taken_own < begin[depth]; taken_own++) {
      place at = own[taken_own];
      if (value[at] < depth) continue;
      for (u64 b = c.back_first[at]; b < c.back_first[at + 1]; b++)
        if (value[c.back[b]] > depth + 1) { value[c.back[b]] = (uint32_t)depth + 1; lowered[put++] = c.back[b]; }
    }
  }
  taken -= (most + 2) * sizeof(u64);
  free(begin);
}
/* One more table of steps to come, or, once they are all there, the first pair. Whether that is all. */
static int prepare(void) {
  uint32_t *value;
  int goal;
  if (!c.back) { list_backward(); if (!failed) spread(c.to_end); return 0; }
  if (!c.to_meet) c.to_meet = more(0, 0, (all.count * c.wanted_count + 1) * sizeof(uint16_t));
  if (!c.family) c.family = more(0, 0, all.count * sizeof(Family));
  if (failed) return 0;
  if (c.prepared == c.wanted_count) {
    Pair first = {c.start, UINT32_MAX, c.set[all.here[c.start]]};
    c.pair_room = 1 << 12;
    c.pair = more(0, 0, c.pair_room * sizeof(Pair));
    if (failed) return 0;
    c.pair[c.pairs++] = first;
    c.found = UINT64_MAX;
    c.least_total = 0;
    return 1;
  }
  goal = c.prepared;
  value = more(0, 0, all.count * sizeof(uint32_t));
  if (failed) return 0;
  for (u64 from = 0; from < all.count; from++) {
    value[from] = UINT32_MAX;
    for (u64 i = all.first[from]; i < all.first[from + 1]; i++) {
      const Arrow *a = &all.arrow[i];
      u64 meets = (c.set[a->met].bit[goal >> 6] | c.set[all.here[a->end]].bit[goal >> 6]) >> (goal & 63) & 1;
      if (meets && c.to_end[a->end] != UINT32_MAX && c.to_end[a->end] + 1 < value[from]) value[from] = c.to_end[a->end] + 1;
    }
  }
  spread(value);
  for (u64 i = 0; i < all.count; i++)
    c.to_meet[i * c.wanted_count + c.prepared] = value[i] == UINT32_MAX ? NOWHERE : value[i] < FARTHEST ? value[i] : FARTHEST;
  taken -= all.count * sizeof(uint32_t);
  free(value);
  c.prepared++;
  return 0;
}
/* At least so many steps are to come from a state with these conditions met; -1 where no run meets the others. */
static inline int64_t to_come(place at, const Set *met) {
  const uint16_t *row = c.to_meet + (u64)at * c.wanted_count;
  int64_t least = c.to_end[at];
  if (c.to_end[at] == UINT32_MAX) return -1;
  for (int i = 0; i < c.wanted_count; i++) {
    if (met->bit[i >> 6] >> (i & 63) & 1) continue;
    if (row[i] == NOWHERE) return -1;
    if (row[i] > least) least = row[i];
  }
  return least;
}
/* Whether the state was met with all of these conditions before; what hits moves to the front. */
static inline int dominated(place at, const Set *met) {
  Family *family = &c.family[at];
  for (uint32_t i = 0; i < family->count; i++)
    if (within(met, &family->met[i])) {
      Set hit = family->met[i];
      c.work += i + 1;
      family->met[i] = family->met[i / 2];
      family->met[i / 2] = hit;
      return 1;
    }
  c.work += family->count;
  return 0;
}
static inline void meet(place at, const Set *met) {
  Family *family = &c.family[at];
  uint32_t left = 0;
  for (uint32_t i = 0; i < family->count; i++) if (!within(&family->met[i], met)) family->met[left++] = family->met[i];
  family->count = left;
  if (left == family->room) {
    uint32_t after = left ? 2 * left : 2;
    Set *larger = more(family->met, left * sizeof(Set), after * sizeof(Set));
    if (failed) return;
    family->met = larger;
    family->room = after;
  }
  family->met[family->count++] = *met;
}
/* The pairs of the layer that ends here which no other one dominates; they are the next layer. */
static void next_layer(void) {
  u64 left = c.stop;
  c.least_total = INT64_MAX;
  for (u64 i = c.stop; i < c.pairs; i++) {
    const Family *family = &c.family[c.pair[i].at];
    for (uint32_t k = 0; k < family->count; k++)
      if (same(&family->met[k], &c.pair[i].met)) {
        int64_t total = c.depth + 1 + to_come(c.pair[i].at, &c.pair[i].met);
        if (total < c.least_total) c.least_total = total;
        c.pair[left++] = c.pair[i];
        break;
      }
  }
  c.pairs = left;
  c.next = c.stop;
  c.stop = left;
  c.depth++;
  if (c.next < c.stop && c.least_total > c.lower) c.lower = c.least_total;
}
/* Follows all arrows from up to so many pairs; runs of `below` steps and more are not sought. Whether it is over. */
static int cover(u64 portion, int64_t below) {
  if (!c.stop) {
    int64_t least = to_come(c.pair[0].at, &c.pair[0].met);
    if (least < 0) return 1;
    c.lower = least;
    c.stop = 1;
    if (least < below && !least && within(&c.wanted, &c.pair[0].met)) { c.found = 0; return 1; }
  }
  for (; portion; portion--) {
    Pair from;
    if (c.next == c.stop) {
      next_layer();
      if (c.next == c.stop) return 1;
    }
    if (c.lower >= below) return 1;
    from = c.pair[c.next];
    for (u64 i = all.first[from.at]; i < all.first[from.at + 1]; i++) {
      const Arrow *a = &all.arrow[i];
      Pair after = {a->end, (uint32_t)c.next, joined(joined(from.met, &c.set[a->met]), &c.set[all.here[a->end]])};
      int64_t least;
      c.work += 8;
      if (c.to_end[a->end] == UINT32_MAX || dominated(a->end, &after.met)) continue;
      least = to_come(a->end, &after.met);
      if (least < 0 || c.depth + 1 + least >= below) continue;
      meet(a->end, &after.met);
      if (c.pairs == c.pair_room) {
        c.pair = more(c.pair, c.pair_room * sizeof(Pair), 2 * c.pair_room * sizeof(Pair));
        if (!failed) c.pair_room *= 2;
      }
      if (failed || c.pairs == UINT32_MAX) { failed = 1; return 0; }
      c.pair[c.pairs++] = after;
      if (!least && within(&c.wanted, &after.met)) { c.found = c.pairs - 1; c.lower = c.depth + 1; return 1; }
    }
    c.next++;
  }
  return 0;
}
/* The inputs of the run to the pair that was found, from its end on: of each step the first one that leads there. */
static void show_run(void) {
  for (u64 at = c.found; at; at = c.pair[at].before) {
    const Pair *after = &c.pair[at], *from = &c.pair[after->before];
    for (u64 i = all.first[from->at];; i++) {
      Set met = joined(joined(from->met, &c.set[all.arrow[i].met]), &c.set[all.here[all.arrow[i].end]]);
      if (all.arrow[i].end == after->at && same(&met, &after->met)) { printf(" %u", all.arrow[i].input); break; }
    }
  }
}
/* The answer to a question of this text: what it says, the arrows, pairs and work so far, the memory that is taken. */
static int covering(const char *what) {
  int over = 0;
  if (!strcmp(what, "list")) over = list_arrows(word());
  else if (!strcmp(what, "wanted")) begin_covering();
  else if (!strcmp(what, "prepare")) over = prepare();
  else if (!strcmp(what, "cover")) { u64 portion = word(); over = cover(portion, (int64_t)word()); }
  else if (!strcmp(what, "drop")) drop();
  else if (!strcmp(what, "run")) { show_run(); return 1; }
  else return 0;
  printf("%s %llu %llu %llu %llu %lld %d", failed == 2 ? "wrong" : failed ? "memory" : over ? "over" : all.local ? "more" : "memory",
         (unsigned long long)all.arrows, (unsigned long long)c.pairs, (unsigned long long)c.work,
         (unsigned long long)taken, (long long)c.lower, c.pairs && c.found != UINT64_MAX);
  if (failed == 1) { failed = 0; drop(); }
  return 1;
}
