/* Car alarm: types of the interface, of the state, and the entry points. */
#ifndef CAR_ALARM_H
#define CAR_ALARM_H

typedef unsigned char BOOL;
typedef int INT32;

#define TRUE ((BOOL)1)
#define FALSE ((BOOL)0)
#define TO_BOOL(x) ((BOOL)((x) ? TRUE : FALSE))

/* Durations in steps. */
#ifndef ARM_DELAY
#define ARM_DELAY 3
#endif
#ifndef SIREN_TIME
#define SIREN_TIME 4
#endif
#ifndef FLASH_TIME
#define FLASH_TIME 5
#endif

/* Inputs (lock, door, shock) and outputs (armed_led, siren, flash) in one structure. */
typedef struct {
  BOOL lock;
  BOOL door;
  BOOL shock;
  BOOL armed_led;
  BOOL siren;
  BOOL flash;
} t_car_alarm_io;

/* One flag per location; on the top level and inside Alarm exactly one is set. */
typedef struct {
  INT32 counter;
  BOOL Unlocked_OPEN;
  BOOL Waiting_OPEN;
  BOOL Arming_OPEN;
  BOOL Armed_OPEN;
  BOOL Alarm_OPEN;
  BOOL Alarm_Loud_OPEN;
  BOOL Alarm_Flash_OPEN;
  BOOL Silent_OPEN;
} t_car_alarm_state;

void car_alarm_init(t_car_alarm_io *io, t_car_alarm_state *state);
void car_alarm_compute(t_car_alarm_io *io, t_car_alarm_state *state);

#endif
