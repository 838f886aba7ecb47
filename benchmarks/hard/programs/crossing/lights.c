/* Traffic light with a pedestrian crossing; TMR_Tick() from the 1/8 s interrupt. Times are in ticks of an 8-bit counter. */
#include <stdint.h>

typedef struct { uint8_t button; uint8_t night; uint8_t car; uint8_t tram; } detectors_t;

enum { CARS_GREEN, CARS_YELLOW, ALL_RED, WALK, CLEAR, CARS_RED_YELLOW, NIGHT, TRAM };

static volatile uint8_t tick8 = 0; /* wraps */
static uint8_t mark = 0;
static uint8_t phase = CARS_GREEN;
static uint8_t wanted = 0;
static uint8_t extensions = 0;
static uint8_t cycles = 0;
static uint8_t lamp = 0;
static uint8_t tram_waits = 0;

#define SINCE_MARK() ((uint8_t)(tick8 - mark))

static void to(uint8_t next)
{
  phase = next;
  mark = tick8;
}

void TMR_Tick(const detectors_t *d)
{
  tick8 = (uint8_t)(tick8 + 1);
  if (d->button)
    wanted = 1;
  if (d->tram && tram_waits < 200)
    tram_waits++;

  switch (phase) {
  case CARS_GREEN:
    if (d->night && !wanted)
      to(NIGHT);
    else if (d->car && SINCE_MARK() < 120 && extensions < 3 && SINCE_MARK() >= 70) {
      extensions++;
      mark = (uint8_t)(mark + 24);
    } else if ((wanted || tram_waits) && SINCE_MARK() >= 80)
      to(CARS_YELLOW);
    break;
  case CARS_YELLOW:
    if (SINCE_MARK() >= 24)
      to(ALL_RED);
    break;
  case ALL_RED:
    if (SINCE_MARK() >= 12) {
      if (tram_waits >= 40 || (tram_waits && !wanted))
        to(TRAM);
      else if (wanted)
        to(WALK);
      else
        to(CARS_RED_YELLOW);
    }
    break;
  case WALK:
    wanted = 0;
    if (SINCE_MARK() >= 64)
      to(CLEAR);
    break;
  case CLEAR:
    if (SINCE_MARK() >= 40)
      to(CARS_RED_YELLOW);
    break;
  case TRAM:
    tram_waits = 0;
    if (SINCE_MARK() >= 100)
      to(wanted ? WALK : CARS_RED_YELLOW);
    break;
  case CARS_RED_YELLOW:
    if (SINCE_MARK() >= 8) {
      extensions = 0;
      if (cycles < 100)
        cycles++;
      to(CARS_GREEN);
    }
    break;
  case NIGHT:
    lamp = (tick8 & 8) ? 1 : 0;
    if (!d->night || wanted) {
      lamp = 0;
      to(CARS_YELLOW);
    }
    break;
  }
}
