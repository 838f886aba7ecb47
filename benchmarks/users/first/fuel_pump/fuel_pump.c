/* fuel_pump.c - fuel pump relay with priming, stall and crash cut-off */
#include "fuel_pump.h"

static void enter(fp_t *fp, fp_state_t next)
{
    fp->st = next;
    fp->timer = 0u;
    fp->fb_cnt = 0u;
    if (next == FP_OFF)
        fp->retries = 0u;
}

void fp_init(fp_t *fp)
{
    fp->no_tooth = FP_STALL_STEPS;
    fp->crash_cnt = 0u;
    fp->relay = false;
    fp->lamp = false;
    enter(fp, FP_OFF);
}

void fp_step(fp_t *fp, const fp_in_t *in)
{
    const bool key_on = in->key == KEY_ON || in->key == KEY_CRANK;

    if (!in->crash_sig)
        fp->crash_cnt = 0u;
    else if (fp->crash_cnt < FP_CRASH_DEB)
        fp->crash_cnt++;
    if (fp->crash_cnt == FP_CRASH_DEB && fp->st != FP_CRASH)
        enter(fp, FP_CRASH);

    if (in->teeth > 0u)
        fp->no_tooth = 0u;
    else if (fp->no_tooth < FP_STALL_STEPS)
        fp->no_tooth++;

    if (in->relay_fb == fp->relay)
        fp->fb_cnt = 0u;
    else if (fp->fb_cnt < FP_FB_DEB)
        fp->fb_cnt++;

    if (fp->st == FP_CRASH) {
        if (in->key != KEY_OFF)
            fp->timer = 0u;
        else if (fp->timer < FP_CRASH_HOLD)
            fp->timer++;
        else if (fp->crash_cnt == 0u)
            enter(fp, FP_OFF);
    } else if (!key_on) {
        if (fp->st != FP_OFF)
            enter(fp, FP_OFF);
    } else {
        switch (fp->st) {
        case FP_OFF:
            enter(fp, FP_PRIME);
            break;
        case FP_PRIME:
            fp->timer++;
            if (in->teeth > 0u)
                enter(fp, FP_RUN);
            else if (fp->timer >= FP_PRIME_STEPS)
                enter(fp, FP_WAIT);
            break;
        case FP_WAIT:
            if (in->teeth > 0u || in->key == KEY_CRANK) {
                enter(fp, FP_RUN);
                fp->no_tooth = 0u;
            }
            break;
        case FP_RUN:
            if (in->key != KEY_CRANK && fp->no_tooth == FP_STALL_STEPS) {
                enter(fp, FP_WAIT);
            } else if (fp->fb_cnt == FP_FB_DEB) {
                if (fp->retries < FP_RETRY_MAX) {
                    fp->retries++;
                    enter(fp, FP_RETRY);
                } else {
                    enter(fp, FP_FAULT);
                }
            }
            break;
        case FP_RETRY:
            fp->timer++;
            if (fp->no_tooth == FP_STALL_STEPS)
                enter(fp, FP_WAIT);
            else if (fp->timer >= FP_RETRY_WAIT)
                enter(fp, FP_RUN);
            break;
        default: /* FP_FAULT: until the key is turned off */
            break;
        }
    }

    fp->lamp = fp->st == FP_FAULT || fp->st == FP_CRASH ||
               (!fp->relay && fp->fb_cnt == FP_FB_DEB); /* contact is welded */
    fp->relay = fp->st == FP_PRIME || fp->st == FP_RUN;
}
