/* Washing machine. The main loop calls washer_tick() every 20 ms; seconds and minutes are made of ticks. */
typedef unsigned char BYTE;
typedef int BOOL;

#define TICKS_PER_SECOND 50
#define FILL_TIMEOUT 120 /* s */
#define SPIN_MINUTES 3
#define TRUE 1
#define FALSE 0

enum { STOPPED, FILLING, HEATING, WASHING, DRAINING, SPINNING, FAILED };

BYTE start_key, stop_key, door_closed, level_full, level_empty, temperature, program;

static int tick;          /* counts on, never set back */
static int second_start;  /* tick at which the running second began */
static BYTE seconds, minutes;
static BYTE phase, rinses, drum;
static int phase_seconds;
static BYTE wash_minutes, wash_degrees;
static BOOL motor, valve, heater, pump;

void washer_init(void)
{
  tick = 0;
  second_start = 0;
  seconds = minutes = 0;
  phase = STOPPED;
  rinses = drum = 0;
  phase_seconds = 0;
  wash_minutes = wash_degrees = 0;
  motor = valve = heater = pump = FALSE;
}

static void begin(BYTE next)
{
  phase = next;
  phase_seconds = 0;
  minutes = 0;
  seconds = 0;
}

static void clock_tick(void)
{
  tick++;
  if (tick - second_start >= TICKS_PER_SECOND) {
    second_start = tick;
    if (phase_seconds < 30000)
      phase_seconds++;
    seconds++;
    if (seconds == 60) {
      seconds = 0;
      if (minutes < 99)
        minutes++;
    }
  }
}

void washer_tick(void)
{
  clock_tick();

  if (phase != STOPPED && phase != FAILED && (stop_key || !door_closed)) {
    motor = heater = valve = FALSE;
    pump = !level_empty;
    begin(STOPPED);
    return;
  }

  switch (phase) {
  case STOPPED:
    if (start_key && door_closed && !stop_key) {
      wash_minutes = program == 0 ? 5 : program == 1 ? 15 : 30;
      wash_degrees = program == 2 ? 60 : 40;
      rinses = 0;
      pump = FALSE;
      valve = TRUE;
      begin(FILLING);
    }
    break;
  case FILLING:
    if (level_full) {
      valve = FALSE;
      if (rinses == 0) {
        heater = TRUE;
        begin(HEATING);
      } else
        begin(WASHING);
    } else if (phase_seconds >= FILL_TIMEOUT) {
      valve = FALSE;
      begin(FAILED);
    }
    break;
  case HEATING:
    if (temperature >= wash_degrees) {
      heater = FALSE;
      begin(WASHING);
    } else if (minutes >= 20) {
      heater = FALSE;
      begin(FAILED);
    }
    break;
  case WASHING:
    /* 12 s to the left, 3 s pause, 12 s to the right, 3 s pause */
    drum = (BYTE)(phase_seconds % 30 < 12 ? 1 : phase_seconds % 30 < 15 ? 0 : phase_seconds % 30 < 27 ? 2 : 0);
    motor = drum != 0;
    if (minutes >= (rinses == 0 ? wash_minutes : 2)) {
      motor = FALSE;
      pump = TRUE;
      begin(DRAINING);
    }
    break;
  case DRAINING:
    if (level_empty) {
      pump = FALSE;
      if (rinses < 2) {
        rinses++;
        valve = TRUE;
        begin(FILLING);
      } else {
        motor = TRUE;
        begin(SPINNING);
      }
    }
    break;
  case SPINNING:
    if (minutes >= SPIN_MINUTES) {
      motor = FALSE;
      begin(STOPPED);
    }
    break;
  default:
    if (stop_key && start_key)
      begin(STOPPED);
    break;
  }
}
