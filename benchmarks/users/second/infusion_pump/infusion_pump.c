/*
 * Volumetric infusion pump, application state machine.
 *
 * The line is watched by a pressure sensor (occlusion), an ultrasonic sensor
 * (air), the door contact and the drop chamber.  Every alarm stops the motor.
 */
#include "infusion_pump.h"

static const uint8_t rateTab[4] = { 2, 4, 8, 16 };

/* drops that are expected in one window, by rate */
static const struct { uint8_t min, max; } dropTab[4] = {
    { 1, 4 }, { 2, 6 }, { 4, 10 }, { 8, 18 }
};

#define RATE_BOLUS 32u
#define RATE_KVO   1u

void Pump_Init(Pump *p)
{
    uint8_t i;

    p->mode = M_STANDBY;
    p->alarm = A_NONE;
    p->rate = 0;
    p->acc = 0;
    p->delivered = 0;
    p->bolusTmr = 0;
    p->bolusCount = 0;
    p->lockout = 0;
    p->winTmr = 0;
    p->drops = 0;
    p->occCnt = 0;
    p->doorCnt = 0;
    p->batCnt = 0;
    p->airAcc = 0;
    p->pauseTmr = 0;
    p->muteTmr = 0;
    for (i = 0; i < LOG_LEN; i++)
        p->log.code[i] = A_NONE;
    p->log.head = 0;
    p->log.count = 0;
}

static uint8_t speed(const Pump *p)
{
    switch (p->mode) {
    case M_INFUSE: return rateTab[p->rate & 3u];
    case M_BOLUS:  return RATE_BOLUS;
    case M_KVO:    return RATE_KVO;
    default:       return 0;
    }
}

static void logAlarm(AlarmLog *log, AlarmCode code)
{
    log->code[log->head] = (uint8_t)code;
    log->head = (uint8_t)((log->head + 1u) % LOG_LEN);
    if (log->count < LOG_LEN)
        log->count++;
}

static void raiseAlarm(Pump *p, AlarmCode code)
{
    p->mode = M_ALARM;
    p->alarm = code;
    p->muteTmr = 0;
    logAlarm(&p->log, code);
}

static void startWindow(Pump *p)
{
    p->winTmr = 0;
    p->drops = 0;
}

/* Sensors that are watched in every mode; the first in the list wins. */
static AlarmCode watchLine(Pump *p, const PumpIn *in)
{
    if (in->door_closed)
        p->doorCnt = 0;
    else if (p->doorCnt < DOOR_SAMPLES)
        p->doorCnt++;

    if (in->air < AIR_DRY) {
        p->airAcc = (uint16_t)(p->airAcc + speed(p));
        if (p->airAcc > AIR_LIMIT)
            p->airAcc = AIR_LIMIT;
    } else if (p->airAcc > AIR_LEAK) {
        p->airAcc = (uint16_t)(p->airAcc - AIR_LEAK);
    } else {
        p->airAcc = 0;
    }

    if (in->pressure > OCC_HIGH) {
        if (p->occCnt < OCC_SAMPLES)
            p->occCnt++;
    } else if (in->pressure < OCC_LOW) {
        p->occCnt = 0;
    }

    if (in->battery >= BAT_EMPTY)
        p->batCnt = 0;
    else if (p->batCnt < BAT_SAMPLES)
        p->batCnt++;

    if (p->doorCnt == DOOR_SAMPLES)
        return A_DOOR;
    if (p->airAcc == AIR_LIMIT)
        return A_AIR;
    if (p->occCnt == OCC_SAMPLES)
        return A_OCCL;
    if (p->batCnt == BAT_SAMPLES)
        return A_BATT;
    return A_NONE;
}

/* Does the drop chamber see about what the motor should deliver? */
static AlarmCode watchFlow(Pump *p, const PumpIn *in)
{
    AlarmCode code = A_NONE;

    if (in->drop && p->drops < 255u)
        p->drops++;
    p->winTmr++;
    if (p->winTmr >= FLOW_WINDOW) {
        if (p->drops < dropTab[p->rate & 3u].min)
            code = A_FLOW_LOW;
        else if (p->drops > dropTab[p->rate & 3u].max)
            code = A_FLOW_HIGH;
        startWindow(p);
    }
    return code;
}

/* Turns the motor; true if the dose is complete. */
static bool deliver(Pump *p)
{
    unsigned sum = (unsigned)p->acc + speed(p);

    p->delivered = (uint16_t)(p->delivered + sum / STEP_UNIT);
    p->acc = (uint8_t)(sum % STEP_UNIT);
    return p->delivered >= DOSE_STEPS;
}

void Pump_Step(Pump *p, const PumpIn *in, PumpOut *out)
{
    AlarmCode code = watchLine(p, in);

    if (p->lockout > 0)
        p->lockout--;
    if (p->muteTmr > 0)
        p->muteTmr--;

    switch (p->mode) {
    case M_STANDBY:
        if (in->key_start && code == A_NONE && in->battery >= BAT_LOW) {
            p->rate = in->rate_sel;
            p->acc = 0;
            p->delivered = 0;
            p->bolusCount = 0;
            startWindow(p);
            p->mode = M_INFUSE;
        }
        break;

    case M_INFUSE:
        if (code == A_NONE)
            code = watchFlow(p, in);
        if (code != A_NONE) {
            raiseAlarm(p, code);
        } else if (in->key_stop) {
            p->pauseTmr = 0;
            p->mode = M_PAUSE;
        } else if (deliver(p)) {
            p->mode = M_KVO;
        } else if (in->key_bolus && p->lockout == 0) {
            p->lockout = BOLUS_LOCKOUT;
            p->bolusTmr = 0;
            if (p->bolusCount < 255u)
                p->bolusCount++;
            p->mode = M_BOLUS;
        }
        break;

    case M_BOLUS:
        if (code != A_NONE) {
            raiseAlarm(p, code);
        } else if (in->key_stop) {
            p->pauseTmr = 0;
            p->mode = M_PAUSE;
        } else if (deliver(p)) {
            p->mode = M_KVO;
        } else if (++p->bolusTmr >= BOLUS_TICKS) {
            startWindow(p);
            p->mode = M_INFUSE;
        }
        break;

    case M_PAUSE:
        p->pauseTmr++;
        if (code != A_NONE) {
            raiseAlarm(p, code);
        } else if (in->key_stop) {
            p->mode = M_STANDBY;
        } else if (in->key_start) {
            startWindow(p);
            p->mode = M_INFUSE;
        } else if (p->pauseTmr >= PAUSE_MAX) {
            raiseAlarm(p, A_PAUSE);
        }
        break;

    case M_KVO:                         /* keep vein open */
        if (code != A_NONE)
            raiseAlarm(p, code);
        else if (in->key_stop)
            p->mode = M_STANDBY;
        break;

    case M_ALARM:
        if (in->key_stop && code == A_NONE) {
            p->alarm = A_NONE;
            p->pauseTmr = 0;
            p->mode = M_PAUSE;
        } else if (in->key_mute) {
            p->muteTmr = MUTE_TICKS;
        }
        break;
    }

    out->motor = speed(p);
    out->buzzer = p->mode == M_ALARM && p->muteTmr == 0;
    out->lamp_low_batt = in->battery < BAT_LOW;
}
