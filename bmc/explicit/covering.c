/* The shortest run that meets all wanted conditions, or that there is none: breadth first over pairs of a state and the
   set of conditions met on the way to it. A pair is left out where no run from it can meet what is left within the
   bound (the exact distances of one condition at a time tell that), and where the state was met with at least the same
   conditions before, in no more steps. This text follows merged.c; states go by the numbers of their classes there.

   The steps to come are known for each wanted condition together with each subset of a group of them. The group is empty
   at first, and grows by the condition with which most steps are to come. */

#define BLOCK 16 /* pairs are kept in blocks of two to this power, so that none moves where there are more */
#define BUCKETS 1024 /* a layer is sorted by so many parts of all states */
#define AHEAD 8 /* so many pairs before their turn, what is asked of their states is fetched */
#define MOST_GROUPED 16 /* conditions in the group; with each there are twice as many steps to come */
#define NOWHERE UINT16_MAX /* no run from here meets the condition and goes on to an end */
#define FARTHEST (UINT16_MAX - 1)

/* What a search asks of a state lies together: the sets of conditions that it was met with, which are in no other one;
   the steps to an end; for each subset of the group, as a number in bits, and each wanted condition the steps to meet
   them and then to an end. */
typedef struct { Set *met; uint32_t count, room, to_end; uint16_t to_meet[]; } Node;
typedef struct { place at; uint32_t before; Set met; } Pair;

static struct {
  u64 first; /* the pair with which the run that was found begins */
  u64 *back_first, pairs, next, stop, fresh_pairs, fresh_room, work, found;
  place *back, *queue;
  uint32_t *to_end;
  Set wanted;
  int wanted_count, final, prepared, grouped, group[MOST_GROUPED];
  char *nodes;
  u64 node_size;
  Pair *block[1 << (32 - BLOCK)], *fresh; /* the pairs up to the layer that is followed; those of the next one */
  int64_t lower, least_total, least_left_out, depth;
} c;

static inline u64 bucket_of(place at) { return (u64)at * BUCKETS / merged.count; }
static inline Pair *pair_at(u64 i) { return &c.block[i >> BLOCK][i & ((1 << BLOCK) - 1)]; }
static inline Node *node_of(place at) { return (Node *)(c.nodes + at * c.node_size); }

static void drop(void) {
  for (u64 i = 0; c.nodes && i < merged.count; i++) less(node_of(i)->met, node_of(i)->room * sizeof(Set));
  less(c.back_first, (merged.count + 2) * sizeof(u64)), less(c.back, (merged.edges + 1) * sizeof(place));
  less(c.queue, 2 * merged.count * sizeof(place)), less(c.to_end, merged.count * sizeof(uint32_t));
  less(c.nodes, merged.count * c.node_size), less(c.fresh, c.fresh_room * sizeof(Pair));
  for (u64 i = 0; c.block[i]; i++) less(c.block[i], sizeof(Pair) << BLOCK);
  memset(&c, 0, sizeof c);
  drop_merged();
}
static void begin_covering(void) { /* how many conditions are wanted; the final one, if there is one */
  drop();
  c.wanted_count = (int)word();
  for (int i = 0; i < c.wanted_count; i++) c.wanted.bit[i >> 6] |= (u64)1 << (i & 63);
  c.final = (int)word();
}
static void list_backward(void) {
  c.back_first = more(0, 0, (merged.count + 2) * sizeof(u64));
  c.back = more(0, 0, (merged.edges + 1) * sizeof(place));
  c.queue = more(0, 0, 2 * merged.count * sizeof(place));
  c.to_end = more(0, 0, merged.count * sizeof(uint32_t));
  if (failed) return;
  for (u64 i = 0; i < merged.edges; i++) c.back_first[merged.edge[i].end + 2]++;
  for (u64 i = 0; i < merged.count; i++) c.back_first[i + 2] += c.back_first[i + 1];
  for (u64 from = 0; from < merged.count; from++)
    for (u64 i = merged.first[from]; i < merged.first[from + 1]; i++) c.back[c.back_first[merged.edge[i].end + 1]++] = (place)from;
  for (u64 i = 0; i < merged.count; i++) c.to_end[i] = merged.ends[i] ? 0 : UINT32_MAX;
}
/* Lowers each value to one more than the least value to which an arrow leads: states in the order of their own values,
   merged with those that were lowered. */
static void spread(uint32_t *value) {
  place *own = c.queue, *lowered = c.queue + merged.count;
  u64 owned = 0, taken_own = 0, put = 0, got = 0, *begin, most = 0;
  for (u64 i = 0; i < merged.count; i++) if (value[i] != UINT32_MAX) { owned++; if (value[i] > most) most = value[i]; }
  begin = more(0, 0, (most + 2) * sizeof(u64));
  if (failed) return;
  for (u64 i = 0; i < merged.count; i++) if (value[i] != UINT32_MAX) begin[value[i] + 1]++;
  for (u64 i = 0; i <= most; i++) begin[i + 1] += begin[i];
  for (u64 i = 0; i < merged.count; i++) if (value[i] != UINT32_MAX) own[begin[value[i]]++] = (place)i;
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
/* Room for so many more pairs. */
static void make_room(u64 pairs) {
  if (c.pairs + pairs > UINT32_MAX) failed = 1;
  for (u64 i = c.pairs >> BLOCK; !failed && i <= (c.pairs + pairs - 1) >> BLOCK; i++)
    if (!c.block[i]) c.block[i] = more(0, 0, sizeof(Pair) << BLOCK);
}
/* Room in each node for the steps to come with all subsets of the group. */
static void make_nodes(void) {
  u64 size = (sizeof(Node) + ((u64)c.wanted_count << c.grouped) * sizeof(uint16_t) + 7) / 8 * 8;
  char *nodes = more(0, 0, merged.count * size);
  if (failed) return;
  for (u64 i = 0; c.nodes && i < merged.count; i++) memcpy(nodes + i * size, c.nodes + i * c.node_size, c.node_size);
  for (u64 i = 0; !c.nodes && i < merged.count; i++) ((Node *)(nodes + i * size))->to_end = c.to_end[i];
  less(c.nodes, merged.count * c.node_size);
  c.nodes = nodes;
  c.node_size = size;
}
static inline int has_condition(const Set *set, int goal) { return set->bit[goal >> 6] >> (goal & 63) & 1; }
/* The number of a start state in arrows.c; the pair with which runs from it begin. */
static inline place start_at(u64 i) { return (place)number_of(place_of(starts[i], 0)); }
static Pair begun_at(place start) {
  Pair first = {merged.class_of[start], UINT32_MAX, all.set[all.here[start]]};
  for (int w = 0; w < WORDS; w++) first.met.bit[w] &= c.wanted.bit[w];
  return first;
}
/* At least so many steps are to come from a state where the conditions `left` are to be met; -1 where no run meets them. */
static inline int64_t to_come(const Node *node, const Set *left) {
  int64_t least = node->to_end;
  const uint16_t *to_meet = node->to_meet;
  if (node->to_end == UINT32_MAX) return -1;
  for (int k = 0; k < c.grouped; k++) if (has_condition(left, c.group[k])) to_meet += (u64)c.wanted_count << k;
  for (int w = 0; w < WORDS; w++)
    for (u64 bits = left->bit[w]; bits; bits &= bits - 1) {
      uint16_t steps = to_meet[64 * w + __builtin_ctzll(bits)];
      if (steps == NOWHERE) return -1;
      if (steps > least) least = steps;
    }
  return least;
}
static inline Set without(Set a, const Set *b) {
  for (int w = 0; w < WORDS; w++) a.bit[w] &= ~b->bit[w];
  return a;
}
static inline int64_t still_to_come(const Node *node, const Set *met) {
  Set left = without(c.wanted, met);
  return to_come(node, &left);
}
/* The steps to come for the subset `part` of the group and a condition beside it; those for smaller sets are there. */
static void make_steps(int part, int goal) {
  uint32_t *value;
  Set targets = {{0}};
  for (int k = 0; k < c.grouped; k++) if (part >> k & 1) {
    u64 from = (u64)(part & ~(1 << k)) * c.wanted_count + c.group[k], to = (u64)part * c.wanted_count + c.group[k];
    targets.bit[c.group[k] >> 6] |= (u64)1 << (c.group[k] & 63);
    for (u64 i = 0; !goal && i < merged.count; i++) node_of(i)->to_meet[to] = node_of(i)->to_meet[from];
  }
  if (has_condition(&targets, goal)) return;
  targets.bit[goal >> 6] |= (u64)1 << (goal & 63);
  value = more(0, 0, merged.count * sizeof(uint32_t));
  if (failed) return;
  for (u64 from = 0; from < merged.count; from++) {
    value[from] = UINT32_MAX;
    for (u64 i = merged.first[from]; i < merged.first[from + 1]; i++) {
      Edge edge = merged.edge[i];
      Set left = without(targets, &all.set[edge.met]);
      int64_t steps;
      if (same(&left, &targets)) continue;
      steps = to_come(node_of(edge.end), &left);
      if (steps >= 0 && steps + 1 < value[from]) value[from] = (uint32_t)steps + 1;
    }
  }
  spread(value);
  for (u64 i = 0; i < merged.count; i++)
    node_of(i)->to_meet[(u64)part * c.wanted_count + goal] = value[i] == UINT32_MAX ? NOWHERE : value[i] < FARTHEST ? value[i] : FARTHEST;
  less(value, merged.count * sizeof(uint32_t));
}
/* The first pairs, of the start states. */
static void begin_pairs(void) {
  make_room(start_count);
  if (failed) return;
  for (u64 i = 0; i < start_count; i++) *pair_at(c.pairs++) = begun_at(start_at(i));
  c.found = UINT64_MAX;
  c.least_total = c.least_left_out = INT64_MAX;
}
/* Some more steps to come, or, once they are all there, the first pairs. Whether that is all. */
static int prepare(void) {
  if (!merged.count) { begin_merged(&c.wanted, c.final); return 0; }
  if (!merged.over) { merge_states(); return 0; }
  if (!c.back) { list_backward(); if (!failed) spread(c.to_end); return 0; }
  if (!c.nodes) make_nodes();
  if (failed) return 0;
  if (c.prepared == c.wanted_count << c.grouped) {
    if (!c.pairs) begin_pairs();
    return !failed;
  }
  make_steps(c.prepared / c.wanted_count, c.prepared % c.wanted_count);
  c.prepared++;
  return 0;
}
/* Takes the condition into the group with which, and all of it, most steps are to come. Whether there is one, and room. */
static int group_more(void) {
  int best = -1;
  int64_t most = -1;
  Set group = {{0}};
  u64 size = merged.count * (((u64)c.wanted_count << (c.grouped + 1)) * sizeof(uint16_t) + sizeof(Node));
  if (c.grouped == MOST_GROUPED || c.grouped + 2 > c.wanted_count || size > (limit - taken) / 2) return 0;
  for (int k = 0; k < c.grouped; k++) group.bit[c.group[k] >> 6] |= (u64)1 << (c.group[k] & 63);
  for (int goal = 0; goal < c.wanted_count; goal++) {
    int64_t least = INT64_MAX;
    Set grown = group;
    if (has_condition(&group, goal)) continue;
    grown.bit[goal >> 6] |= (u64)1 << (goal & 63);
    for (u64 i = 0; i < start_count; i++) {
      Pair first = begun_at(start_at(i));
      Set left = without(grown, &first.met);
      int64_t steps = to_come(node_of(first.at), &left);
      if (steps >= 0 && steps < least) least = steps;
    }
    if (least < INT64_MAX && least > most) { most = least; best = goal; }
  }
  if (best < 0) return 0;
  c.group[c.grouped++] = best;
  make_nodes();
  return !failed;
}
/* Begins with the first pairs once more. */
static void begin_again(void) {
  for (u64 i = 0; i < merged.count; i++) node_of(i)->count = 0;
  c.pairs = c.next = c.stop = c.fresh_pairs = 0;
  c.depth = c.lower = 0;
  c.work += merged.count;
  begin_pairs();
}
/* Whether the state was met with all of these conditions before; what hits moves to the front. */
static inline int dominated(Node *node, const Set *met) {
  for (uint32_t i = 0; i < node->count; i++)
    if (within(met, &node->met[i])) {
      Set hit = node->met[i];
      c.work += i + 1;
      node->met[i] = node->met[i / 2];
      node->met[i / 2] = hit;
      return 1;
    }
  c.work += node->count;
  return 0;
}
static inline void meet(Node *node, const Set *met) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < node->count; i++) if (!within(&node->met[i], met)) node->met[left++] = node->met[i];
  node->count = left;
  if (left == node->room) {
    uint32_t after = left ? 2 * left : 2;
    Set *larger = more(node->met, left * sizeof(Set), after * sizeof(Set));
    if (failed) return;
    node->met = larger;
    node->room = after;
  }
  node->met[node->count++] = *met;
}
/* The next layer: the pairs that were met on the way and that no other one dominates, by their states, so that what is
   asked of a state and of those to which it leads is near. */
static void next_layer(void) {
  u64 begin[BUCKETS + 1] = {0}, left = c.pairs;
  make_room(c.fresh_pairs);
  if (failed) return;
  for (u64 i = 0; i < c.fresh_pairs; i++) begin[bucket_of(c.fresh[i].at) + 1]++;
  for (int b = 0; b < BUCKETS; b++) begin[b + 1] += begin[b];
  for (u64 i = 0; i < c.fresh_pairs; i++) *pair_at(c.pairs + begin[bucket_of(c.fresh[i].at)]++) = c.fresh[i];
  for (u64 i = c.pairs; i < c.pairs + c.fresh_pairs; i++) {
    const Node *node = node_of(pair_at(i)->at);
    for (uint32_t k = 0; k < node->count; k++)
      if (same(&node->met[k], &pair_at(i)->met)) { *pair_at(left++) = *pair_at(i); break; }
  }
  c.next = c.stop;
  c.stop = c.pairs = left;
  c.fresh_pairs = 0;
  c.depth++;
  if (c.next < c.stop && c.least_total > c.lower) c.lower = c.least_total;
  c.least_total = INT64_MAX;
}
/* Fetches what pairs that have their turn soon ask of the states to which they lead. */
static inline void fetch(void) {
  if (c.next + AHEAD < c.stop) {
    place at = pair_at(c.next + AHEAD)->at, soon = pair_at(c.next + AHEAD / 2)->at;
    for (u64 i = merged.first[at]; i < merged.first[at + 1]; i++) __builtin_prefetch(node_of(merged.edge[i].end));
    for (u64 i = merged.first[soon]; i < merged.first[soon + 1]; i++) __builtin_prefetch(node_of(merged.edge[i].end)->met);
  }
}
/* Makes each pair of the run to the one that was found lead to the next one, in place of the one before. */
static void turn_run(void) {
  for (u64 at = c.found, next = at; ; ) {
    uint32_t before = pair_at(at)->before;
    pair_at(at)->before = (uint32_t)next;
    c.first = at;
    if (before == UINT32_MAX) break;
    next = at;
    at = before;
  }
}
/* Follows all arrows from up to so many pairs; runs of `below` steps and more are not sought. Whether it is over. */
static int cover(u64 portion, int64_t below) {
  if (!c.stop) {
    c.lower = INT64_MAX;
    for (u64 i = 0; i < c.pairs; i++) {
      Pair from = *pair_at(i);
      int64_t least = still_to_come(node_of(from.at), &from.met);
      if (least < 0) continue;
      if (least < c.lower) c.lower = least;
      *pair_at(c.stop++) = from;
      if (!least && below > 0 && within(&c.wanted, &from.met)) { c.found = c.first = c.stop - 1; return 1; }
    }
    c.pairs = c.stop;
    if (!c.stop) { c.lower = 0; return 1; }
    if (c.lower >= below) { c.least_left_out = c.lower; return 1; }
  }
  for (; portion; portion--) {
    Pair from;
    if (c.next == c.stop) {
      next_layer();
      if (failed) return 0;
      if (c.next == c.stop) return 1;
    }
    if (c.lower >= below) { if (c.lower < c.least_left_out) c.least_left_out = c.lower; return 1; }
    from = *pair_at(c.next);
    fetch();
    for (u64 i = merged.first[from.at]; i < merged.first[from.at + 1]; i++) {
      place end = merged.edge[i].end;
      Node *node = node_of(end);
      Pair after = {end, (uint32_t)c.next, joined(from.met, &all.set[merged.edge[i].met])};
      int64_t least = still_to_come(node, &after.met);
      c.work += 8;
      if (least < 0) continue;
      if (c.depth + 1 + least >= below) {
        if (c.depth + 1 + least < c.least_left_out) c.least_left_out = c.depth + 1 + least;
        continue;
      }
      if (dominated(node, &after.met)) continue;
      if (c.depth + 1 + least < c.least_total) c.least_total = c.depth + 1 + least;
      meet(node, &after.met);
      if (c.fresh_pairs == c.fresh_room) {
        u64 larger = c.fresh_room ? 2 * c.fresh_room : 1 << 12;
        c.fresh = more(c.fresh, c.fresh_room * sizeof(Pair), larger * sizeof(Pair));
        if (!failed) c.fresh_room = larger;
      }
      if (failed) return 0;
      c.fresh[c.fresh_pairs++] = after;
      if (!least && within(&c.wanted, &after.met)) {
        make_room(1);
        if (failed) return 0;
        *pair_at(c.found = c.pairs++) = after;
        turn_run();
        c.lower = c.depth + 1;
        return 1;
      }
    }
    c.next++;
  }
  return 0;
}
/* Where the run to the pair that was found starts, and its inputs: of each step the first one that leads there. */
static void show_run(void) {
  place at = 0;
  for (u64 i = 0; i < start_count; i++) {
    Pair first = begun_at(at = start_at(i));
    if (first.at == pair_at(c.first)->at && same(&first.met, &pair_at(c.first)->met)) break;
  }
  show(key_of(place_at(at)));
  for (u64 i = c.first; i != c.found; i = pair_at(i)->before) {
    const Pair *after = pair_at(pair_at(i)->before);
    for (const Arrow *arrow = all.arrow + all.first[at];; arrow++) {
      Set met = wanted_of(arrow, &c.wanted);
      met = joined(pair_at(i)->met, &met);
      if (merged.class_of[arrow->end] == after->at && same(&met, &after->met)) { printf(" %u", arrow->input); at = arrow->end; break; }
    }
  }
}
static int guiding(const char *what); /* see guide.c */
/* The answer to a question of this text: what it says, the arrows, pairs and work so far, the memory that is taken, the bound,
   whether a run is found, the inputs that were tried, the least length of a run that was left out for `below`, the arrows
   that are left. */
static int covering(const char *what) {
  int over = 0;
  if (!strcmp(what, "list")) over = list_arrows(word());
  else if (!strcmp(what, "wanted")) begin_covering();
  else if (!strcmp(what, "prepare")) over = prepare();
  else if (!strcmp(what, "cover")) { u64 portion = word(); over = cover(portion, (int64_t)word()); }
  else if (!strcmp(what, "again")) begin_again();
  else if (!strcmp(what, "group")) over = group_more();
  else if (!strcmp(what, "drop")) drop();
  else if (!strcmp(what, "run")) { show_run(); return 1; }
  else return guiding(what);
  printf("%s %llu %llu %llu %llu %lld %d %llu %lld %llu", failed == 2 ? "wrong" : failed ? "memory" : over ? "over" : all.local ? "more" : "memory",
         (unsigned long long)all.arrows, (unsigned long long)c.pairs, (unsigned long long)c.work,
         (unsigned long long)taken, (long long)c.lower, c.pairs && c.found != UINT64_MAX, (unsigned long long)tried,
         (long long)c.least_left_out, (unsigned long long)merged.edges);
  if (failed == 1) { failed = 0; drop(); }
  return 1;
}
