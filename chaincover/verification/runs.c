/* All runs, step by step, by state and goals covered: a table of bits has for each state every set of goals that some
   run had there, and all sets within it. The moves between states are read from a file of 64-bit words: where the moves
   of each state begin, their targets, the goals that each covers with those of its target, the goals in each state, and
   whether a run may end there. */

static u64 most, states, moves, depth, done, nodes, *words, *first, *target, *covers, *here, *ends, *had;
static int wanted;
typedef struct { u64 *nodes, count, room; } List;
static List front, later;

#define HAS(set, at) ((set)[(at) >> 6] >> ((at) & 63) & 1)

static u64 number(void) { return strtoull(strtok(0, " \n"), 0, 10); }
static int put(List *list, u64 node) {
  if (list->count == list->room) {
    u64 room = list->room ? 2 * list->room : 1024;
    if (8 * (room + front.room + later.room) > most) return 0;
    u64 *larger = realloc(list->nodes, 8 * room);
    if (!larger) return 0;
    list->nodes = larger, list->room = room;
  }
  list->nodes[list->count++] = node;
  return 1;
}
static void mark(u64 state, u64 set) {
  u64 at = state << wanted | set;
  if (HAS(had, at)) return;
  had[at >> 6] |= (u64)1 << (at & 63);
  for (u64 left = set; left; left &= left - 1) mark(state, set & ~(left & -left));
}
static const char *arrive(u64 state, u64 set) {
  if (HAS(had, state << wanted | set)) return "";
  mark(state, set);
  nodes++;
  if (set + 1 == (u64)1 << wanted && ends[state]) return "found";
  return put(&later, state << wanted | set) ? "" : "memory";
}
static int next_layer(void) {
  List old = front;
  front = later, later = old, later.count = 0, done = 0;
  return front.count > 0;
}
static const char *load(const char *name) {
  u64 size;
  FILE *file = fopen(name, "rb");
  states = number(), moves = number(), wanted = (int)number();
  size = 3 * states + 1 + 2 * moves;
  had = calloc((states << wanted) / 64 + 1, 8), words = malloc(8 * size);
  if (!file || !had || !words || fread(words, 8, size, file) != size) return "memory";
  fclose(file);
  first = words, target = first + states + 1, covers = target + moves, here = covers + moves, ends = here + states;
  return "ok";
}
static const char *begin(u64 state) {
  const char *said = arrive(state, here[state]);
  return *said ? said : "ok";
}
/* Whether a run of fewer than so many steps covers them all and ends as asked: "found" after `depth` steps. */
static const char *runs(u64 portion, u64 below) {
  while (done < front.count || next_layer()) {
    if (depth + 1 >= below) return "over";
    if (!portion--) return "more";
    u64 own = front.nodes[done++], state = own >> wanted, set = own & (((u64)1 << wanted) - 1);
    for (u64 at = first[state]; at < first[state + 1]; at++) {
      const char *said = arrive(target[at], set | covers[at]);
      depth += !strcmp(said, "found");
      if (*said) return said;
    }
    depth += done == front.count;
  }
  return "over";
}

int main(void) {
  static char line[1 << 16];
  while (fgets(line, sizeof line, stdin)) {
    const char *what = strtok(line, " \n"), *said = "ok";
    if (!strcmp(what, "limit")) most = number();
    else if (!strcmp(what, "load")) said = load(strtok(0, " \n"));
    else if (!strcmp(what, "begin")) said = begin(number());
    else if (!strcmp(what, "runs")) { u64 portion = number(); said = runs(portion, number()); }
    printf("%s %llu %llu\n", said, (unsigned long long)depth, (unsigned long long)nodes);
    fflush(stdout);
  }
  return 0;
}
