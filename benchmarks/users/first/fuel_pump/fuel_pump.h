#ifndef FUEL_PUMP_H
#define FUEL_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#define FP_PRIME_STEPS 200u /* 2 s */
#define FP_STALL_STEPS 100u /* 1 s without a tooth: engine has stalled */
#define FP_CRASH_DEB 3u
#define FP_CRASH_HOLD 300u  /* key has to be off for 3 s after a crash */
#define FP_FB_DEB 20u
#define FP_RETRY_WAIT 50u
#define FP_RETRY_MAX 3u

typedef enum { KEY_OFF, KEY_ACC, KEY_ON, KEY_CRANK } fp_key_t;

typedef enum {
    FP_OFF,
    FP_PRIME,
    FP_WAIT,
    FP_RUN,
    FP_RETRY,
    FP_FAULT,
    FP_CRASH
} fp_state_t;

typedef struct {
    fp_key_t key;
    uint8_t teeth;    /* edges of the crank sensor since the last call */
    bool crash_sig;
    bool relay_fb;    /* voltage behind the relay */
} fp_in_t;

typedef struct {
    fp_state_t st;
    uint16_t timer;
    uint8_t no_tooth;
    uint8_t crash_cnt;
    uint8_t fb_cnt;
    uint8_t retries;
    bool relay;
    bool lamp;
} fp_t;

void fp_init(fp_t *fp);
void fp_step(fp_t *fp, const fp_in_t *in); /* every 10 ms */

#endif
