#ifndef INFUSION_PUMP_H
#define INFUSION_PUMP_H

#include <stdbool.h>
#include <stdint.h>

/* one tick is 100 ms */
#define DOSE_STEPS     300u   /* volume to be infused, in motor steps        */
#define STEP_UNIT      16u    /* one motor step = 16 units of the accumulator */
#define BOLUS_TICKS    20u
#define BOLUS_LOCKOUT  600u   /* 60 s from bolus to bolus                    */
#define PAUSE_MAX      1200u  /* 2 min: "pump forgotten in pause"            */
#define MUTE_TICKS     1200u
#define FLOW_WINDOW    50u    /* drop counter is judged every 5 s            */

#define OCC_HIGH       700u
#define OCC_LOW        600u
#define OCC_SAMPLES    8u
#define AIR_DRY        300u   /* ultrasonic sensor below: air in the line    */
#define AIR_LIMIT      400u
#define AIR_LEAK       4u
#define DOOR_SAMPLES   3u
#define BAT_EMPTY      5u
#define BAT_LOW        15u
#define BAT_SAMPLES    10u
#define LOG_LEN        4u

typedef enum { M_STANDBY, M_INFUSE, M_BOLUS, M_PAUSE, M_KVO, M_ALARM } PumpMode;

typedef enum {
    A_NONE, A_DOOR, A_AIR, A_OCCL, A_BATT, A_FLOW_LOW, A_FLOW_HIGH, A_PAUSE
} AlarmCode;

typedef struct {
    bool     key_start;
    bool     key_stop;
    bool     key_bolus;
    bool     key_mute;
    bool     door_closed;
    bool     drop;          /* a drop was seen in the chamber */
    uint8_t  rate_sel;      /* 0..3 */
    uint8_t  battery;       /* percent */
    uint16_t air;           /* ADC, 10 bit */
    uint16_t pressure;      /* ADC, 10 bit */
} PumpIn;

typedef struct {
    uint8_t motor;          /* units per tick */
    bool    buzzer;
    bool    lamp_low_batt;
} PumpOut;

typedef struct {
    uint8_t code[LOG_LEN];
    uint8_t head;
    uint8_t count;
} AlarmLog;

typedef struct {
    PumpMode  mode;
    AlarmCode alarm;
    uint8_t   rate;
    uint8_t   acc;
    uint16_t  delivered;
    /* bolus */
    uint8_t   bolusTmr;
    uint8_t   bolusCount;
    uint16_t  lockout;
    /* drop chamber */
    uint8_t   winTmr;
    uint8_t   drops;
    /* monitors */
    uint8_t   occCnt;
    uint8_t   doorCnt;
    uint8_t   batCnt;
    uint16_t  airAcc;
    /* timers */
    uint16_t  pauseTmr;
    uint16_t  muteTmr;
    AlarmLog  log;
} Pump;

void Pump_Init(Pump *p);
void Pump_Step(Pump *p, const PumpIn *in, PumpOut *out);

#endif
