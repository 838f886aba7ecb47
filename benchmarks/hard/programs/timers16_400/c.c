#include <stdint.h>
#include <stdbool.h>
enum { T = 400 };
typedef enum { OFF, DELAY, RUN, COOL, TRIP } M;
bool start, stop, hot, ack;
static struct { M m; uint16_t delay, run, cool; uint8_t trips; bool k1, fan; } s;
void init(void) { s.m = OFF; s.delay = 0; s.run = 0; s.cool = 0; s.trips = 0; s.k1 = false; s.fan = false; }
void step(void) {
  switch (s.m) {
  case OFF: if (start && !stop) { s.m = DELAY; s.delay = 0; } break;
  case DELAY:
    if (stop) s.m = OFF;
    else if (++s.delay >= T / 4) { s.m = RUN; s.run = 0; s.k1 = true; }
    break;
  case RUN:
    if (s.run < T) s.run++;
    if (hot) { s.m = TRIP; s.k1 = false; s.fan = true; if (s.trips < 3) s.trips++; s.cool = T; }
    else if (stop && s.run >= T / 10) { s.m = COOL; s.k1 = false; s.fan = true; s.cool = s.run >= T / 2 ? T / 2 : s.run; }
    break;
  case COOL:
    if (s.cool > 0) s.cool--;
    if (hot) { s.m = TRIP; if (s.trips < 3) s.trips++; s.cool = T; }
    else if (s.cool == 0) { s.m = OFF; s.fan = false; }
    break;
  case TRIP:
    if (s.cool > 0 && !hot) s.cool--;
    if (s.cool == 0 && ack && s.trips < 3) { s.m = OFF; s.fan = false; }
    else if (s.trips == 3 && ack && stop && s.cool < T / 2) { s.m = COOL; s.trips = 0; }
    break;
  }
}
