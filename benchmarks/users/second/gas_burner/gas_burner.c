/*
 * gas_burner.c - automatic burner control with ionisation flame sensing.
 * Called every 100 ms from the main loop; inputs and outputs are globals.
 */
#include <stdint.h>
#include <stdbool.h>

#define PREPURGE    300     /* 30 s */
#define IGNITION    30      /* safety time 3 s */
#define STABILISE   50
#define POSTPURGE   100
#define FLAME_ON    80      /* ionisation current, ADC counts */
#define FLAME_OFF   50
#define FALSE_N     20      /* flame without gas */
#define TRIES       3
#define RESETS      5       /* resets from the panel ... */
#define RESET_WIN   3000    /* ... within 5 min */
#define LOCK_MIN    20      /* reset is ignored for 2 s */
#define AIR_N       50      /* pressure switch has to follow the fan */

enum state { IDLE, AIR, PURGE, IGNITE, STABLE, RUN, POST, LOCK };
enum error { E_NONE, E_AIR, E_NO_FLAME, E_FALSE_FLAME, E_LOST };

/* inputs */
bool     in_heat, in_air, in_reset;
uint8_t  in_flame;
/* outputs */
bool     out_fan, out_gas, out_spark;

static enum state st;
static enum error err;
static uint16_t t;
static uint8_t  tries, losses;
static uint8_t  false_n;
static bool     flame, reset_old;
static uint8_t  resets;
static uint16_t reset_t;

static void go(enum state s)
{
    st = s;
    t = 0;
}

static void lock(enum error e)
{
    err = e;
    go(LOCK);
}

void burner_init(void)
{
    go(IDLE);
    err = E_NONE;
    tries = losses = false_n = resets = 0;
    flame = reset_old = false;
    reset_t = 0;
}

void burner_task(void)
{
    if (in_flame >= FLAME_ON)
        flame = true;
    else if (in_flame < FLAME_OFF)
        flame = false;

    if (flame && (st == IDLE || st == AIR || st == PURGE)) {
        if (++false_n == FALSE_N)
            lock(E_FALSE_FLAME);
    } else {
        false_n = 0;
    }

    if (reset_t > 0 && --reset_t == 0)
        resets = 0;
    t++;

    switch (st) {
    case IDLE:
        t = 0;
        if (in_heat && !in_air) {       /* the switch must not be stuck */
            tries = losses = 0;
            go(AIR);
        }
        break;
    case AIR:
        if (in_air)
            go(PURGE);
        else if (t >= AIR_N)
            lock(E_AIR);
        break;
    case PURGE:
        if (!in_air)
            go(AIR);
        else if (t >= PREPURGE && !flame)
            go(IGNITE);
        else if (t > PREPURGE)
            t = PREPURGE;
        break;
    case IGNITE:
        if (!in_air) {
            lock(E_AIR);
        } else if (t >= IGNITION) {
            if (flame)
                go(STABLE);
            else if (++tries >= TRIES)
                lock(E_NO_FLAME);
            else
                go(PURGE);
        }
        break;
    case STABLE:
    case RUN:
        if (!in_air) {
            lock(E_AIR);
        } else if (!flame) {
            if (++losses > 2)
                lock(E_LOST);
            else
                go(PURGE);
        } else if (!in_heat) {
            go(POST);
        } else if (st == STABLE && t >= STABILISE) {
            go(RUN);
            tries = 0;
        } else if (st == RUN) {
            t = 0;
        }
        break;
    case POST:
        if (t >= POSTPURGE)
            go(IDLE);
        break;
    case LOCK:
        if (t > LOCK_MIN)
            t = LOCK_MIN;
        if (t == LOCK_MIN && in_reset && !reset_old && resets < RESETS) {
            resets++;
            reset_t = RESET_WIN;
            err = E_NONE;
            go(POST);
        }
        break;
    }
    reset_old = in_reset;

    out_fan = st != IDLE && st != LOCK;
    out_gas = st == IGNITE || st == STABLE || st == RUN;
    out_spark = st == IGNITE;
}
