/* Kinds of states (bmc/explicit/kinds.py): the inputs to try in a state are, of all that do the same in the states of its
   kind, the first ones. They are found when the first state of a kind is met: what an input does is evaluated as far as
   it matters, and the values of a group of inputs are given when they are first read (C. Boyapati, S. Khurshid,
   D. Marinov: Korat, 2002). Of two values that agree in all that was read only the first is tried.
   Before this text come generated parts:

   GROUPS        number of groups of inputs; group_size: how many cases each has
   PARTS         number of terms over one group each; MOST_PARTS: most over the same one; first_part: the first one of
                 each group, part_group: the group of each
   part_data     the place of the values of each in `data`, case by case; -1: part_of_state makes those for a state
   EVERY, every_input: how many inputs stand for all others whatever the state is, 0: too many, and where their cases are
   TOLD, PICKED  numbers of words
   tell          the words by which kinds of states are told
   Given, give   what a step makes of the inputs alone, for a case of each group */

#define SHARE 8 /* of the memory, that kinds take; those of which there is no room are told apart in each state */
#define MOST_EVALUATED (1 << 16) /* evaluations for one kind; with twice as many, inputs that matter together are searched later */
#define EVALUATED 16 /* trials of an input that take as long as an evaluation */
#define COMPARED 512 /* comparisons of two cases that take as long */
#define FIRST_KINDS 64 /* that are told apart, whatever it takes */
#define READ ((MOST_PARTS + 63) / 64)

typedef struct { u64 begin, end; } Inputs;
typedef struct { u64 told[TOLD]; Inputs inputs; } Kind;
typedef struct { int at; u64 read[READ]; } Case;

static u64 tried; /* inputs */
static struct {
  u64 count, room, slot_count, states, taken, inputs, input_room, own_slots, picked_room, most, *slot, *picked;
  uint32_t *own;
  Kind *kind;
  int *input;
} kinds;
static struct {
  const Here *here;
  u64 round;
  int depth, stack[GROUPS + 1];
  struct { int given; u64 earlier; Case now, *tried; } group[GROUPS + 1];
  struct { u64 kind, *value; } part[PARTS + 1];
  u64 kind, compared;
} trial;
static struct { u64 count, room, slot_count; uint32_t *slot; int (*cases)[GROUPS + 1]; } all_inputs;
static Given *given;

static inline u64 mixed_words(const u64 *words, int count) {
  u64 x = 0;
  for (int i = 0; i < count; i++) { x = (x ^ words[i]) * 0x9E3779B97F4A7C15ull; x ^= x >> 32; }
  return x;
}
/* The values of a term over a group in the states of the kind that is looked at, by case. */
static const u64 *values_of(int number) {
  if (part_data[number] >= 0) return data + part_data[number];
  if (trial.part[number].kind != trial.kind) {
    u64 size = group_size[part_group[number]] * sizeof(u64);
    if (!trial.part[number].value) trial.part[number].value = more(0, 0, size);
    if (failed) return 0;
    part_of_state[number](trial.here, trial.part[number].value);
    trial.part[number].kind = trial.kind;
  }
  return trial.part[number].value;
}
/* The value of a term over a group, which gets its first case where it has none yet. */
static inline u64 part(int number) {
  const u64 *values = values_of(number);
  int group = part_group[number], place = number - first_part[group];
  if (!trial.group[group].given) {
    trial.group[group].given = 1;
    trial.group[group].earlier = 0;
    memset(&trial.group[group].now, 0, sizeof(Case));
    trial.stack[trial.depth++] = group;
  }
  trial.group[group].now.read[place >> 6] |= (u64)1 << (place & 63);
  return failed ? 0 : values[trial.group[group].now.at];
}
static int agrees(int group, int at, const Case *earlier) {
  trial.compared++;
  for (int number = first_part[group], place = 0; number < first_part[group + 1]; number++, place++)
    if (earlier->read[place >> 6] >> (place & 63) & 1) {
      const u64 *values = values_of(number); /* which were made when it was read */
      if (values[at] != values[earlier->at]) return 0;
    }
  return 1;
}
/* Goes on to the next case of the group that was read last, which differs in what was read of it. Whether there is one. */
static int next_case(void) {
  for (; trial.depth; trial.depth--) {
    int group = trial.stack[trial.depth - 1], at = trial.group[group].now.at + 1;
    if (!trial.group[group].tried) trial.group[group].tried = more(0, 0, group_size[group] * sizeof(Case));
    if (failed) return 0;
    trial.group[group].tried[trial.group[group].earlier++] = trial.group[group].now;
    for (; at < group_size[group]; at++) {
      u64 i = 0;
      while (i < trial.group[group].earlier && !agrees(group, at, &trial.group[group].tried[i])) i++;
      if (i == trial.group[group].earlier) break;
    }
    if (at < group_size[group]) {
      memset(&trial.group[group].now, 0, sizeof(Case));
      trial.group[group].now.at = at;
      return 1;
    }
    trial.group[group].given = 0;
  }
  return 0;
}
static inline u64 mixed_cases(const int *cases) {
  u64 x = 0;
  for (int i = 0; i < GROUPS; i++) { x = (x ^ (u64)cases[i]) * 0x9E3779B97F4A7C15ull; x ^= x >> 32; }
  return x;
}
/* The number of the input with these cases of the groups. */
static int number_of_cases(const int *cases) {
  u64 at;
  if (all_inputs.count == all_inputs.room) {
    u64 before = all_inputs.room, after = before ? 2 * before : 64;
    all_inputs.cases = more(all_inputs.cases, before * sizeof *all_inputs.cases, after * sizeof *all_inputs.cases);
    given = more(given, before * sizeof(Given), after * sizeof(Given));
    all_inputs.slot = more(all_inputs.slot, all_inputs.slot_count * sizeof(uint32_t), 2 * after * sizeof(uint32_t));
    if (failed) return 0;
    all_inputs.room = after;
    all_inputs.slot_count = 2 * after;
    memset(all_inputs.slot, 0, all_inputs.slot_count * sizeof(uint32_t));
    for (u64 k = 0; k < all_inputs.count; k++) {
      for (at = mixed_cases(all_inputs.cases[k]) & (all_inputs.slot_count - 1); all_inputs.slot[at]; at = (at + 1) & (all_inputs.slot_count - 1)) {}
      all_inputs.slot[at] = (uint32_t)k + 1;
    }
  }
  for (at = mixed_cases(cases) & (all_inputs.slot_count - 1); all_inputs.slot[at]; at = (at + 1) & (all_inputs.slot_count - 1))
    if (!memcmp(all_inputs.cases[all_inputs.slot[at] - 1], cases, GROUPS * sizeof(int))) return (int)all_inputs.slot[at] - 1;
  memcpy(all_inputs.cases[all_inputs.count], cases, GROUPS * sizeof(int));
  give(&given[all_inputs.count], cases);
  all_inputs.slot[at] = (uint32_t)++all_inputs.count;
  return (int)all_inputs.count - 1;
}
/* The number of the input that is tried now; groups that were not read have their first cases. */
static int number_of_input(void) {
  int cases[GROUPS + 1] = {0};
  for (int i = 0; i < GROUPS; i++) if (trial.group[i].given) cases[i] = trial.group[i].now.at;
  return number_of_cases(cases);
}
static void more_kinds(void) {
  u64 before = kinds.room, after = before ? 2 * before : 64;
  kinds.kind = more(kinds.kind, before * sizeof(Kind), after * sizeof(Kind));
  kinds.slot = more(kinds.slot, kinds.slot_count * sizeof(u64), 2 * after * sizeof(u64));
  if (failed) return;
  kinds.room = after;
  kinds.slot_count = 2 * after;
  memset(kinds.slot, 0, kinds.slot_count * sizeof(u64));
  for (u64 i = 0; i < kinds.count; i++) {
    u64 at = mixed_words(kinds.kind[i].told, TOLD) & (kinds.slot_count - 1);
    while (kinds.slot[at]) at = (at + 1) & (kinds.slot_count - 1);
    kinds.slot[at] = i + 1;
  }
}
/* Makes room for one input more of a kind, of which `count` are known. */
static void more_picked(u64 count, u64 end) {
  if (count == kinds.picked_room) {
    u64 after = count ? 2 * count : 64;
    kinds.picked = more(kinds.picked, count * PICKED * sizeof(u64), after * PICKED * sizeof(u64));
    if (!failed) kinds.picked_room = after;
  }
  if (end == kinds.input_room) {
    u64 after = kinds.input_room ? 2 * kinds.input_room : 1 << 10;
    kinds.input = more(kinds.input, kinds.input_room * sizeof(int), after * sizeof(int));
    if (!failed) kinds.input_room = after;
  }
  if (2 * count >= kinds.own_slots) {
    u64 after = kinds.own_slots ? 2 * kinds.own_slots : 64;
    kinds.own = more(kinds.own, kinds.own_slots * sizeof(uint32_t), after * sizeof(uint32_t));
    if (failed) return;
    kinds.own_slots = after;
    memset(kinds.own, 0, after * sizeof(uint32_t));
    for (u64 i = 0; i < count; i++) {
      u64 at = mixed_words(kinds.picked + i * PICKED, PICKED) & (after - 1);
      while (kinds.own[at]) at = (at + 1) & (after - 1);
      kinds.own[at] = (uint32_t)i + 1;
    }
  }
}
static int pick(u64 *word); /* whether an input is allowed in the states of a kind, and what tells what it does there */
/* The inputs to try in the states of the kind of `here`, after those of the other kinds. */
static Inputs told_apart(const Here *here) {
  Inputs found = {kinds.inputs, kinds.inputs};
  u64 evaluated = 0;
  trial.here = here;
  trial.kind++;
  trial.compared = 0;
  memset(kinds.own, 0, kinds.own_slots * sizeof(uint32_t));
  do {
    u64 words[PICKED], at, count = found.end - found.begin;
    trial.round++;
    if (evaluated++ + trial.compared / COMPARED > MOST_EVALUATED) failed = 3;
    else if (pick(words)) {
      more_picked(count, found.end);
      if (failed) break;
      at = mixed_words(words, PICKED) & (kinds.own_slots - 1);
      for (; kinds.own[at] && memcmp(kinds.picked + (kinds.own[at] - 1) * PICKED, words, sizeof words); at = (at + 1) & (kinds.own_slots - 1)) {}
      if (!kinds.own[at]) {
        memcpy(kinds.picked + count * PICKED, words, sizeof words);
        kinds.own[at] = (uint32_t)count + 1;
        kinds.input[found.end++] = number_of_input();
      }
    }
  } while (!failed && next_case());
  for (; trial.depth; trial.depth--) trial.group[trial.stack[trial.depth - 1]].given = 0;
  evaluated = EVALUATED * (evaluated + trial.compared / COMPARED);
  tried += evaluated;
  kinds.taken += evaluated;
  if (found.end - found.begin > kinds.most) kinds.most = found.end - found.begin;
  return found;
}
/* The inputs that stand for all others, whatever the state is. */
static Inputs every(void) {
  static int made;
  static u64 begin;
  int cases[GROUPS + 1] = {0};
  if (!made) {
    u64 size = kinds.input_room;
    while (size < kinds.inputs + EVERY) size = size ? 2 * size : 1 << 10;
    kinds.input = more(kinds.input, kinds.input_room * sizeof(int), size * sizeof(int));
    if (failed) return (Inputs){0, 0};
    kinds.input_room = size;
    begin = kinds.inputs;
    for (u64 i = 0; i < EVERY && !failed; i++) {
      for (int group = 0; group < GROUPS; group++) cases[group] = (int)data[every_input + i * GROUPS + group];
      kinds.input[kinds.inputs++] = number_of_cases(cases);
    }
    if (EVERY > kinds.most) kinds.most = EVERY;
    made = 1;
  }
  return (Inputs){begin, begin + EVERY};
}
/* Whether to tell apart the inputs of one kind more takes longer than to try all in its states, if these are as many as
   those of the kinds so far. */
static int is_in_vain(void) {
  u64 all = kinds.count * EVERY;
  return EVERY && kinds.count >= FIRST_KINDS && (all <= kinds.inputs || kinds.states * (all - kinds.inputs) < kinds.taken * kinds.count);
}
/* The inputs to try in a state: their places among those of all kinds, until those of another state are asked for. */
static Inputs inputs_of(const Here *here) {
  Kind kind = {0};
  u64 at, size = kinds.room * sizeof(Kind) + kinds.input_room * sizeof(int);
  if (kinds.count == kinds.room && size <= limit / SHARE) more_kinds();
  if (failed) return kind.inputs;
  tell(here, kind.told);
  at = mixed_words(kind.told, TOLD) & (kinds.slot_count - 1);
  for (; kinds.slot[at]; at = (at + 1) & (kinds.slot_count - 1))
    if (!memcmp(kinds.kind[kinds.slot[at] - 1].told, kind.told, sizeof kind.told)) {
      kinds.states++;
      return kinds.kind[kinds.slot[at] - 1].inputs;
    }
  if (is_in_vain()) return every();
  kinds.states++;
  kind.inputs = told_apart(here);
  if (!failed && kinds.count < kinds.room) {
    kinds.inputs = kind.inputs.end;
    kinds.slot[at] = kinds.count + 1;
    kinds.kind[kinds.count++] = kind;
  }
  return kind.inputs;
}
