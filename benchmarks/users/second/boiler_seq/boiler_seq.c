/*
 * boiler_seq.c - cascade of three boilers, called once per second.
 *
 * Weather-compensated set point, stages are added and removed with delays,
 * the lead boiler changes after each heating period.
 */
#include <stdbool.h>
#include <stdint.h>

#define NB          3
#define ADD_DLY     60      /* s below set point before another stage */
#define REM_DLY     30      /* s above set point before a stage goes  */
#define BAND_LO     50      /* 5.0 K */
#define BAND_HI     30
#define T_LIMIT     900     /* 90.0 C */
#define T_LIMIT_OFF 850
#define PURGE_T     15
#define MIN_OFF     120
#define MAX_FLT     3
#define SERVICE     1500    /* s of firing */

enum { B_OFF, B_PURGE, B_FIRING, B_LOCKED };

struct boiler {
    uint8_t  st;
    uint8_t  tmr;
    uint8_t  flt_cnt;
    uint16_t run;
};

/* heating curve: outdoor temperature [C] -> supply temperature [0.1 C] */
static const struct { int16_t x, y; } curve[] = {
    { -15, 800 }, { 0, 650 }, { 10, 500 }, { 20, 300 }
};
#define CURVE_N ((int)(sizeof curve / sizeof curve[0]))

static struct boiler b[NB];
static uint8_t lead;
static uint8_t stages;
static uint8_t add_t, rem_t;
static int16_t sp;
static bool    over;

/* outputs */
static uint8_t burner_mask;
static bool    alarm;
static bool    service;

static int16_t set_point(int16_t t_out)
{
    int i;

    if (t_out <= curve[0].x)
        return curve[0].y;
    for (i = 1; i < CURVE_N; i++) {
        if (t_out <= curve[i].x) {
            int dx = curve[i].x - curve[i - 1].x;
            int dy = curve[i].y - curve[i - 1].y;
            return (int16_t)(curve[i - 1].y + dy * (t_out - curve[i - 1].x) / dx);
        }
    }
    return curve[CURVE_N - 1].y;
}

static void staging(int16_t t_supply, bool demand)
{
    if (!demand) {
        if (stages > 0)
            lead = (uint8_t)((lead + 1) % NB);
        stages = 0;
        add_t = rem_t = 0;
        return;
    }
    if (stages == 0) {
        stages = 1;
        return;
    }
    if (t_supply < sp - BAND_LO) {
        rem_t = 0;
        if (add_t < ADD_DLY)
            add_t++;
        if (add_t == ADD_DLY && stages < NB) {
            stages++;
            add_t = 0;
        }
    } else if (t_supply > sp + BAND_HI) {
        add_t = 0;
        if (rem_t < REM_DLY)
            rem_t++;
        if (rem_t == REM_DLY && stages > 1) {
            stages--;
            rem_t = 0;
        }
    } else {
        add_t = rem_t = 0;
    }
}

static void run_boiler(struct boiler *p, bool req, bool fault, bool reset)
{
    switch (p->st) {
    case B_OFF:
        if (p->tmr > 0) {
            p->tmr--;
        } else if (req) {
            p->st = B_PURGE;
            p->tmr = PURGE_T;
        }
        break;
    case B_PURGE:
    case B_FIRING:
        if (p->st == B_FIRING && p->run < 60000u)
            p->run++;
        if (fault) {
            p->flt_cnt++;
            p->st = p->flt_cnt >= MAX_FLT ? B_LOCKED : B_OFF;
            p->tmr = MIN_OFF;
        } else if (!req) {
            p->tmr = p->st == B_FIRING ? MIN_OFF : 0;
            p->st = B_OFF;
        } else if (p->st == B_PURGE && --p->tmr == 0) {
            p->st = B_FIRING;
        }
        break;
    default: /* B_LOCKED */
        if (reset) {
            p->st = B_OFF;
            p->flt_cnt = 0;
            p->tmr = 0;
        }
        break;
    }
}

void seq_init(void)
{
    int i;

    for (i = 0; i < NB; i++) {
        b[i].st = B_OFF;
        b[i].tmr = 0;
        b[i].flt_cnt = 0;
        b[i].run = 0;
    }
    lead = stages = add_t = rem_t = 0;
    sp = 0;
    over = false;
}

void seq_step(int16_t t_supply, int8_t t_out, bool demand, uint8_t flt_mask, bool reset)
{
    int i, left, locked = 0;

    sp = set_point(t_out);
    if (t_supply >= T_LIMIT)
        over = true;
    else if (t_supply < T_LIMIT_OFF)
        over = false;

    staging(t_supply, demand);

    left = over ? 0 : stages;
    burner_mask = 0;
    service = false;
    for (i = 0; i < NB; i++) {
        int k = (lead + i) % NB;
        bool req = left > 0 && b[k].st != B_LOCKED;

        if (req)
            left--;
        run_boiler(&b[k], req, (flt_mask >> k) & 1, reset);
        if (b[k].st == B_FIRING)
            burner_mask |= (uint8_t)(1u << k);
        if (b[k].st == B_LOCKED)
            locked++;
        if (b[k].run >= SERVICE)
            service = true;
    }
    alarm = locked == NB;
}
