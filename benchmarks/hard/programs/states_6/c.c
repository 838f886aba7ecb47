#include <stdint.h>
#include <stdbool.h>
bool up[6], down; static uint8_t n[6]; static bool lock;
void init(void) { for (int i = 0; i < 6; i++) n[i] = 0; lock = false; }
void step(void) {
  if (up[0]) { if (n[0] < 9) n[0]++; } else if (down && n[0] > 0) n[0]--;
  if (up[1] && n[0] >= n[1] / 2) { if (n[1] < 9) n[1]++; } else if (down && n[1] > 0) n[1]--;
  if (up[2] && n[1] >= n[2] / 2) { if (n[2] < 9) n[2]++; } else if (down && n[2] > 0) n[2]--;
  if (up[3] && n[2] >= n[3] / 2) { if (n[3] < 9) n[3]++; } else if (down && n[3] > 0) n[3]--;
  if (up[4] && n[3] >= n[4] / 2) { if (n[4] < 9) n[4]++; } else if (down && n[4] > 0) n[4]--;
  if (up[5] && n[4] >= n[5] / 2) { if (n[5] < 9) n[5]++; } else if (down && n[5] > 0) n[5]--;
  lock = n[0] == 9 && n[5] == 0;
}
