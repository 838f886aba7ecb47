/* Breadth-first layers over packed states, without the steps between them. Before this text come the generated parts:

   WIDTH         words of a packed state, the lowest first
   DENSE         the bits of a packed state where every one has a place in tables of bits, else 0: they are numbered
   GOALS         number of conditions; WORDS: words of a set of conditions
   ON_STEP       a set: the conditions on steps; the others are on states
   Here, unpack, state_goals, step: what is true of a state, and where an input leads
   inputs_of     which inputs to try in a state (kinds.c)
   failed        set to 1 where memory ends, to 2 where a value leaves its range

   The process answers lines of text; see bmc/explicit/layers.py for the questions. */

#define LIMIT_LINE (1 << 16)
typedef uint32_t place;
typedef struct { u64 bit[WORDS]; } Set;

static u64 room, reached, queue_room, queue_size, *seen, *ends[GOALS + 1];
static u64 *layer_from, layers, layer_room, next_place, stop_place;
static place *queue;
static Set missing, together[GOALS + 1];
static int32_t first[GOALS + 1];
static int whole;
static KEY *starts;
static u64 start_count, start_room;

static inline int same_key(KEY a, KEY b) { return !memcmp(&a, &b, sizeof a); }
static inline int less_key(KEY a, KEY b) {
  for (int i = WIDTH - 1; i > 0; i--) if (a.word[i] != b.word[i]) return a.word[i] < b.word[i];
  return a.word[0] < b.word[0];
}
#if DENSE
static inline KEY key_of(u64 p) { return (KEY){{p}}; }
static inline u64 place_of(KEY key, int fresh) { return key.word[0]; }
static int begin_places(void) {
  room = (u64)1 << DENSE;
  if (room < 64) room = 64;
  return 1;
}
#else
static KEY *keys;
static place *slots;
static u64 slot_count;
static inline u64 mixed(KEY key) {
  u64 x = key.word[0] * 0x9E3779B97F4A7C15ull;
  x ^= x >> 32;
  for (int i = 1; i < WIDTH; i++) { x += key.word[i]; x *= 0xC2B2AE3D27D4EB4Full; x ^= x >> 29; }
  x *= 0xC2B2AE3D27D4EB4Full;
  return x ^ (x >> 32);
}
static inline KEY key_of(u64 p) { return keys[p]; }
static void grow(void) {
  u64 i, old = room, slots_old = slot_count;
  KEY *k = more(keys, old * sizeof(KEY), 2 * old * sizeof(KEY));
  if (failed) return;
  keys = k;
  seen = more(seen, old / 8, old / 4);
  for (i = 0; i < GOALS; i++) if (ends[i]) ends[i] = more(ends[i], old / 8, old / 4);
  slots = more(slots, slots_old * sizeof(place), 2 * slots_old * sizeof(place));
  if (failed) return;
  room = 2 * old;
  slot_count = 2 * slots_old;
  memset(slots, 0, slot_count * sizeof(place));
  for (i = 0; i < reached; i++) {
    u64 at = mixed(keys[i]) & (slot_count - 1);
    while (slots[at]) at = (at + 1) & (slot_count - 1);
    slots[at] = i + 1;
  }
}
static inline u64 place_of(KEY key, int fresh) {
  u64 at = mixed(key) & (slot_count - 1);
  while (slots[at]) {
    if (same_key(keys[slots[at] - 1], key)) return slots[at] - 1;
    at = (at + 1) & (slot_count - 1);
  }
  if (reached == room) {
    grow();
    if (failed) return 0;
    return place_of(key, fresh);
  }
  slots[at] = reached + 1;
  keys[reached] = key;
  return reached++;
}
static int begin_places(void) {
  room = 1 << 12;
  slot_count = 2 * room;
  keys = more(0, 0, room * sizeof(KEY));
  slots = more(0, 0, slot_count * sizeof(place));
  return !failed;
}
#endif

static inline int has(const u64 *set, u64 p) { return set[p >> 6] >> (p & 63) & 1; }
static inline void add(u64 *set, u64 p) { set[p >> 6] |= (u64)1 << (p & 63); }
static inline int any(const Set *set) {
  u64 found = 0;
  for (int i = 0; i < WORDS; i++) found |= set->bit[i];
  return found != 0;
}
static inline void note(const Set *set, int32_t depth) {
  for (int i = 0; i < WORDS; i++) {
    u64 fresh = set->bit[i] & missing.bit[i];
    missing.bit[i] &= ~fresh;
    for (; fresh; fresh &= fresh - 1) first[64 * i + __builtin_ctzll(fresh)] = depth;
  }
}
static void push(u64 p) {
  if (queue_size == queue_room) {
    u64 after = queue_room ? 2 * queue_room : 1 << 12;
    queue = more(queue, queue_room * sizeof(place), after * sizeof(place));
    if (failed) return;
    queue_room = after;
  }
  queue[queue_size++] = p;
}
static inline void visit(KEY key) {
  u64 p = place_of(key, 1);
  if (!has(seen, p)) { add(seen, p); push(p); }
}
static void end_layer(void) {
  if (layers + 1 >= layer_room) {
    u64 after = layer_room ? 2 * layer_room : 1 << 10;
    layer_from = more(layer_from, layer_room * sizeof(u64), after * sizeof(u64));
    if (failed) return;
    layer_room = after;
  }
  layer_from[layers++] = next_place;
  stop_place = queue_size;
}
static void remember(int goal, u64 p) {
  if (!ends[goal]) ends[goal] = more(0, 0, room / 8);
  if (!failed) add(ends[goal], p);
}
static void expand(u64 p) {
  KEY key = key_of(p);
  Here here;
  Set on_state, on_step;
  Inputs inputs;
  int32_t depth = layers - 1;
  unpack(key, &here);
  state_goals(&here, on_state.bit);
  if (any(&on_state)) {
    note(&on_state, depth);
    for (int i = 0; whole && i < GOALS; i++)
      if (!(ON_STEP[i >> 6] >> (i & 63) & 1) && on_state.bit[i >> 6] >> (i & 63) & 1) remember(i, p);
  }
  inputs = inputs_of(&here);
  tried += 1 + (inputs.end - inputs.begin);
  for (u64 i = inputs.begin; i < inputs.end; i++) {
    KEY after;
    if (!step(&here, kinds.input[i], &after, on_step.bit)) continue;
    visit(after);
    if (any(&on_step)) {
      note(&on_step, depth);
      if (whole) {
        u64 q = place_of(after, 1);
        Set both = on_step;
        for (int i = 0; i < WORDS; i++) both.bit[i] |= on_state.bit[i];
        for (int goal = 0; goal < GOALS; goal++)
          if (on_step.bit[goal >> 6] >> (goal & 63) & 1) {
            remember(goal, q);
            for (int i = 0; i < WORDS; i++) together[goal].bit[i] |= both.bit[i];
          }
      }
    }
    if (failed) return;
  }
}

static void add_start(KEY key) {
  if (start_count == start_room) {
    u64 after = start_room ? 2 * start_room : 16;
    starts = more(starts, start_room * sizeof(KEY), after * sizeof(KEY));
    if (failed) return;
    start_room = after;
  }
  starts[start_count++] = key;
}

static char line[LIMIT_LINE];
static u64 word(void) { char *text = strtok(0, " \n"); return text ? strtoull(text, 0, 16) : 0; }
static KEY key_word(void) { KEY key; for (int i = WIDTH; i--;) key.word[i] = word(); return key; }
static void show(KEY key) { for (int i = WIDTH; i--;) printf("%llx ", (unsigned long long)key.word[i]); }

static void begin(void) {
  if (!room && !begin_places()) return;
  if (!seen) seen = more(0, 0, room / 8);
  else if (queue_size > room / 64) memset(seen, 0, room / 8);
  else for (u64 i = 0; i < queue_size; i++) seen[queue[i] >> 6] = 0;
  queue_size = layers = next_place = stop_place = 0;
  for (int i = 0; i <= GOALS; i++) first[i] = -1;
  memset(&missing, 0, sizeof missing);
}
/* Tries about so many inputs. Whether the search is over, at the end of a layer. */
static int listed(void); /* see arrows.c */
static void expand_listed(u64 p);
static int go(u64 portion) {
  u64 begun = tried;
  while (!failed) {
    for (; next_place < stop_place && !failed; next_place++) {
      if (tried - begun >= portion) return 0;
      if (listed() && !whole) expand_listed(queue[next_place]);
      else expand(queue[next_place]);
    }
    if (failed || queue_size == stop_place || (!whole && !any(&missing))) return 1;
    end_layer();
  }
  return 1;
}
static int lies(KEY key, int goal, KEY *after, int *input) {
  Here here;
  Inputs inputs;
  Set set;
  unpack(key, &here);
  if (!(ON_STEP[goal >> 6] >> (goal & 63) & 1)) {
    state_goals(&here, set.bit);
    *after = key;
    *input = -1;
    return set.bit[goal >> 6] >> (goal & 63) & 1;
  }
  inputs = inputs_of(&here);
  tried += inputs.end - inputs.begin;
  for (u64 i = inputs.begin; i < inputs.end; i++)
    if (step(&here, *input = kinds.input[i], after, set.bit) && set.bit[goal >> 6] >> (goal & 63) & 1) return 1;
  return 0;
}
/* The inputs of the run to the first goal `goal`: of all states and inputs the least come first, from its end on. */
static struct { int goal, own, found; int32_t depth, length; u64 at, stop; KEY target, best, end; } trail;
static int32_t *trail_inputs;
static u64 trail_room;
static void way(int goal) {
  memset(&trail, 0, sizeof trail);
  trail.goal = goal;
  trail.depth = first[goal];
  trail.at = layer_from[trail.depth];
  trail.stop = trail.depth + 1 < (int32_t)layers ? layer_from[trail.depth + 1] : stop_place;
  if ((u64)trail.depth >= trail_room) {
    trail_inputs = more(trail_inputs, trail_room * sizeof(int32_t), 2 * (trail.depth + (u64)1) * sizeof(int32_t));
    if (!failed) trail_room = 2 * (trail.depth + (u64)1);
  }
}
/* Tries about so many inputs of states of the layers before the goal once more. Whether the run is complete. */
static int follow(u64 portion) {
  u64 begun = tried;
  while (1) {
    for (; trail.at < trail.stop; trail.at++) {
      KEY key = key_of(queue[trail.at]), after;
      Here here;
      Set set;
      Inputs inputs;
      int input;
      if (tried - begun >= portion) return 0;
      tried++;
      if (trail.found && !less_key(key, trail.best)) continue;
      if (trail.goal >= 0) {
        if (lies(key, trail.goal, &after, &input)) { trail.found = 1; trail.best = key; trail.end = after; trail.own = input; }
        continue;
      }
      unpack(key, &here);
      inputs = inputs_of(&here);
      tried += inputs.end - inputs.begin;
      for (u64 i = inputs.begin; i < inputs.end; i++)
        if (step(&here, input = kinds.input[i], &after, set.bit) && same_key(after, trail.target)) { trail.found = 1; trail.best = key; trail.own = input; break; }
    }
    if (trail.own >= 0) trail_inputs[trail.length++] = trail.own;
    if (!trail.depth) return 1;
    trail.target = trail.best;
    trail.goal = -1;
    trail.found = 0;
    trail.stop = layer_from[trail.depth--];
    trail.at = layer_from[trail.depth];
  }
}
static void from(const char *what) {
  whole = 0;
  begin();
  if (failed) return;
  if (!strcmp(what, "starts")) { /* everything that is reached, to its end */
    whole = 1;
    memset(&missing, -1, sizeof missing);
    for (u64 i = 0; i < start_count && !failed; i++) visit(starts[i]);
  } else if (!strcmp(what, "ends")) { /* goal; which conditions are sought */
    u64 goal = word(), i;
    for (i = 0; i < WORDS; i++) missing.bit[i] = word();
    for (i = 0; ends[goal] && i < room / 64; i++)
      for (u64 left = ends[goal][i]; left; left &= left - 1) {
        u64 p = 64 * i + __builtin_ctzll(left);
        if (!has(seen, p)) { add(seen, p); push(p); }
      }
  } else { /* the goal that is sought; whether from the starts, else from which key */
    u64 goal = word();
    missing.bit[goal >> 6] = (u64)1 << (goal & 63);
    if (!word()) visit(key_word());
    else for (u64 i = 0; i < start_count && !failed; i++) visit(starts[i]);
  }
  end_layer();
}
static int covering(const char *what); /* see covering.c */
/* The words that come with the program, in a file where it begins. */
static void read_data(void) {
  FILE *file = fopen("data", "rb");
  long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : 0;
  data = malloc(size > 0 ? (size_t)size : 1);
  if (file) rewind(file);
  if (size < 0 || !data || (file && fread(data, 1, (size_t)size, file) != (size_t)size)) exit(1);
  if (file) fclose(file);
}
int main(void) {
  read_data();
  while (fgets(line, sizeof line, stdin)) {
    char *what = strtok(line, " \n");
    if (!strcmp(what, "hello")) printf("hello");
    else if (!strcmp(what, "input")) { /* its cases, group by group */
      u64 number = word();
      for (int i = 0; i < GROUPS; i++) printf("%d ", all_inputs.cases[number][i]);
    } else if (!strcmp(what, "inputs")) {
      for (u64 k = 0; k < all_inputs.count; k++) for (int i = 0; i < GROUPS; i++) printf("%d ", all_inputs.cases[k][i]);
    } else if (!strcmp(what, "limit")) { limit = word(); printf("ok"); }
    else if (!strcmp(what, "start")) { add_start(key_word()); printf("ok"); }
    else if (!strcmp(what, "go")) {
      int over = go(word());
      printf("%s %llu %llu %llu", failed == 3 ? "many" : failed == 2 ? "wrong" : failed ? "memory" : over ? "over" : "more", (unsigned long long)tried,
             (unsigned long long)queue_size, (unsigned long long)taken);
    } else if (!strcmp(what, "first")) {
      for (int i = 0; i < GOALS; i++) printf("%d ", first[i]);
    } else if (!strcmp(what, "together")) {
      for (int i = 0; i < GOALS; i++) for (int k = 0; k < WORDS; k++) printf("%llx ", (unsigned long long)together[i].bit[k]);
    } else if (!strcmp(what, "way")) { way((int)word()); printf(failed ? "memory" : "ok"); }
    else if (!strcmp(what, "follow")) { /* how many states; without an answer there is more to do */
      int over = follow(word());
      printf("%llu ", (unsigned long long)tried);
      if (over) { show(trail.end); show(trail.best); }
      for (int32_t i = 0; over && i < trail.length; i++) printf("%d ", trail_inputs[i]);
    }
    else if (!covering(what)) { from(what); printf("ok"); }
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
