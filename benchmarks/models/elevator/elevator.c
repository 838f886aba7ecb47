/* Elevator for four floors: everything in global variables, one request per floor, a door timer. */

#define FLOORS 4
#define DOOR_TIME 3

enum { DOWN = -1, STILL = 0, UP = 1 };

/* Inputs: one bit per floor's button; something stands in the door. */
unsigned char call_buttons;
unsigned char obstacle;

/* State. */
unsigned char pending[FLOORS];
unsigned int cabin_floor;
signed char direction;
unsigned char door_timer;

/* Outputs. */
unsigned char door_open;
unsigned char lamps;

void elevator_init(void)
{
  int f;

  for (f = 0; f < FLOORS; f++)
    pending[f] = 0;
  cabin_floor = 0;
  direction = STILL;
  door_timer = 0;
  door_open = 0;
  lamps = 0;
}

static void read_buttons(void)
{
  int f;

  for (f = 0; f < FLOORS; f++) {
    if ((call_buttons >> f) & 1)
      pending[f] = 1;
  }
}

static void show_lamps(void)
{
  int f;

  lamps = 0;
  for (f = FLOORS - 1; f >= 0; f--)
    lamps = (unsigned char)((lamps << 1) | pending[f]);
}

/* The nearest requested floor above the cabin, or FLOORS. */
static unsigned int next_above(void)
{
  unsigned int f;

  for (f = 0; f < FLOORS; f++) {
    if (f > cabin_floor && pending[f])
      break;
  }
  return f;
}

static int any_below(void)
{
  unsigned int f;
  int found = 0;

  for (f = 0; f < FLOORS; f++) {
    if (f >= cabin_floor)
      break;
    found |= pending[f];
  }
  return found;
}

static void choose_direction(void)
{
  int above = next_above() < FLOORS;
  int below = any_below();

  if (direction == UP)
    direction = above ? UP : (below ? DOWN : STILL);
  else
    direction = below ? DOWN : (above ? UP : STILL);
}

void elevator_step(void)
{
  read_buttons();
  if (door_open) {
    if (obstacle)
      door_timer = DOOR_TIME;
    else
      door_timer--;
    if (door_timer == 0)
      door_open = 0;
    pending[cabin_floor] = 0;
  } else if (pending[cabin_floor]) {
    pending[cabin_floor] = 0;
    door_open = 1;
    door_timer = DOOR_TIME;
  } else {
    choose_direction();
    if (direction == UP)
      cabin_floor++;
    else if (direction == DOWN)
      cabin_floor--;
  }
  show_lamps();
}
