/* The steps to come along an order of conditions: the fewest in which a run from a state meets them one after the other,
   each in the step or state in which the one before was met or in a later one, and then ends. This text follows
   covering.c, by which states are merged and steps are listed backward; states go by the numbers of their classes. */

static struct { int count, done, order[GOALS + 1]; u64 classes; uint32_t **row; } along;

static void drop_along(void) {
  for (int k = 0; along.row && k <= along.count; k++) less(along.row[k], along.classes * sizeof(uint32_t));
  less(along.row, (along.count + 1) * sizeof *along.row);
  memset(&along, 0, sizeof along);
}
static void begin_along(void) { /* how many conditions, and which, one after the other */
  drop_along();
  along.count = (int)word();
  for (int k = 0; k < along.count; k++) along.order[k] = (int)word();
  along.row = more(0, 0, (along.count + 1) * sizeof *along.row);
  along.done = along.count + 1;
  along.classes = merged.count;
}
/* One more row: for each class the steps to come once all conditions before `along.done` are met. */
static void add_row(void) {
  int k = along.done - 1;
  uint32_t *row = along.row[k] = more(0, 0, merged.count * sizeof(uint32_t));
  if (failed) return;
  along.done = k;
  if (k == along.count) { memcpy(row, c.to_end, merged.count * sizeof(uint32_t)); return; }
  for (u64 from = 0; from < merged.count; from++) {
    row[from] = UINT32_MAX;
    for (u64 i = merged.first[from]; i < merged.first[from + 1]; i++) {
      Edge edge = merged.edge[i];
      const Set *met = &all.set[edge.met];
      int then = k;
      while (then < along.count && met->bit[along.order[then] >> 6] >> (along.order[then] & 63) & 1) then++;
      if (then > k && along.row[then][edge.end] != UINT32_MAX && along.row[then][edge.end] + 1 < row[from])
        row[from] = along.row[then][edge.end] + 1;
    }
  }
  spread(row);
}
static void show_row(u64 k) {
  for (u64 i = 0; i < merged.count; i++) printf(" %d", along.row[k][i] == UINT32_MAX ? -1 : (int)along.row[k][i]);
}
/* The answer to a question of this text. */
static int guiding(const char *what) {
  if (!strcmp(what, "along")) begin_along();
  else if (!strcmp(what, "add")) add_row();
  else if (!strcmp(what, "row")) { show_row(word()); return 1; }
  else if (!strcmp(what, "classes")) { for (u64 i = 0; i < all.count; i++) printf(" %u", merged.class_of[i]); return 1; }
  else if (!strcmp(what, "keys")) { for (u64 i = 0; i < all.count; i++) { printf(" "); show(key_of(place_at(i))); } return 1; }
  else return 0;
  printf("%s %d", failed ? "memory" : "done", along.done);
  if (failed == 1) { failed = 0; drop_along(); }
  return 1;
}
