#ifndef ALARM_H
#define ALARM_H

typedef unsigned char GABOOL;
#define GAFALSE ((GABOOL)0)
#define GATRUE ((GABOOL)1)

/* Steps of one second; as in the paper, shorter than in a car. */
#define ARM_DELAY 3
#define SIREN_TIME 4
#define FLASH_TIME 6

typedef enum {
  alarm_POWER_UP,
  alarm_UNLOCKED,
  alarm_WAITING, /* locked with a door open */
  alarm_ARMING,
  alarm_ARMED,
  alarm_SIREN,
  alarm_FLASH,
  alarm_SILENT, /* after an alarm, a door still open */
  alarm_QUIET_UNLOCKED, /* the same where a siren is not allowed */
  alarm_QUIET_WAITING,
  alarm_QUIET_ARMING,
  alarm_QUIET_ARMED,
  alarm_QUIET_FLASH,
  alarm_QUIET_SILENT
} GAENUM_alarm;

typedef struct {
  GABOOL lock;
  GABOOL door;
} t_alarm_input;

typedef struct {
  GABOOL armed;
  GABOOL siren;
  GABOOL flash;
} t_alarm_output;

typedef struct {
  GAENUM_alarm mode;
  int timer;
} t_alarm_state;

void alarm_init(t_alarm_state *_state_, t_alarm_output *_out_);
void alarm_compute(const t_alarm_input *_in_, t_alarm_output *_out_, t_alarm_state *_state_);

#endif
