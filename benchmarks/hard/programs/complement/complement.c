/* A value is kept twice, the second time by its complement: what checks that never fires. */
#include <stdint.h>
#include <stdbool.h>
typedef struct { uint16_t v; bool set, count; } In;
typedef struct { uint16_t value, copy; uint32_t total; uint8_t m; } St;
In in; St s;
void init(void) { s.value = 0; s.copy = 0xFFFF; s.total = 0; s.m = 0; }
void step(void) {
  if ((uint16_t)~s.value != s.copy) { s.m = 7; return; }
  if (in.set) { s.value = in.v; s.copy = (uint16_t)~in.v; }
  if (in.count) s.total += s.value;
  if (s.m == 0 && s.total > 100000u) s.m = 1; else if (s.m == 1 && in.set && in.v == 12345) s.m = 2; else if (s.m == 2 && !in.count) s.m = 0;
}
