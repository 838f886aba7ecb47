/*
 * Tyre pressure receiver.
 * Telegram: SYNC, id high, id low, pressure, checksum (inverted sum).
 */
#include "tpms_rx.h"

static struct {
    uint8_t idx;              /* bytes of the telegram so far */
    uint8_t buf[3];
    uint8_t gap;
} rx;

static wheel_t wheel[WHEELS];
static rx_event ev;
static uint8_t cur;           /* wheel of the last EV_WHEEL */

static bool learning;
static uint8_t hold;
static uint16_t learn_time;
static uint16_t new_id[WHEELS];
static uint8_t n_new;
static uint16_t candidate;

static bool ign_old;
static uint8_t blink;
static bool lamp;

static uint8_t checksum(void)
{
    return (uint8_t)~(rx.buf[0] + rx.buf[1] + rx.buf[2]);
}

static void clear_wheel(wheel_t *w, uint16_t id)
{
    w->id = id;
    w->pressure = 0u;
    w->low_cnt = 0u;
    w->age = 0u;
    w->low = w->missing = false;
}

void tpms_init(void)
{
    uint8_t i;

    rx.idx = rx.gap = 0u;
    rx.buf[0] = rx.buf[1] = rx.buf[2] = 0u;
    for (i = 0u; i < WHEELS; i++) {
        clear_wheel(&wheel[i], 0u);
        new_id[i] = 0u;
    }
    ev = EV_NONE;
    cur = 0u;
    learning = ign_old = lamp = false;
    hold = n_new = blink = 0u;
    learn_time = candidate = 0u;
}

/* true when a telegram is complete and right */
static bool receive(bool has_byte, uint8_t byte)
{
    if (!has_byte) {
        if (rx.idx > 0u && ++rx.gap >= GAP_MAX) {
            rx.idx = 0u;
            ev = EV_TIMEOUT;
        }
        return false;
    }
    rx.gap = 0u;
    if (rx.idx == 0u) {
        if (byte == SYNC)
            rx.idx = 1u;
        return false;
    }
    if (rx.idx <= 3u) {
        rx.buf[rx.idx - 1u] = byte;
        rx.idx++;
        return false;
    }
    rx.idx = 0u;
    if (byte != checksum()) {
        ev = EV_CHECKSUM;
        return false;
    }
    return true;
}

static void telegram(uint16_t id, uint8_t pressure)
{
    uint8_t i;

    ev = EV_UNKNOWN;
    if (id == 0u)
        return;
    if (learning) {
        for (i = 0u; i < n_new; i++) {
            if (new_id[i] == id) {
                ev = EV_DUPLICATE;
                return;
            }
        }
        if (id != candidate) {
            candidate = id; /* has to be heard twice */
            ev = EV_CANDIDATE;
            return;
        }
        new_id[n_new++] = id;
        candidate = 0u;
        ev = EV_LEARNED;
        if (n_new == WHEELS) {
            for (i = 0u; i < WHEELS; i++)
                clear_wheel(&wheel[i], new_id[i]);
            learning = false;
        }
        return;
    }
    for (i = 0u; i < WHEELS; i++) {
        wheel_t *w = &wheel[i];
        if (w->id != id)
            continue;
        ev = EV_WHEEL;
        cur = i;
        w->pressure = pressure;
        w->age = 0u;
        w->missing = false;
        if (pressure >= P_OK) {
            w->low = false;
            w->low_cnt = 0u;
        } else if (pressure < P_LOW && !w->low) {
            w->low_cnt++;
            if (w->low_cnt == 2u)
                w->low = true;
        }
        return;
    }
}

static void learn_mode(bool ign, bool btn)
{
    if (!btn || !ign)
        hold = 0u;
    else if (hold < LEARN_HOLD && ++hold == LEARN_HOLD && !learning) {
        learning = true;
        learn_time = 0u;
        n_new = 0u;
        candidate = 0u;
        return;
    }
    if (learning) {
        learn_time++;
        if (!ign || learn_time >= LEARN_MAX)
            learning = false; /* the old wheels stay */
    }
}

void tpms_10ms(bool ign, bool learn_btn, bool has_byte, uint8_t byte)
{
    bool any_low = false, any_missing = false;
    uint8_t i;

    ev = EV_NONE;
    learn_mode(ign, learn_btn);

    for (i = 0u; i < WHEELS; i++) {
        wheel_t *w = &wheel[i];
        if (ign && !ign_old) {
            w->age = 0u;
        } else if (ign && w->id != 0u && w->age < MISSING_STEPS) {
            w->age++;
            if (w->age == MISSING_STEPS)
                w->missing = true;
        }
    }
    ign_old = ign;

    if (receive(has_byte, byte))
        telegram((uint16_t)((rx.buf[0] << 8) | rx.buf[1]), rx.buf[2]);

    for (i = 0u; i < WHEELS; i++) {
        any_low = any_low || wheel[i].low;
        any_missing = any_missing || wheel[i].missing;
    }
    if (any_missing)
        blink = (uint8_t)((blink + 1u) % (2u * BLINK_HALF));
    else
        blink = 0u;
    lamp = ign && (any_low || (any_missing && blink < BLINK_HALF));
}

bool tpms_lamp(void)
{
    return lamp;
}
