#include <stdbool.h>
#include <stdint.h>
typedef struct { float sp, y, aux; bool on; } In;
typedef struct { float f, integ, last, u, rate, f2; uint8_t mode, n; bool sat; } St;
In in; St s;
static const float X1[6] = { 0.0F, 10.0F, 20.0F, 40.0F, 60.0F, 100.0F };
static const float Y1[6] = { 0.5F, 0.8F, 1.0F, 1.3F, 1.4F, 1.5F };
static float look1(float x)
{
  uint32_t i = 0U;
  if (x <= X1[0]) return Y1[0];
  if (x >= X1[5]) return Y1[5];
  while (i < 4U && x >= X1[i + 1U]) i++;
  return Y1[i] + (Y1[i + 1U] - Y1[i]) * ((x - X1[i]) / (X1[i + 1U] - X1[i]));
}
void init(void) { s.f = 0.0F; s.integ = 0.0F; s.last = 0.0F; s.u = 0.0F; s.rate = 0.0F; s.f2 = 0.0F; s.mode = 0; s.n = 0; s.sat = false; }
void step(void)
{
  float e, u, k = 1.0F;
  s.f = s.f + 0.2F * (in.y - s.f);
  k = look1(s.f);
  e = in.sp - s.f;
  u = k * 2.0F * e + s.integ + 0.5F * (e - s.last);
  s.last = e;
  s.sat = false;
  if (u > 100.0F) { u = 100.0F; s.sat = true; }
  if (u < 0.0F) { u = 0.0F; s.sat = true; }
  if (!s.sat) s.integ += 0.1F * e;
  s.u = in.on ? u : 0.0F;
  switch (s.mode) {
  case 0: if (in.on) s.mode = 1; break;
  case 1: if (!in.on) s.mode = 0; else if (s.f > 80.0F) { s.mode = 2; s.n = 0; } break;
  case 2: if (s.n < 10) s.n++; if (s.f < 70.0F) s.mode = 1; else if (s.n == 10) s.mode = 3; break;
  default: if (!in.on && s.f < 30.0F) s.mode = 0; break;
  }
}
