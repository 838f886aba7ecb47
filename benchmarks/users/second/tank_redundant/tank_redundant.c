/*
 * Roof tank with a filling pump and two level sensors, called every 100 ms.
 *
 * The sensors may disagree for a while (waves); after DIS_N steps the unit
 * works with the higher level until somebody has looked at it.
 */
#include <stdbool.h>
#include <stdint.h>

#define L_START   40        /* percent */
#define L_STOP    85
#define L_OVER    95
#define TOL       8
#define DIS_N     30
#define BAD_N     10        /* out of range: above 110 */
#define DRY_N     100       /* no flow while the pump runs */
#define REST      200       /* steps that the motor rests after a run */
#define MAX_RUN   2000
#define TRIES     3

typedef enum { T_REST, T_IDLE, T_FILL, T_DRY, T_STOPPED } tank_state;
typedef enum { S_BOTH, S_DISAGREE, S_ONLY_A, S_ONLY_B, S_NONE } sensor_state;

typedef struct {
    tank_state   st;
    sensor_state sens;
    uint8_t  dis, bad_a, bad_b;
    uint8_t  level;
    uint16_t timer;
    uint8_t  dry;
    uint8_t  tries;
} tank;

void tank_reset(tank *t)
{
    *t = (tank){ .st = T_IDLE, .sens = S_BOTH, .level = 50 };
}

static void bad(uint8_t *cnt, uint8_t v)
{
    if (v <= 110)
        *cnt = 0;
    else if (*cnt < BAD_N)
        (*cnt)++;
}

static void sensors(tank *t, uint8_t a, uint8_t b, bool ack)
{
    uint8_t hi = a > b ? a : b;
    uint8_t lo = a > b ? b : a;

    bad(&t->bad_a, a);
    bad(&t->bad_b, b);
    if (hi <= 110) {
        if (hi - lo <= TOL)
            t->dis = 0;
        else if (t->dis < DIS_N)
            t->dis++;
    }

    if (t->bad_a == BAD_N)
        t->sens = t->bad_b == BAD_N ? S_NONE : S_ONLY_B;
    else if (t->bad_b == BAD_N)
        t->sens = S_ONLY_A;
    else if (t->dis == DIS_N)
        t->sens = S_DISAGREE;
    else if (ack && hi <= 110 && t->dis == 0)
        t->sens = S_BOTH;

    switch (t->sens) {
    case S_BOTH:     if (hi <= 110) t->level = (uint8_t)((a + b) / 2); break;
    case S_DISAGREE: if (hi <= 110) t->level = hi; break;
    case S_ONLY_A:   if (a <= 110) t->level = a; break;
    case S_ONLY_B:   if (b <= 110) t->level = b; break;
    case S_NONE:     break;
    }
}

/* returns: bit 0 pump, bit 1 alarm */
uint8_t tank_step(tank *t, uint8_t a, uint8_t b, bool flow, bool ack)
{
    sensors(t, a, b, ack);
    if (t->timer > 0)
        t->timer--;

    switch (t->st) {
    case T_REST:
        if (t->timer == 0)
            t->st = T_IDLE;
        break;
    case T_IDLE:
        if (t->sens == S_NONE) {
            t->st = T_STOPPED;
        } else if (t->level < L_START) {
            t->st = T_FILL;
            t->timer = MAX_RUN;
            t->dry = 0;
        }
        break;
    case T_FILL:
        if (flow)
            t->dry = 0;
        else
            t->dry++;
        if (t->sens == S_NONE || t->level >= L_OVER || t->timer == 0) {
            t->st = T_STOPPED;
        } else if (t->level >= L_STOP) {
            t->st = T_REST;
            t->timer = REST;
            t->tries = 0;
        } else if (t->dry == DRY_N) {
            t->tries++;
            t->st = t->tries == TRIES ? T_STOPPED : T_DRY;
            t->timer = 3 * REST;
        }
        break;
    case T_DRY:
        if (t->timer == 0)
            t->st = T_IDLE;
        break;
    case T_STOPPED:
        if (ack && t->sens != S_NONE && t->level < L_STOP) {
            t->st = T_REST;
            t->timer = REST;
            t->tries = 0;
        }
        break;
    }
    return (uint8_t)((t->st == T_FILL) | (t->st == T_STOPPED || t->sens != S_BOTH) << 1);
}
