/* elevator_door.c - car door with light curtain, 10 ms task. */
#include "elevator_door.h"

void door_init(struct door *d)
{
    d->st = CLOSED;
    d->timer = d->hold = d->open_t = 0;
    d->reversals = d->duty = d->stall = d->lim_bad = 0;
}

static void enter(struct door *d, enum door_state st)
{
    d->st = st;
    d->timer = 0;
    d->stall = 0;
    d->duty = 0;
    if (st == OPEN)
        d->hold = HOLD_T;
}

static void ramp(struct door *d, uint8_t target)
{
    if (d->duty + RAMP <= target)
        d->duty = (uint8_t)(d->duty + RAMP);
    else
        d->duty = target;
}

/* leaf runs against somebody: motor current too high although it has started */
static bool stalled(struct door *d, uint8_t current)
{
    if (current <= STALL_ADC || d->duty < 20)
        d->stall = 0;
    else if (d->stall < STALL_N)
        d->stall++;
    return d->stall == STALL_N;
}

void door_task(struct door *d, const struct door_in *in)
{
    if (!(in->open_lim && in->close_lim))
        d->lim_bad = 0;
    else if (++d->lim_bad >= LIM_N) {
        d->lim_bad = 0;
        enter(d, FAULT);
    }

    switch (d->st) {
    case CLOSED:
        d->open_t = 0;
        d->reversals = 0;
        if (in->at_floor && in->btn_open)
            enter(d, OPENING);
        break;

    case OPENING:
        d->timer++;
        ramp(d, 100);
        if (in->open_lim)
            enter(d, OPEN);
        else if (d->timer >= MOVE_T)
            enter(d, FAULT);
        break;

    case OPEN:
        if (d->open_t < BLOCK_T)
            d->open_t++;
        if (in->curtain || in->btn_open)
            d->hold = HOLD_T;
        else if (in->btn_close && d->hold > QUICK_T)
            d->hold = QUICK_T;
        else
            d->hold--;
        if (d->open_t == BLOCK_T || (d->hold == 0 && d->reversals >= REV_MAX))
            enter(d, NUDGING);
        else if (d->hold == 0)
            enter(d, CLOSING);
        break;

    case CLOSING:
        d->timer++;
        ramp(d, 80);
        if (in->close_lim) {
            enter(d, CLOSED);
        } else if (stalled(d, in->current) || in->curtain || in->btn_open) {
            if (d->reversals < REV_MAX)
                d->reversals++;
            enter(d, OPENING);
        } else if (d->timer >= MOVE_T) {
            enter(d, FAULT);
        }
        break;

    case NUDGING:                       /* slowly, with the buzzer on */
        d->timer++;
        ramp(d, 30);
        if (in->close_lim)
            enter(d, CLOSED);
        else if (stalled(d, in->current))
            enter(d, OPENING);
        else if (d->timer >= 3 * MOVE_T)
            enter(d, FAULT);
        break;

    case FAULT:
        if (in->service && in->at_floor) {
            d->open_t = 0;
            enter(d, OPENING);
        }
        break;
    }
}
