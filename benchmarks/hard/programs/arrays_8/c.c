#include <stdint.h>
#include <stdbool.h>
#define N 8
uint8_t sample; bool take, clear;
static uint8_t buf[N]; static uint16_t at, fill; static uint32_t sum; static uint8_t peak; static bool alarm;
void init(void) { for (int i = 0; i < N; i++) buf[i] = 0; at = 0; fill = 0; sum = 0; peak = 0; alarm = false; }
void step(void) {
  if (clear) { at = 0; fill = 0; sum = 0; peak = 0; alarm = false; for (int i = 0; i < N; i++) buf[i] = 0; return; }
  if (!take) return;
  sum -= buf[at]; buf[at] = sample; sum += sample;
  if (sample > peak) peak = sample;
  at = (uint16_t)(at + 1 == N ? 0 : at + 1);
  if (fill < N) fill++;
  alarm = fill == N && sum > (uint32_t)N * 100u;
}
