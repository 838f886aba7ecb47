/*
 * spindle.c - main spindle drive, soft start, 10 ms task.
 * The state machine is a table: the first line that fits the state and whose
 * guard is true is taken.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAGN_STEPS 80      /* build up the flux */
#define AT_SPEED_BAND 100
#define AT_SPEED_STEPS 20
#define STALL_STEPS 50
#define DIFF_MAX 200       /* encoder against tacho, rpm */
#define DIFF_STEPS 8
#define STILL_STEPS 100
#define STILL_RPM 20
#define BRAKE_LIMIT 1500   /* steps; a longer run-down is an error */
#define T_WARN 120
#define T_WARN_BACK 100
#define T_TRIP 150
#define T_TRIP_STEPS 30
#define DERATED_RPM 2000
#define INC_MAX 40

#define F_STALL 0x01u
#define F_SENSOR 0x02u
#define F_CLAMP 0x04u
#define F_TEMP 0x08u
#define F_BRAKE 0x10u

typedef enum {
    SP_STANDBY, SP_MAGNETIZE, SP_SOFTSTART, SP_RUN, SP_BRAKE, SP_FAULT
} sp_state;

typedef struct {
    bool enable, reset, clamped;
    uint16_t cmd;          /* rpm */
    uint16_t enc, tacho;   /* two measurements of the speed, rpm */
    uint8_t temp;          /* degC */
} sp_inputs;

typedef struct {
    sp_state state;
    uint16_t timer;        /* steps in the state */
    uint16_t ref;          /* ramp */
    uint8_t inc;           /* slope of the ramp, grows: soft start */
    uint8_t near_cnt, stall_cnt, diff_cnt, still_cnt, trip_cnt;
    bool derated;
    uint8_t faults;
    bool power, at_speed;
} sp_data;

static sp_inputs in;
static sp_data sp;

static unsigned dist(uint16_t a, uint16_t b)
{
    return a > b ? (unsigned)a - b : (unsigned)b - a;
}

static uint16_t target(void)
{
    return sp.derated && in.cmd > DERATED_RPM ? DERATED_RPM : in.cmd;
}

/* guards */
static bool g_fault(void)    { return sp.faults != 0u; }
static bool g_start(void)    { return in.enable && in.clamped && in.cmd > 0u; }
static bool g_disabled(void) { return !in.enable; }
static bool g_flux(void)     { return sp.timer >= MAGN_STEPS; }
static bool g_ramped(void)   { return sp.near_cnt >= AT_SPEED_STEPS && sp.ref == target(); }
static bool g_changed(void)  { return sp.ref != target(); }
static bool g_still(void)    { return sp.still_cnt >= STILL_STEPS; }
static bool g_reset(void)
{
    /* the cause has to be gone */
    return in.reset && !in.enable && in.temp < T_WARN_BACK && sp.diff_cnt == 0u;
}

/* actions */
static void a_power_on(void)  { sp.power = true; sp.ref = 0u; sp.inc = 1u; }
static void a_power_off(void) { sp.power = false; sp.ref = 0u; }
static void a_soft(void)      { sp.inc = 1u; }
static void a_clear(void)     { sp.faults = 0u; }

static const struct {
    sp_state from;
    bool (*guard)(void);
    sp_state to;
    void (*action)(void);
} table[] = {
    { SP_STANDBY,   g_fault,    SP_FAULT,     a_power_off },
    { SP_STANDBY,   g_start,    SP_MAGNETIZE, a_power_on },
    { SP_MAGNETIZE, g_fault,    SP_FAULT,     a_power_off },
    { SP_MAGNETIZE, g_disabled, SP_STANDBY,   a_power_off },
    { SP_MAGNETIZE, g_flux,     SP_SOFTSTART, NULL },
    { SP_SOFTSTART, g_fault,    SP_FAULT,     a_power_off },
    { SP_SOFTSTART, g_disabled, SP_BRAKE,     NULL },
    { SP_SOFTSTART, g_ramped,   SP_RUN,       NULL },
    { SP_RUN,       g_fault,    SP_FAULT,     a_power_off },
    { SP_RUN,       g_disabled, SP_BRAKE,     NULL },
    { SP_RUN,       g_changed,  SP_SOFTSTART, a_soft },
    { SP_BRAKE,     g_fault,    SP_FAULT,     a_power_off },
    { SP_BRAKE,     g_still,    SP_STANDBY,   a_power_off },
    { SP_FAULT,     g_reset,    SP_STANDBY,   a_clear },
};

static uint8_t up_to(bool on, uint8_t cnt, uint8_t max)
{
    if (!on)
        return 0u;
    return cnt < max ? (uint8_t)(cnt + 1u) : max;
}

static void monitor(void)
{
    const bool turning = sp.state == SP_SOFTSTART || sp.state == SP_RUN;

    sp.diff_cnt = up_to(dist(in.enc, in.tacho) > DIFF_MAX, sp.diff_cnt, DIFF_STEPS);
    sp.stall_cnt = up_to(turning && sp.ref > 500u && in.enc < sp.ref / 4u, sp.stall_cnt, STALL_STEPS);
    sp.near_cnt = up_to(turning && dist(in.enc, target()) < AT_SPEED_BAND, sp.near_cnt, AT_SPEED_STEPS);
    sp.still_cnt = up_to(in.enc < STILL_RPM && in.tacho < STILL_RPM, sp.still_cnt, STILL_STEPS);
    sp.trip_cnt = up_to(in.temp > T_TRIP, sp.trip_cnt, T_TRIP_STEPS);
    if (in.temp > T_WARN)
        sp.derated = true;
    else if (in.temp < T_WARN_BACK)
        sp.derated = false;

    if (sp.diff_cnt == DIFF_STEPS)
        sp.faults |= F_SENSOR;
    if (sp.stall_cnt == STALL_STEPS)
        sp.faults |= F_STALL;
    if (sp.trip_cnt == T_TRIP_STEPS)
        sp.faults |= F_TEMP;
    if (!in.clamped && (turning || sp.state == SP_BRAKE))
        sp.faults |= F_CLAMP;
    if (sp.state == SP_BRAKE && sp.timer >= BRAKE_LIMIT)
        sp.faults |= F_BRAKE;
}

static void ramp(uint16_t to)
{
    if (sp.inc < INC_MAX && sp.timer % 4u == 3u)
        sp.inc++;
    if (dist(sp.ref, to) <= sp.inc)
        sp.ref = to;
    else if (sp.ref < to)
        sp.ref = (uint16_t)(sp.ref + sp.inc);
    else
        sp.ref = (uint16_t)(sp.ref - sp.inc);
}

void spindle_init(void)
{
    static const sp_data zero = { .state = SP_STANDBY };
    sp = zero;
}

void spindle_step(const sp_inputs *sample)
{
    size_t i;

    in = *sample;
    if (sp.timer < 2000u)
        sp.timer++;
    monitor();
    for (i = 0u; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].from == sp.state && table[i].guard()) {
            sp.state = table[i].to;
            sp.timer = 0u;
            if (table[i].action != NULL)
                table[i].action();
            break;
        }
    }
    if (sp.state == SP_SOFTSTART)
        ramp(target());
    else if (sp.state == SP_BRAKE)
        ramp(0u);
    sp.at_speed = sp.state == SP_RUN && sp.near_cnt == AT_SPEED_STEPS;
}
