/* Electric parking brake with one actuator on each rear wheel */
#include "park_brake.h"

const epb_cal_t epb_cal = {
    .i_clamp = 150, .i_block = 180, .inrush = 15, .close_max = 200, .open_steps = 120
};

typedef struct {
    act_cmd_t cmd;
    uint8_t time;
    uint8_t hit;
    bool clamped;
    bool failed;
} actuator_t;

static struct {
    epb_state_t state;
    actuator_t act[SIDES];
    uint8_t tries;
    uint8_t reclamps;
    uint16_t hold_time;       /* steps since clamping, while it matters */
    bool hot_clamped;         /* clamped with hot discs: loses force when they cool */
    uint8_t roll_cnt;
    bool roll_warn;
    uint16_t heat;
    bool ign_old;
    bool lamp;
} epb;

static struct {
    uint8_t bad_cnt;
    uint16_t push_time;
    bool fault;               /* latched until the ignition is turned on again */
    bool stuck;
} sw;

static struct {
    epb_error_t entry[NLOG];
    uint8_t pos, n;
} elog;

static void log_error(epb_error_t e)
{
    uint8_t newest = (uint8_t)((elog.pos + NLOG - 1) % NLOG);

    if (elog.n > 0 && elog.entry[newest] == e)
        return; /* the same again */
    elog.entry[elog.pos] = e;
    elog.pos = (uint8_t)((elog.pos + 1) % NLOG);
    if (elog.n < NLOG)
        elog.n++;
}

void epb_init(void)
{
    int i;

    epb.state = EPB_UNKNOWN;
    for (i = 0; i < SIDES; i++) {
        epb.act[i].cmd = ACT_IDLE;
        epb.act[i].time = epb.act[i].hit = 0;
        epb.act[i].clamped = epb.act[i].failed = false;
    }
    epb.tries = epb.reclamps = epb.roll_cnt = 0;
    epb.hold_time = epb.heat = 0;
    epb.hot_clamped = epb.roll_warn = epb.ign_old = epb.lamp = false;
    sw.bad_cnt = 0;
    sw.push_time = 0;
    sw.fault = sw.stuck = false;
    elog.pos = elog.n = 0;
    for (i = 0; i < NLOG; i++)
        elog.entry[i] = E_NONE;
}

/* ---- switch ---------------------------------------------------------- */

static uint8_t read_switch(const epb_in_t *in)
{
    const bool agree = in->sw1 == in->sw2 && in->sw1 != SW_INVALID;

    if (in->ign && !epb.ign_old)
        sw.fault = false;
    if (agree) {
        sw.bad_cnt = 0;
    } else if (sw.bad_cnt < SW_BAD_STEPS) {
        sw.bad_cnt++;
        if (sw.bad_cnt == SW_BAD_STEPS) {
            sw.fault = true;
            log_error(E_SWITCH);
        }
    }
    if (!agree || in->sw1 != SW_PUSH) {
        sw.push_time = 0;
        sw.stuck = false;
    } else if (sw.push_time < SW_STUCK_STEPS) {
        sw.push_time++;
        if (sw.push_time == SW_STUCK_STEPS) {
            sw.stuck = true; /* something leans on it */
            log_error(E_STUCK);
        }
    }
    if (!agree || sw.fault || sw.stuck)
        return SW_NEUTRAL;
    return in->sw1;
}

/* ---- actuators ------------------------------------------------------- */

static void act_start(actuator_t *a, act_cmd_t cmd)
{
    a->cmd = cmd;
    a->time = 0;
    a->hit = 0;
    a->failed = false;
    if (cmd == ACT_OPEN)
        a->clamped = false;
}

static void act_step(actuator_t *a, uint8_t current)
{
    const uint8_t limit = a->cmd == ACT_CLOSE ? epb_cal.i_clamp : epb_cal.i_block;

    if (a->cmd == ACT_IDLE)
        return;
    a->time++;
    if (a->time > epb_cal.inrush && current >= limit)
        a->hit++;
    else
        a->hit = 0;

    if (a->cmd == ACT_CLOSE) {
        if (a->hit >= 3) {
            a->clamped = true;
            a->cmd = ACT_IDLE;
        } else if (a->time >= epb_cal.close_max) {
            a->clamped = false;
            a->failed = true;
            a->cmd = ACT_IDLE;
        }
    } else {
        if (a->hit >= 10) {
            a->failed = true;
            a->cmd = ACT_IDLE;
        } else if (a->time >= epb_cal.open_steps) {
            a->cmd = ACT_IDLE;
        }
    }
}

static bool act_busy(void)
{
    return epb.act[LEFT].cmd != ACT_IDLE || epb.act[RIGHT].cmd != ACT_IDLE;
}

/* ---- sequence -------------------------------------------------------- */

static void start_both(epb_state_t state, act_cmd_t cmd)
{
    int i;

    for (i = 0; i < SIDES; i++)
        act_start(&epb.act[i], cmd);
    epb.state = state;
    epb.tries = 0;
    epb.roll_cnt = 0;
    if (cmd == ACT_OPEN) {
        epb.reclamps = 0;
        epb.roll_warn = false;
    }
}

static void finished(epb_state_t good)
{
    int i;

    if (!epb.act[LEFT].failed && !epb.act[RIGHT].failed) {
        epb.state = good;
        epb.hold_time = 0;
        epb.hot_clamped = epb.heat > HEAT_HOT;
        return;
    }
    if (epb.tries == 0) {
        epb.tries++;
        for (i = 0; i < SIDES; i++) {
            if (epb.act[i].failed)
                act_start(&epb.act[i], good == EPB_APPLIED ? ACT_CLOSE : ACT_OPEN);
        }
        return;
    }
    for (i = 0; i < SIDES; i++) {
        if (epb.act[i].failed)
            log_error(i == LEFT ? E_LEFT : E_RIGHT);
    }
    epb.state = EPB_FAULT;
}

static void applied(const epb_in_t *in, bool release, bool volt_ok)
{
    if (in->speed < SPEED_ROLL)
        epb.roll_cnt = 0;
    else if (epb.roll_cnt < ROLL_STEPS)
        epb.roll_cnt++;
    if (epb.hold_time < RECLAMP_AFTER)
        epb.hold_time++;

    if (release && volt_ok) {
        start_both(EPB_RELEASING, ACT_OPEN);
    } else if (epb.roll_cnt == ROLL_STEPS) {
        if (epb.reclamps < RECLAMP_MAX && volt_ok) {
            epb.reclamps++;
            start_both(EPB_APPLYING, ACT_CLOSE);
        } else if (!epb.roll_warn) {
            epb.roll_warn = true;
            log_error(E_ROLL);
        }
    } else if (epb.hot_clamped && epb.hold_time == RECLAMP_AFTER && volt_ok) {
        start_both(EPB_APPLYING, ACT_CLOSE);
    }
}

void epb_step(const epb_in_t *in)
{
    const uint8_t wish = read_switch(in);
    const bool volt_ok = in->volt >= VOLT_MIN;
    const bool moving = in->speed >= SPEED_STILL;
    const bool release = wish == SW_PUSH && in->ign && in->brake;
    const bool leaving = !in->ign && epb.ign_old && in->auto_apply;
    int i;

    if (epb.state == EPB_DYNAMIC) {
        epb.heat = (uint16_t)(epb.heat + in->speed / 8);
        if (epb.heat > HEAT_MAX)
            epb.heat = HEAT_MAX;
    } else if (epb.heat > 0) {
        epb.heat--;
    }
    for (i = 0; i < SIDES; i++)
        act_step(&epb.act[i], in->current[i]);

    switch (epb.state) {
    case EPB_UNKNOWN:
    case EPB_RELEASED:
        if (wish == SW_PULL && moving)
            epb.state = EPB_DYNAMIC;
        else if (!moving && volt_ok && (wish == SW_PULL || leaving))
            start_both(EPB_APPLYING, ACT_CLOSE);
        else if (epb.state == EPB_UNKNOWN && release && volt_ok)
            start_both(EPB_RELEASING, ACT_OPEN);
        break;
    case EPB_APPLYING:
        if (release && volt_ok)
            start_both(EPB_RELEASING, ACT_OPEN); /* changed his mind */
        else if (!act_busy())
            finished(EPB_APPLIED);
        break;
    case EPB_APPLIED:
        applied(in, release, volt_ok);
        break;
    case EPB_RELEASING:
        if (!act_busy())
            finished(EPB_RELEASED);
        break;
    case EPB_DYNAMIC:
        if (wish != SW_PULL)
            epb.state = EPB_RELEASED;
        else if (!moving && volt_ok)
            start_both(EPB_APPLYING, ACT_CLOSE);
        break;
    case EPB_FAULT:
        if (in->ign && !epb.ign_old)
            epb.state = EPB_UNKNOWN;
        break;
    }
    epb.lamp = epb.state == EPB_FAULT || epb.roll_warn || sw.fault;
    epb.ign_old = in->ign;
}
