#include <stdint.h>
#include <stdbool.h>
uint16_t volt, amp; bool reset;
static struct { uint32_t power, energy, peak, ratio; uint8_t over, mode; } s;
void init(void) { s.power = 0; s.energy = 0; s.peak = 0; s.ratio = 0; s.over = 0; s.mode = 0; }
void step(void) {
  s.power = (uint32_t)volt * amp;
  s.energy += s.power >> 4;
  if (s.power > s.peak) s.peak = s.power;
  s.ratio = amp ? volt / amp : 0;
  if (s.power > 32768u) { if (s.over < 5) s.over++; } else s.over = 0;
  switch (s.mode) {
  case 0: if (s.over == 3) s.mode = 1; break;
  case 1: if (s.over == 0 && s.ratio % 7 == 3) s.mode = 2; break;
  default: if (reset) { s.mode = 0; s.energy = 0; s.peak = 0; } break;
  }
}
