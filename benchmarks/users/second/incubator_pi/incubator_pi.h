#ifndef INCUBATOR_PI_H
#define INCUBATOR_PI_H
#include <stdbool.h>
#include <stdint.h>

/* 500 ms task; temperatures in 0.1 C */
#define SP_MIN      300
#define SP_MAX      380
#define KP_Q4       40      /* 2.5 % per 0.1 K, Q4 */
#define KI_Q8       6
#define I_MAX       (100L << 8)
#define T_VALID_LO  100
#define T_VALID_HI  480
#define T_CUT       395     /* independent cut-out */
#define DEV_ALARM   15
#define DEV_DELAY   600     /* 5 min */
#define DOOR_QUIET  240     /* no deviation alarm after the door was open */
#define SENS_N      4
#define AVG_N       4

typedef struct {
    int16_t  buf[AVG_N];    /* moving average */
    uint8_t  idx;
    int16_t  temp;
    int16_t  sp;
    int32_t  integ;         /* Q8 percent */
    uint8_t  duty;          /* 0..100 */
    uint8_t  pwm;           /* phase of the slow PWM, 0..19 */
    uint8_t  sens_cnt;
    uint16_t dev_cnt;
    uint16_t quiet;
    bool     sens_fault;
    bool     cutout;
} inc_t;

void inc_init(inc_t *c);
/* returns the heater relay */
bool inc_run(inc_t *c, int16_t raw, bool door, bool key_up, bool key_down, bool key_ack);
#endif
