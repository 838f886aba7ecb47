/* Elevator of five floors; the control loop runs every 50 ms. */
#include <stdint.h>

#define FLOORS 5
#define TRAVEL 60U     /* ticks from floor to floor */
#define DOOR_TIME 80U  /* ticks that the door stays open */
#define DOOR_MOVE 20U
#define HOME_TIME 600U /* ticks without a call after which the car goes home */

typedef enum { IDLE, MOVING_UP, MOVING_DOWN, DOOR_OPENING, DOOR_OPEN, DOOR_CLOSING } Mode;

typedef struct {
  uint8_t cabin[FLOORS]; /* buttons in the car */
  uint8_t hall[FLOORS];  /* buttons at the floors */
  uint8_t door_blocked;
} Buttons;

typedef struct {
  Mode mode;
  uint8_t floor;
  int8_t dir; /* 1 up, -1 down, 0 none */
  uint8_t calls[FLOORS];
  uint32_t clock;
  uint32_t stamp;
  uint16_t trips;
} Car;

Buttons buttons;
Car car;

void elevator_init(void)
{
  uint8_t f;
  car.mode = IDLE;
  car.floor = 0;
  car.dir = 0;
  for (f = 0; f < FLOORS; f++)
    car.calls[f] = 0;
  car.clock = 0;
  car.stamp = 0;
  car.trips = 0;
}

static int calls_above(void)
{
  int f;
  for (f = 0; f < FLOORS; f++)
    if (f > car.floor && car.calls[f])
      return 1;
  return 0;
}

static int calls_below(void)
{
  int f;
  for (f = 0; f < FLOORS; f++)
    if (f < car.floor && car.calls[f])
      return 1;
  return 0;
}

static void set_mode(Mode m)
{
  car.mode = m;
  car.stamp = car.clock;
}

static void leave(void)
{
  if (car.dir >= 0 && calls_above()) {
    car.dir = 1;
    set_mode(MOVING_UP);
  } else if (calls_below()) {
    car.dir = -1;
    set_mode(MOVING_DOWN);
  } else if (calls_above()) {
    car.dir = 1;
    set_mode(MOVING_UP);
  } else {
    car.dir = 0;
    set_mode(IDLE);
  }
}

void elevator_step(void)
{
  uint8_t f;

  car.clock++;
  for (f = 0; f < FLOORS; f++)
    if (buttons.cabin[f] || buttons.hall[f])
      car.calls[f] = 1;

  switch (car.mode) {
  case IDLE:
    if (car.calls[car.floor])
      set_mode(DOOR_OPENING);
    else if (calls_above() || calls_below())
      leave();
    else if (car.floor != 0 && car.clock - car.stamp >= HOME_TIME)
      car.calls[0] = 1;
    break;
  case MOVING_UP:
  case MOVING_DOWN:
    if (car.clock - car.stamp >= TRAVEL) {
      car.floor = (uint8_t)(car.floor + car.dir);
      car.stamp = car.clock;
      if (car.calls[car.floor]) {
        car.trips++;
        set_mode(DOOR_OPENING);
      }
    }
    break;
  case DOOR_OPENING:
    if (car.clock - car.stamp >= DOOR_MOVE) {
      car.calls[car.floor] = 0;
      set_mode(DOOR_OPEN);
    }
    break;
  case DOOR_OPEN:
    if (buttons.door_blocked || car.calls[car.floor]) {
      car.calls[car.floor] = 0;
      car.stamp = car.clock;
    } else if (car.clock - car.stamp >= DOOR_TIME)
      set_mode(DOOR_CLOSING);
    break;
  case DOOR_CLOSING:
    if (buttons.door_blocked)
      set_mode(DOOR_OPENING);
    else if (car.clock - car.stamp >= DOOR_MOVE)
      leave();
    break;
  }
}
