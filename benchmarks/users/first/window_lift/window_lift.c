/* Electric window with automatic run, anti-pinch and thermal protection */
#include "window_lift.h"

void win_init(struct win *w)
{
    w->mode = W_UNCAL;
    w->drive = DRV_STOP;
    w->pos = 0;
    w->calibrated = false;
    w->up_old = w->down_old = w->door_old = false;
    w->base8 = 0;
    w->run_time = w->stall = w->pinch_cnt = w->rev_time = 0;
    w->rev_pos = 0;
    w->reversals = 0;
    w->heat = 0;
    w->hot = false;
    w->run_on = 0;
}

static void track_position(struct win *w, uint8_t hall)
{
    if (!w->calibrated)
        return;
    if (w->drive == DRV_UP)
        w->pos = (int16_t)(w->pos > hall ? w->pos - hall : 0);
    else if (w->drive == DRV_DOWN)
        w->pos = (int16_t)(w->pos + hall < POS_BOTTOM ? w->pos + hall : POS_BOTTOM);
}

static void thermal_model(struct win *w)
{
    if (w->drive != DRV_STOP)
        w->heat += 2; /* a run ends by itself long before this overflows ... */
    else if (w->heat > 0)
        w->heat--;
    if (w->heat > HEAT_HOT + 1000)
        w->heat = HEAT_HOT + 1000; /* ... but the finger may stay on it */
    if (w->heat >= HEAT_HOT)
        w->hot = true;
    else if (w->heat <= HEAT_COOL)
        w->hot = false;
}

static void watch_motor(struct win *w, const struct win_in *in)
{
    if (w->drive == DRV_STOP) {
        w->run_time = 0;
        w->stall = 0;
        w->pinch_cnt = 0;
        return;
    }
    if (in->hall == 0 && in->current > STALL_CURRENT) {
        if (w->stall < STALL_DEB)
            w->stall++;
    } else {
        w->stall = 0;
    }
    if (w->run_time < BLANK_STEPS) {
        w->run_time++;
        w->base8 = (uint16_t)(in->current * 8);
        w->pinch_cnt = 0;
    } else if (in->current > w->base8 / 8 + PINCH_STEP) {
        if (w->pinch_cnt < PINCH_DEB)
            w->pinch_cnt++;
    } else {
        w->pinch_cnt = 0;
        w->base8 = (uint16_t)(w->base8 - w->base8 / 8 + in->current);
    }
}

static void stop(struct win *w)
{
    w->mode = w->calibrated ? W_STOP : W_UNCAL;
    w->drive = DRV_STOP;
}

static void run(struct win *w, wmode_t mode, drive_t drive)
{
    w->mode = mode;
    w->drive = drive;
}

void win_step(struct win *w, const struct win_in *in)
{
    const bool up = in->sw_up && !in->sw_down;
    const bool down = in->sw_down && !in->sw_up;
    const bool up_edge = up && !w->up_old;
    const bool down_edge = down && !w->down_old;
    bool enabled;

    if (in->ignition)
        w->run_on = RUN_ON_STEPS;
    else if (in->door_open && !w->door_old)
        w->run_on = 0;
    else if (w->run_on > 0)
        w->run_on--;
    enabled = w->run_on > 0;

    track_position(w, in->hall);
    thermal_model(w);
    watch_motor(w, in);

    if (!enabled) {
        if (w->drive != DRV_STOP)
            stop(w);
    } else {
        switch (w->mode) {
        case W_UNCAL:
            if (w->drive == DRV_UP && w->stall == STALL_DEB) {
                w->calibrated = true;
                w->pos = 0;
                stop(w);
            } else if (up && !w->hot) {
                w->drive = DRV_UP;
            } else if (down && !w->hot) {
                w->drive = DRV_DOWN;
            } else {
                w->drive = DRV_STOP;
            }
            break;
        case W_STOP:
            if (w->hot)
                break;
            if (up_edge)
                run(w, in->sw_auto && w->reversals < REV_MAX ? W_AUTO_UP : W_MAN_UP, DRV_UP);
            else if (down_edge)
                run(w, in->sw_auto ? W_AUTO_DOWN : W_MAN_DOWN, DRV_DOWN);
            break;
        case W_MAN_UP:
            if (!up || w->stall == STALL_DEB) {
                if (w->stall == STALL_DEB && w->pos <= PINCH_LO) {
                    w->pos = 0;
                    w->reversals = 0;
                }
                stop(w);
            }
            break;
        case W_MAN_DOWN:
            if (!down || w->stall == STALL_DEB || w->pos == POS_BOTTOM)
                stop(w);
            break;
        case W_AUTO_UP:
            if (w->pinch_cnt == PINCH_DEB && w->pos > PINCH_LO && w->pos < PINCH_HI) {
                w->rev_time = 0;
                w->rev_pos = w->pos;
                w->reversals++;
                run(w, W_REVERSE, DRV_DOWN);
            } else if (w->stall == STALL_DEB) {
                if (w->pos <= PINCH_LO) {
                    w->pos = 0;
                    w->reversals = 0;
                }
                stop(w);
            } else if (down_edge) {
                stop(w);
            }
            break;
        case W_AUTO_DOWN:
            if (up_edge || w->stall == STALL_DEB || w->pos == POS_BOTTOM)
                stop(w);
            break;
        case W_REVERSE:
            w->rev_time++;
            if (w->rev_time >= REV_STEPS || w->pos - w->rev_pos >= REV_PULSES || w->pos == POS_BOTTOM)
                stop(w);
            break;
        }
    }
    w->up_old = up;
    w->down_old = down;
    w->door_old = in->door_open;
}
