/* The steps between all reachable states, each once that leads to the same state and meets the same conditions on the
   step. With them a search need not try the inputs again. This text follows layers.c; all states must have been met from
   the starts. A state's number is its place where states are numbered, else its rank among those met. */

typedef struct { place end; uint32_t met, input; } Arrow;
typedef struct { u64 key; uint32_t round; } Slot;

static struct {
  u64 count, listed, arrows, arrow_room, *first, *states;
  uint32_t *rank, sets, *set_slots, set_slot_count, *here, local_size, round;
  place *at;
  Arrow *arrow;
  Set *set;
  Slot *local;
  int over;
} all;

static inline int same(const Set *a, const Set *b) { return !memcmp(a, b, sizeof(Set)); }
#if DENSE
static inline u64 number_of(u64 p) {
  u64 at = p >> 6, found = all.rank[at >> 3];
  for (u64 w = at & ~(u64)7; w < at; w++) found += (u64)__builtin_popcountll(all.states[w]);
  return found + (u64)__builtin_popcountll(all.states[at] & (((u64)1 << (p & 63)) - 1));
}
static inline place place_at(u64 number) { return all.at[number]; }
static void number_states(void) {
  u64 words = room / 64;
  all.states = more(0, 0, room / 8);
  all.rank = more(0, 0, (words / 8 + 1) * sizeof(uint32_t));
  all.at = more(0, 0, queue_size * sizeof(place));
  if (failed) return;
  memcpy(all.states, seen, room / 8);
  for (u64 w = 0; w < words; w++) {
    if (w % 8 == 0) all.rank[w / 8] = (uint32_t)all.count;
    for (u64 left = seen[w]; left; left &= left - 1) all.at[all.count++] = (place)(64 * w + __builtin_ctzll(left));
  }
}
#else
static inline u64 number_of(u64 p) { return p; }
static inline place place_at(u64 number) { return (place)number; }
static void number_states(void) { all.count = reached; }
#endif

static u64 mixed_set(const Set *set) {
  u64 x = 0;
  for (int i = 0; i < WORDS; i++) { x = (x ^ set->bit[i]) * 0x9E3779B97F4A7C15ull; x ^= x >> 32; }
  return x;
}
/* The number of a set of conditions; number 0 is the empty one. */
static uint32_t number_of_set(const Set *set) {
  u64 at;
  if (2 * (u64)all.sets >= all.set_slot_count) {
    u64 old = all.set_slot_count, after = old ? 2 * old : 64;
    all.set_slots = more(all.set_slots, old * sizeof(uint32_t), after * sizeof(uint32_t));
    all.set = more(all.set, old * sizeof(Set), after * sizeof(Set));
    if (failed) return 0;
    all.set_slot_count = (uint32_t)after;
    memset(all.set_slots, 0, after * sizeof(uint32_t));
    for (uint32_t i = 0; i < all.sets; i++) {
      for (at = mixed_set(&all.set[i]) & (after - 1); all.set_slots[at]; at = (at + 1) & (after - 1)) {}
      all.set_slots[at] = i + 1;
    }
  }
  for (at = mixed_set(set) & (all.set_slot_count - 1); all.set_slots[at]; at = (at + 1) & (all.set_slot_count - 1))
    if (same(&all.set[all.set_slots[at] - 1], set)) return all.set_slots[at] - 1;
  all.set[all.sets] = *set;
  all.set_slots[at] = ++all.sets;
  return all.sets - 1;
}
static void more_local(u64 inputs) {
  u64 before = all.local_size;
  if (before >= 2 * inputs) return;
  for (all.local_size = 64; all.local_size < 2 * inputs; all.local_size *= 2) {}
  all.local = more(all.local, before * sizeof(Slot), all.local_size * sizeof(Slot));
  if (failed) all.local_size = before;
  else memset(all.local, 0, all.local_size * sizeof(Slot));
  all.round = 0;
}
static void begin_arrows(void) {
  Set none = {{0}};
  number_states();
  if (failed) return;
  number_of_set(&none);
  all.first = more(0, 0, (all.count + 1) * sizeof(u64));
  all.here = more(0, 0, all.count * sizeof(uint32_t));
  more_local(1);
}
static void list_from(u64 number) {
  Here here;
  Set met;
  KEY after;
  Inputs inputs;
  unpack(key_of(place_at(number)), &here);
  inputs = inputs_of(&here);
  state_goals(&here, met.bit);
  all.here[number] = number_of_set(&met);
  all.first[number] = all.arrows;
  more_local(inputs.end - inputs.begin);
  if (failed) return;
  all.round++;
  tried += 1 + (inputs.end - inputs.begin);
  for (u64 i = inputs.begin; i < inputs.end && !failed; i++) {
    int input = kinds.input[i];
    u64 at, pair;
    Arrow arrow;
    if (!step(&here, input, &after, met.bit)) continue;
    arrow.end = (place)number_of(place_of(after, 0));
    arrow.met = number_of_set(&met);
    arrow.input = (uint32_t)input;
    pair = (u64)arrow.end << 32 | arrow.met;
    at = (pair * 0x9E3779B97F4A7C15ull >> 32) & (all.local_size - 1);
    for (; all.local[at].round == all.round && all.local[at].key != pair; at = (at + 1) & (all.local_size - 1)) {}
    if (all.local[at].round == all.round) continue;
    all.local[at].round = all.round;
    all.local[at].key = pair;
    if (all.arrows == all.arrow_room) {
      u64 larger = all.arrow_room ? 2 * all.arrow_room : 1 << 12;
      all.arrow = more(all.arrow, all.arrow_room * sizeof(Arrow), larger * sizeof(Arrow));
      if (failed) return;
      all.arrow_room = larger;
    }
    all.arrow[all.arrows++] = arrow;
  }
}
/* Lists the steps under about so many more inputs. Whether that is all. Where memory ends, what was listed is given back.
*/
static int list_arrows(u64 portion) {
  u64 begun = tried;
  if (!all.local) begin_arrows();
  while (tried - begun < portion && !failed && all.listed < all.count) list_from(all.listed++);
  if (failed == 1 || failed == 3) {
    all.states = less(all.states, room / 8), all.rank = less(all.rank, (room / 512 + 1) * sizeof(uint32_t));
    all.at = less(all.at, queue_size * sizeof(place)), all.first = less(all.first, (all.count + 1) * sizeof(u64));
    all.here = less(all.here, all.count * sizeof(uint32_t)), all.local = less(all.local, all.local_size * sizeof(Slot));
    all.arrow = less(all.arrow, all.arrow_room * sizeof(Arrow));
    all.set_slots = less(all.set_slots, all.set_slot_count * sizeof(uint32_t));
    all.set = less(all.set, all.set_slot_count * sizeof(Set));
    failed = 0;
    return 0;
  }
  if (failed || all.listed < all.count) return 0;
  all.first[all.count] = all.arrows;
  return all.over = 1;
}
static int listed(void) { return all.over; }
/* `expand` in a search for conditions, by arrows. */
static void expand_listed(u64 p) {
  u64 from = number_of(p);
  int32_t depth = layers - 1;
  note(&all.set[all.here[from]], depth);
  tried += 1 + (all.first[from + 1] - all.first[from]);
  for (u64 i = all.first[from]; i < all.first[from + 1] && !failed; i++) {
    u64 after = place_at(all.arrow[i].end);
    note(&all.set[all.arrow[i].met], depth);
    if (!has(seen, after)) { add(seen, after); push(after); }
  }
}
