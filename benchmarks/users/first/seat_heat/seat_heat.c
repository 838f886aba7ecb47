/*
 * seat_heat.c - heated seat, driver side.  Task: 100 ms.
 * NTC at the ADC: many counts = cold, few counts = hot.
 */
#include <stdbool.h>
#include <stdint.h>

#define NTC_SHORT 30u   /* below: short circuit to ground */
#define NTC_OPEN 990u   /* above: wire broken             */
#define NTC_DEB 8u      /* steps until the error is taken for real */
#define NTC_HYS 8

#define UV_LIMIT 110u   /* 0.1 V: load is shed below 11.0 V ... */
#define UV_BACK 118u    /* ... and comes back above 11.8 V      */
#define UV_DEB 50u

#define HOLD_HIGH 600u  /* level 3 for one minute at most  */
#define HOLD_MID 1200u  /* level 2 for two minutes at most */

static const uint16_t set_point[4] = {0u, 620u, 540u, 470u};
static const uint16_t hold_time[4] = {0u, 0u, HOLD_MID, HOLD_HIGH};

static uint8_t level;       /* 0 = off ... 3 = hottest */
static uint16_t level_time; /* steps on this level */
static uint8_t ntc_cnt;
static bool ntc_bad;
static uint8_t uv_cnt;
static bool btn_old;
static bool heat;           /* to the high-side switch */
static uint8_t leds;        /* bar of three LEDs */

void seat_init(void)
{
    level = 0u;
    level_time = 0u;
    ntc_cnt = 0u;
    ntc_bad = false;
    uv_cnt = 0u;
    btn_old = false;
    heat = false;
    leds = 0u;
}

static void supervise(uint16_t ntc, uint8_t ubatt)
{
    if (ntc < NTC_SHORT || ntc > NTC_OPEN) {
        if (ntc_cnt < NTC_DEB)
            ntc_cnt++;
    } else if (ntc_cnt > 0u) {
        ntc_cnt--;
    }
    if (ntc_cnt == NTC_DEB)
        ntc_bad = true;
    else if (ntc_cnt == 0u)
        ntc_bad = false;

    if (ubatt < UV_LIMIT) {
        if (uv_cnt < UV_DEB)
            uv_cnt++;
    } else if (ubatt > UV_BACK) {
        uv_cnt = 0u;
    }
}

void seat_step(bool ign, bool btn, uint16_t ntc, uint8_t ubatt)
{
    supervise(ntc, ubatt);

    if (!ign || ntc_bad) {
        level = 0u;
        level_time = 0u;
    } else if (btn && !btn_old) {
        level = (level == 0u) ? 3u : (uint8_t)(level - 1u);
        level_time = 0u;
    } else if (level > 1u) {
        level_time++;
        if (level_time >= hold_time[level]) {
            level--;
            level_time = 0u;
        }
    }
    btn_old = btn;

    if (level == 0u || uv_cnt == UV_DEB)
        heat = false;
    else if ((int)ntc > (int)set_point[level] + NTC_HYS)
        heat = true;
    else if ((int)ntc < (int)set_point[level] - NTC_HYS)
        heat = false;

    leds = (uint8_t)((1u << level) - 1u);
}
