/* Operations on columns of LANES words each, one after the other. Before this text come the helpers of bmc/native/kernel.py.

   An operation is seven words: what it does (see OPERATIONS in bmc/explicit/columns_in_c.py, which names the cases in
   this order), the slot of its result, those of its arguments, and two parameters. A slot is a column of u64, each the
   raw pattern of a value; no operation writes a slot that it reads. */

#define LANES 64
typedef struct { int64_t what, to, a, b, c, p; u64 m; } Operation;

#define EACH(EXPRESSION) for (i = 0; i < LANES; i++) t[i] = (EXPRESSION); break;
#define A a[i]
#define B b[i]
#define C c[i]
#define S(x) ((int64_t)((x) << (64 - p)) >> (64 - p)) /* a word of p bits with its sign */

static void operate(const Operation *o, u64 *slots) {
  u64 *restrict t = slots + o->to * LANES;
  const u64 *restrict a = slots + o->a * LANES, *restrict b = slots + o->b * LANES, *restrict c = slots + o->c * LANES;
  const u64 m = o->m;
  const int p = (int)o->p;
  int i;
  switch (o->what) {
CASES
  }
}

/* Reads so many columns of count words each, made of all rows of `in`, and writes all rows of `out`. */
void evaluate(const Operation *operations, int64_t number, u64 *slots, const u64 *in, const int64_t *read, int64_t reads,
              u64 *out, const int64_t *results, int64_t result_count, int64_t count) {
  int64_t first, k;
  for (first = 0; first < count; first += LANES) {
    const int64_t part = count - first < LANES ? count - first : LANES;
    for (k = 0; k < reads; k++) memcpy(slots + read[k] * LANES, in + k * count + first, part * sizeof(u64));
    for (k = 0; k < number; k++) operate(operations + k, slots);
    for (k = 0; k < result_count; k++) memcpy(out + k * count + first, slots + results[k] * LANES, part * sizeof(u64));
  }
}
