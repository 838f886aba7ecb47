/* Searches in layers over packed states. Above this stand INLINE, VARS, INPUTS, GOALS (the last is the end), SIGNED (the bits of
   a signed variable, else 0), and `here_goals` and `step`, made from the transition system. A variable gets as many bits
   as `layout` says; where a value needs more, the search says which variable and how many. */

#define WORDS (GOALS / 64 + 1)
#define SAMPLES 16384

typedef struct { u64 *keys, count, room; } List;
typedef struct { u64 before[VARS + 1], after[VARS + 1], input; } Sample;

static int shift[VARS + 1], total, wide_var, wide_bits;
static u64 mask[VARS + 1], most, taken;
static u64 *reached, *seen, *ends[GOALS];
static List starts, front, later;
static u64 done, layer, states, steps, tried, depth, first[GOALS], together[GOALS][WORDS];
static Sample samples[SAMPLES];
static u64 sampled, stride, until;

static int get(List *list, u64 key) {
  if (list->count == list->room) {
    u64 room = list->room ? 2 * list->room : 1024;
    if (taken + 8 * room > most) return 0;
    u64 *keys = realloc(list->keys, 8 * room);
    if (!keys) return 0;
    taken += 8 * (room - list->room);
    list->keys = keys, list->room = room;
  }
  list->keys[list->count++] = key;
  return 1;
}

static u64 *bits(void) {
  u64 words = ((u64)1 << total) / 64 + 1;
  if (taken + 8 * words > most) return 0;
  taken += 8 * words;
  return calloc(words, 8);
}

#define HAS(set, key) ((set)[(key) >> 6] >> ((key) & 63) & 1)
#define PUT(set, key) ((set)[(key) >> 6] |= (u64)1 << ((key) & 63))

static void unpack(u64 key, u64 *s) {
  for (int v = 0; v < VARS; v++) {
    u64 z = key >> shift[v] & mask[v];
    if (SIGNED[v]) z = ((z >> 1) ^ -(z & 1)) & (u64)MASK(SIGNED[v]);
    s[v] = z;
  }
}

INLINE int pack(const u64 *s, u64 *key) {
  u64 all = 0;
  for (int v = 0; v < VARS; v++) {
    u64 z = s[v];
    if (SIGNED[v]) { int64_t x = sn(z, SIGNED[v]); z = ((u64)x << 1) ^ (u64)(x >> 63); }
    if (z > mask[v]) {
      wide_var = v, wide_bits = 64 - __builtin_clzll(z);
      return 0;
    }
    all |= z << shift[v];
  }
  *key = all;
  return 1;
}

static void sample(const u64 *s, int input, const u64 *n) {
  if (sampled == SAMPLES) {
    for (u64 at = 0; at < SAMPLES / 2; at++) samples[at] = samples[2 * at];
    sampled = SAMPLES / 2, stride *= 2;
  }
  Sample *one = &samples[sampled++];
  until = stride - 1;
  memcpy(one->before, s, 8 * VARS), memcpy(one->after, n, 8 * VARS), one->input = input;
}

/* The front is over: what comes later is the next one. False if there is none. */
static int next_layer(void) {
  List old = front;
  front = later, later = old, later.count = 0, done = 0, depth++;
  return front.count > 0;
}

static const char *reach(u64 portion) {
  u64 s[VARS + 1], n[VARS + 1], set[WORDS], here[WORDS], key;
  while (done < front.count || next_layer()) {
    if (!portion--) return "more";
    u64 own = front.keys[done++];
    states++, tried += INPUTS;
    unpack(own, s);
    here_goals(s, here);
    for (int g = 0; g < GOALS - 1; g++) if (here[g / 64] >> (g % 64) & 1) PUT(ends[g], own);
    for (int input = 0; input < INPUTS; input++) {
      if (!step(s, input, n, set)) continue;
      if (!pack(n, &key)) return "wide";
      if (!until--) sample(s, input, n);
      steps++;
      if (!HAS(reached, key)) { PUT(reached, key); if (!get(&later, key)) return "memory"; }
      for (int w = 0; w < WORDS; w++) for (u64 left = set[w]; left; left &= left - 1) {
        int g = 64 * w + __builtin_ctzll(left);
        PUT(ends[g], key);
        for (int o = 0; o < WORDS; o++) together[g][o] |= set[o] | here[o];
      }
    }
  }
  return "over";
}

static const char *go(u64 portion, u64 deepest) {
  u64 s[VARS + 1], n[VARS + 1], set[WORDS], here[WORDS], key;
  while (depth <= deepest && (done < front.count || (next_layer() && depth <= deepest))) {
    if (!portion--) return "more";
    unpack(front.keys[done++], s);
    tried += INPUTS;
    here_goals(s, here);
    for (int input = 0; input < INPUTS; input++) {
      if (!step(s, input, n, set)) continue;
      for (int w = 0; w < WORDS; w++) here[w] |= set[w];
      if (!pack(n, &key)) return "wide";
      if (!HAS(seen, key)) { PUT(seen, key); if (!get(&later, key)) return "memory"; }
    }
    for (int w = 0; w < WORDS; w++) for (u64 left = here[w]; left; left &= left - 1) {
      int g = 64 * w + __builtin_ctzll(left);
      if (first[g] == ~(u64)0) first[g] = depth;
    }
  }
  return "over";
}

static int from(int goal) {
  front.count = later.count = done = depth = 0;
  for (int g = 0; g < GOALS; g++) first[g] = ~(u64)0;
  u64 words = ((u64)1 << total) / 64 + 1;
  memset(seen, 0, 8 * words);
  if (goal < 0) {
    for (u64 at = 0; at < starts.count; at++) { PUT(seen, starts.keys[at]); if (!get(&front, starts.keys[at])) return 0; }
    return 1;
  }
  for (u64 w = 0; w < words; w++) for (u64 left = ends[goal][w]; left; left &= left - 1) {
    u64 key = 64 * w + __builtin_ctzll(left);
    PUT(seen, key);
    if (!get(&front, key)) return 0;
  }
  return 1;
}

static const char *layout(void) {
  free(reached), free(seen);
  for (int g = 0; g < GOALS; g++) free(ends[g]), ends[g] = 0;
  reached = seen = 0, taken = 8 * (starts.room + front.room + later.room);
  starts.count = front.count = later.count = done = depth = states = steps = sampled = until = 0, stride = 1;
  memset(together, 0, sizeof together);
  total = 0;
  for (int v = 0; v < VARS; v++) {
    int wide = atoi(strtok(0, " \n"));
    shift[v] = total, mask[v] = wide >= 64 ? ~(u64)0 : ((u64)1 << wide) - 1, total += wide;
  }
  if (total > 40) return "memory";
  reached = bits(), seen = bits();
  for (int g = 0; g < GOALS - 1; g++) if (!(ends[g] = bits())) return "memory";
  return reached && seen ? "ok" : "memory";
}

static const char *start(void) {
  u64 s[VARS + 1], key;
  for (int v = 0; v < VARS; v++) s[v] = strtoull(strtok(0, " \n"), 0, 16);
  if (!pack(s, &key)) return "wide";
  if (!HAS(reached, key)) {
    PUT(reached, key);
    if (!get(&starts, key) || !get(&front, key)) return "memory";
  }
  return "ok";
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    const char *what = strtok(line, " \n"), *said = "ok";
    if (!strcmp(what, "limit")) most = strtoull(strtok(0, " \n"), 0, 10);
    else if (!strcmp(what, "layout")) said = layout();
    else if (!strcmp(what, "start")) said = start();
    else if (!strcmp(what, "reach")) said = reach(strtoull(strtok(0, " \n"), 0, 10));
    else if (!strcmp(what, "from")) said = from(atoi(strtok(0, " \n"))) ? "ok" : "memory";
    else if (!strcmp(what, "go")) {
      u64 portion = strtoull(strtok(0, " \n"), 0, 10);
      said = go(portion, strtoull(strtok(0, " \n"), 0, 10));
    }
    printf("%s %d %d %llu %llu %llu", said, wide_var, wide_bits, (unsigned long long)tried, (unsigned long long)states,
           (unsigned long long)steps);
    if (!strcmp(what, "first")) for (int g = 0; g < GOALS; g++) printf(" %lld", (long long)first[g]);
    if (!strcmp(what, "together"))
      for (int g = 0; g < GOALS; g++) for (int w = 0; w < WORDS; w++) printf(" %llu", (unsigned long long)together[g][w]);
    if (!strcmp(what, "samples")) for (u64 at = 0; at < sampled; at++) {
      printf(" %llu", (unsigned long long)samples[at].input);
      for (int v = 0; v < VARS; v++) printf(" %llu", (unsigned long long)samples[at].before[v]);
      for (int v = 0; v < VARS; v++) printf(" %llu", (unsigned long long)samples[at].after[v]);
    }
    puts("");
    fflush(stdout);
  }
  return 0;
}
