/* Battery charger: check, precharge, constant current, constant voltage, float */
#include "charger.h"

static void go(charger *c, ch_state next)
{
    c->state = next;
    c->timer = 0;
    c->stable = 0;
    c->low_cnt = 0;
}

static void fail(charger *c, ch_error e)
{
    go(c, CH_ERROR);
    c->error = e;
    c->duty = 0;
}

void charger_init(charger *c)
{
    int i;
    for (i = 0; i < 4; i++)
        c->t.buf[i] = 20;
    c->t.idx = 0;
    c->t.sum = 4 * 20;
    c->t.bad = false;
    c->v = c->v_prev = 0;
    c->trim = 0;
    c->cal_bad = false;
    c->total = 0;
    c->over_cnt = 0;
    c->retries = 0;
    c->duty = 0;
    c->error = ERR_NONE;
    c->resume_to = CH_CC;
    go(c, CH_IDLE);
}

static void temperature(ch_temp *t, int8_t temp)
{
    int avg;

    t->sum = (int16_t)(t->sum - t->buf[t->idx] + temp);
    t->buf[t->idx] = temp;
    t->idx = (uint8_t)((t->idx + 1u) & 3u);
    avg = t->sum / 4;
    if (avg > 45 || avg < 0)
        t->bad = true;
    else if (avg >= 3 && avg <= 40)
        t->bad = false;
}

static void regulate(charger *c, bool more, uint16_t up, uint16_t down)
{
    if (more)
        c->duty = (uint16_t)(c->duty + up > 1000 ? 1000 : c->duty + up);
    else
        c->duty = (uint16_t)(c->duty > down ? c->duty - down : 0);
}

static bool counted(bool on, uint8_t *cnt, uint8_t limit)
{
    if (!on)
        *cnt = 0;
    else if (*cnt < limit)
        ++*cnt;
    return *cnt == limit;
}

/* true if the charging states have to be left */
static bool supervise(charger *c, const ch_in *in)
{
    if (counted(in->ibat > I_OVER, &c->over_cnt, OVER_STEPS)) {
        fail(c, ERR_CURRENT);
        return true;
    }
    if (c->state == CH_CC || c->state == CH_CV) {
        if (++c->total >= SAFETY_MAX) {
            fail(c, ERR_SAFETY);
            return true;
        }
    }
    if (c->t.bad && (c->state == CH_PRE || c->state == CH_CC || c->state == CH_CV)) {
        c->resume_to = c->state;
        go(c, CH_SUSPEND);
        c->duty = 0;
        return true;
    }
    return false;
}

void charger_step(charger *c, const ch_in *in)
{
    c->v_prev = c->v;
    c->v = in->vbat + c->trim * 4;
    temperature(&c->t, in->temp);

    if (!in->plug) {
        c->duty = 0;
        c->retries = 0;
        c->error = ERR_NONE;
        c->over_cnt = 0;
        go(c, CH_IDLE);
        return;
    }
    if (c->state != CH_IDLE && c->state != CH_ERROR && supervise(c, in))
        return;
    if (c->timer < 5000)
        c->timer++;

    switch (c->state) {
    case CH_IDLE:
        c->cal_bad = (in->cal ^ in->cal_inv) != 0xFF;
        c->trim = 0;
        if (!c->cal_bad)
            c->trim = (int8_t)(in->cal < 128 ? in->cal : in->cal - 256);
        c->total = 0;
        go(c, CH_CHECK);
        break;
    case CH_CHECK:
        if (counted(c->v > V_DEAD && c->v - c->v_prev <= 100 && c->v_prev - c->v <= 100,
                    &c->stable, CHECK_STEPS))
            go(c, c->v < V_PRE ? CH_PRE : CH_CC);
        else if (c->timer >= CHECK_MAX)
            fail(c, ERR_NO_BATTERY);
        break;
    case CH_PRE:
        regulate(c, in->ibat < I_PRE, 1, 2);
        if (c->v >= V_PRE)
            go(c, CH_CC);
        else if (c->timer >= PRE_MAX)
            fail(c, ERR_PRE);
        break;
    case CH_CC:
        regulate(c, in->ibat < I_CC, 4, 8);
        if (c->v >= V_MAX)
            go(c, CH_CV);
        break;
    case CH_CV:
        regulate(c, c->v < V_MAX, 1, 4);
        if (counted(in->ibat < I_TERM, &c->low_cnt, TERM_STEPS))
            go(c, CH_FLOAT);
        break;
    case CH_FLOAT:
        regulate(c, c->v < V_FLOAT, 1, 1);
        if (counted(c->v < V_RECHARGE, &c->low_cnt, RECHARGE_STEPS)) {
            c->total = 0;
            go(c, CH_CC);
        }
        break;
    case CH_SUSPEND:
        if (!c->t.bad)
            go(c, c->resume_to);
        break;
    case CH_ERROR:
        if (c->timer >= RETRY_WAIT && c->retries < RETRY_MAX) {
            c->retries++;
            c->error = ERR_NONE;
            c->over_cnt = 0;
            c->total = 0;
            go(c, CH_CHECK);
        }
        break;
    }
}
