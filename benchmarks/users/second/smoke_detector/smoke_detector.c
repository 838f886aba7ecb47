/* smoke_detector.c - optical smoke detector, wakes up once per second. */
#include <stdbool.h>
#include <stdint.h>

#define BASE_INIT   20
#define BASE_MIN    8
#define BASE_MAX    50      /* chamber so dirty that it must be cleaned */
#define TRIM_T      60      /* s between drift corrections */
#define DELTA       40      /* smoke above the baseline */
#define DELTA_HUSH  70
#define ALARM_N     3
#define CLEAR_N     10
#define HUSH_T      540     /* 9 min */
#define INTERLINK_T 10
#define BAT_T       60
#define BAT_MIN     150
#define BAT_N       3
#define CHIRP_T     43

static uint8_t  baseline, trim_t;
static uint8_t  smoke_n, clear_n;
static uint16_t hush;
static uint8_t  bat_t, bat_n, chirp_t;
static uint8_t  link_t;
static bool     alarm;
static bool     dirty;

static bool horn, chirp, link_out;      /* outputs */

void smoke_init(void)
{
    baseline = BASE_INIT;
    trim_t = smoke_n = clear_n = bat_t = bat_n = chirp_t = link_t = 0;
    hush = 0;
    alarm = dirty = false;
    horn = chirp = link_out = false;
}

void smoke_tick(uint8_t chamber, uint8_t battery, bool button, bool link_in)
{
    uint8_t delta;

    if (hush > 0)
        hush--;
    if (button && alarm)
        hush = HUSH_T;
    delta = hush > 0 ? DELTA_HUSH : DELTA;

    /* smoke */
    if (chamber > baseline + delta) {
        clear_n = 0;
        if (smoke_n < ALARM_N)
            smoke_n++;
        if (smoke_n == ALARM_N)
            alarm = true;
    } else {
        smoke_n = 0;
        if (alarm && ++clear_n >= CLEAR_N) {
            alarm = false;
            clear_n = 0;
        }
    }

    /* slow drift of the chamber, not while there is smoke */
    if (alarm || smoke_n > 0) {
        trim_t = 0;
    } else if (++trim_t >= TRIM_T) {
        trim_t = 0;
        if (chamber > baseline && baseline < BASE_MAX)
            baseline++;
        else if (chamber < baseline && baseline > BASE_MIN)
            baseline--;
        dirty = baseline == BASE_MAX;
    }

    /* battery is measured under load, once per minute */
    if (++bat_t >= BAT_T) {
        bat_t = 0;
        if (battery >= BAT_MIN)
            bat_n = 0;
        else if (bat_n < BAT_N)
            bat_n++;
    }
    chirp = false;
    if (bat_n == BAT_N || dirty) {
        if (++chirp_t >= CHIRP_T) {
            chirp_t = 0;
            chirp = !alarm;
        }
    } else {
        chirp_t = 0;
    }

    /* other detectors on the wire */
    if (!alarm)
        link_t = 0;
    else if (link_t < INTERLINK_T)
        link_t++;
    link_out = link_t == INTERLINK_T;

    horn = (alarm && hush == 0) || button || (link_in && !link_out);
}
