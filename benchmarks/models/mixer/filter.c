/* Functions for the mixer: a median-of-three filter and saturation. */
#include "mixer.h"

static void order(int16_t *low, int16_t *high) {
  if (*low > *high) {
    int16_t keep = *low;
    *low = *high;
    *high = keep;
  }
}

/* The median of the last three errors. */
int16_t filter_update(filter_t *filter, int16_t error) {
  int16_t a, b, c;
  int k = 2;

  do {
    filter->history[k] = filter->history[k - 1];
    k--;
  } while (k > 0);
  filter->history[0] = error;

  a = filter->history[0];
  b = filter->history[1];
  c = filter->history[2];
  order(&a, &b);
  order(&b, &c);
  order(&a, &b);
  return b;
}

int16_t saturate(int32_t value, int16_t low, int16_t high) {
  return (int16_t)(value < low ? low : value > high ? high : value);
}
