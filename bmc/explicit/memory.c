/* Memory as far as the limit goes: `failed` becomes 1 where it ends. */

static u64 limit, taken;

static void *more(void *old, u64 before, u64 after) {
  void *found;
  if (taken + (after - before) > limit) { failed = 1; return old; }
  if (!before) found = calloc(after, 1); /* pages that are never touched take no memory */
  else if ((found = realloc(old, after))) memset((char *)found + before, 0, after - before);
  if (!found) { failed = 1; return old; }
  taken += after - before;
  return found;
}
static void *less(void *old, u64 size) { if (old) taken -= size; free(old); return 0; }
