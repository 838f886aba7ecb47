/* Infant incubator: air temperature, PI controller in fixed point. */
#include "incubator_pi.h"

void inc_init(inc_t *c)
{
    int i;

    for (i = 0; i < AVG_N; i++)
        c->buf[i] = 250;
    c->idx = 0;
    c->temp = 250;
    c->sp = 340;
    c->integ = 0;
    c->duty = 0;
    c->pwm = 0;
    c->sens_cnt = 0;
    c->dev_cnt = 0;
    c->quiet = 0;
    c->sens_fault = false;
    c->cutout = false;
}

static void filter(inc_t *c, int16_t raw)
{
    int i, sum = 0;

    if (raw < T_VALID_LO || raw > T_VALID_HI) {
        if (c->sens_cnt < SENS_N && ++c->sens_cnt == SENS_N)
            c->sens_fault = true;
        return;                         /* the average keeps its value */
    }
    c->sens_cnt = 0;
    c->buf[c->idx] = raw;
    c->idx = (uint8_t)((c->idx + 1) % AVG_N);
    for (i = 0; i < AVG_N; i++)
        sum += c->buf[i];
    c->temp = (int16_t)(sum / AVG_N);
}

static void control(inc_t *c, bool door)
{
    int32_t e = (int32_t)c->sp - c->temp;
    int32_t u = e * KP_Q4 / 16 + c->integ / 256;

    /* anti-windup: not while saturated in the same direction, nor door open */
    if (!door && !(u >= 100 && e > 0) && !(u <= 0 && e < 0)) {
        c->integ += e * KI_Q8;
        if (c->integ > I_MAX)
            c->integ = I_MAX;
        else if (c->integ < 0)
            c->integ = 0;
    }
    c->duty = u > 100 ? 100 : u < 0 ? 0 : (uint8_t)u;
}

bool inc_run(inc_t *c, int16_t raw, bool door, bool key_up, bool key_down, bool key_ack)
{
    int dev;

    filter(c, raw);

    if (key_up && !key_down && c->sp < SP_MAX)
        c->sp++;
    if (key_down && !key_up && c->sp > SP_MIN)
        c->sp--;

    if (c->temp >= T_CUT)
        c->cutout = true;
    if (key_ack) {
        if (c->temp < T_CUT)
            c->cutout = false;
        if (c->sens_cnt == 0)
            c->sens_fault = false;
    }

    if (c->sens_fault || c->cutout) {
        c->duty = 0;
        c->integ = 0;
    } else {
        control(c, door);
    }

    /* deviation alarm */
    if (door)
        c->quiet = DOOR_QUIET;
    else if (c->quiet > 0)
        c->quiet--;
    dev = c->temp - c->sp;
    if (c->quiet > 0 || (dev < DEV_ALARM && dev > -DEV_ALARM))
        c->dev_cnt = 0;
    else if (c->dev_cnt < DEV_DELAY)
        c->dev_cnt++;

    c->pwm = (uint8_t)((c->pwm + 1) % 20);
    return c->duty > c->pwm * 5;
}
