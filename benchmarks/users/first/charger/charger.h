#ifndef CHARGER_H
#define CHARGER_H
#include <stdbool.h>
#include <stdint.h>

/* 12 V lead-acid charger; voltages in mV, currents in mA, 100 ms steps */
#define V_DEAD 6000
#define V_PRE 10500
#define V_MAX 14400
#define V_FLOAT 13600
#define V_RECHARGE 12600
#define I_PRE 500
#define I_CC 4000
#define I_TERM 300
#define I_OVER 5000

#define CHECK_STEPS 20
#define CHECK_MAX 100
#define PRE_MAX 900
#define TERM_STEPS 50
#define RECHARGE_STEPS 20
#define SAFETY_MAX 3000
#define OVER_STEPS 3
#define RETRY_WAIT 200
#define RETRY_MAX 3

typedef enum {
    CH_IDLE, CH_CHECK, CH_PRE, CH_CC, CH_CV, CH_FLOAT, CH_SUSPEND, CH_ERROR
} ch_state;

typedef enum { ERR_NONE, ERR_NO_BATTERY, ERR_PRE, ERR_SAFETY, ERR_CURRENT } ch_error;

typedef struct {
    uint16_t vbat, ibat;
    int8_t temp;
    bool plug;
    uint8_t cal, cal_inv;      /* calibration record from the EEPROM */
} ch_in;

typedef struct {
    int8_t buf[4];
    uint8_t idx;
    int16_t sum;
    bool bad;                  /* too cold or too warm, with hysteresis */
} ch_temp;

typedef struct {
    ch_state state, resume_to;
    ch_error error;
    ch_temp t;
    int32_t v, v_prev;         /* calibrated */
    int8_t trim;
    bool cal_bad;
    uint16_t timer, total;
    uint8_t stable, low_cnt, over_cnt, retries;
    uint16_t duty;             /* 0 .. 1000 */
} charger;

void charger_init(charger *c);
void charger_step(charger *c, const ch_in *in);
#endif
