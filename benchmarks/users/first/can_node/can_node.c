/*
 * Network management, bus-off recovery, speed supervision, error memory, diagnosis
 */
#include "can_node.h"

struct dtc {
    dtc_code code;
    uint8_t count, age;
};

/* network management */
static nm_state nm;
static uint8_t nm_timer, nm_tx_timer;

/* bus-off */
static bool bo_wait;
static uint8_t bo_cnt, bo_timer, bo_good;

/* speed message */
static uint8_t speed, last_ctr, rx_age, e2e_err;
static bool speed_valid, first;

/* supply */
static uint8_t uv_cnt;

/* error memory, diagnosis */
static struct dtc dtc[NDTC];
static dg_state dg;
static uint8_t dg_idx, dg_seq, dg_retry, dg_timer;
static bool dg_aborted;

static uint8_t tx_id, tx_data; /* sent at the end of the task, id 0: nothing */

static uint8_t e2e_crc(uint8_t data, uint8_t ctr)
{
    static const uint8_t tab[16] = {
        0x00, 0x1D, 0x3A, 0x27, 0x74, 0x69, 0x4E, 0x53,
        0xE8, 0xF5, 0xD2, 0xCF, 0x9C, 0x81, 0xA6, 0xBB
    };
    uint8_t crc = (uint8_t)(0xFFu ^ data);

    crc = (uint8_t)((crc << 4) ^ tab[crc >> 4]);
    crc = (uint8_t)((crc << 4) ^ tab[(crc >> 4) ^ (ctr & 0x0Fu)]);
    return crc;
}

static void dtc_log(dtc_code code)
{
    uint8_t i, slot = 0u;

    for (i = 0u; i < NDTC; i++) {
        if (dtc[i].code == code) {
            if (dtc[i].count < 255u)
                dtc[i].count++;
            dtc[i].age = 0u;
            return;
        }
    }
    /* a free one, else the oldest, else the last */
    for (i = 0u; i < NDTC; i++) {
        if (dtc[i].code == DTC_NONE) {
            slot = i;
            break;
        }
        if (dtc[i].age >= dtc[slot].age)
            slot = i;
    }
    dtc[slot].code = code;
    dtc[slot].count = 1u;
    dtc[slot].age = 0u;
}

static void dtc_clear(void)
{
    uint8_t i;

    for (i = 0u; i < NDTC; i++) {
        dtc[i].code = DTC_NONE;
        dtc[i].count = dtc[i].age = 0u;
    }
}

static void reset_com(void)
{
    bo_wait = false;
    bo_cnt = bo_timer = bo_good = 0u;
    speed = last_ctr = rx_age = e2e_err = 0u;
    speed_valid = false;
    first = true;
    uv_cnt = 0u;
    dg = DG_IDLE;
    dg_idx = dg_seq = dg_retry = dg_timer = 0u;
}

void can_node_init(void)
{
    nm = NM_SLEEP;
    nm_timer = nm_tx_timer = 0u;
    dg_aborted = false;
    tx_id = tx_data = 0u;
    reset_com();
    dtc_clear();
}

static void nm_enter(nm_state next)
{
    uint8_t i;

    nm = next;
    nm_timer = 0u;
    if (next == NM_REPEAT)
        nm_tx_timer = NM_PERIOD; /* at once */
    if (next == NM_SLEEP) {
        reset_com();
        for (i = 0u; i < NDTC; i++) {
            if (dtc[i].code != DTC_NONE && ++dtc[i].age >= AGE_MAX)
                dtc[i].code = DTC_NONE;
        }
    }
}

static void nm_main(bool need, bool wake, bool nm_seen)
{
    switch (nm) {
    case NM_SLEEP:
        if (need || wake || nm_seen)
            nm_enter(NM_REPEAT);
        break;
    case NM_REPEAT:
        if (++nm_timer >= NM_REPEAT_STEPS)
            nm_enter(need ? NM_NORMAL : NM_READY);
        break;
    case NM_NORMAL:
        if (!need)
            nm_enter(NM_READY);
        break;
    case NM_READY:
        if (need)
            nm_enter(NM_NORMAL);
        else if (nm_seen)
            nm_timer = 0u;
        else if (++nm_timer >= NM_TIMEOUT)
            nm_enter(NM_PREPARE);
        break;
    case NM_PREPARE:
        if (need || nm_seen)
            nm_enter(NM_REPEAT);
        else if (++nm_timer >= NM_WAIT_SLEEP)
            nm_enter(NM_SLEEP);
        break;
    }
    if (nm == NM_REPEAT || nm == NM_NORMAL) {
        if (nm_tx_timer < NM_PERIOD) {
            nm_tx_timer++;
        } else if (!bo_wait) {
            nm_tx_timer = 1u;
            tx_id = ID_NM;
            tx_data = (uint8_t)nm;
        }
    }
}

static bool busoff_main(bool busoff)
{
    bool restart = false;

    if (bo_wait) {
        if (++bo_timer >= (bo_cnt > BO_FAST_MAX ? BO_SLOW : BO_FAST)) {
            bo_wait = false;
            restart = true;
        }
    } else if (busoff) {
        bo_wait = true;
        bo_timer = bo_good = 0u;
        if (bo_cnt <= BO_FAST_MAX && ++bo_cnt > BO_FAST_MAX)
            dtc_log(DTC_BUSOFF);
    } else if (bo_good < BO_GOOD) {
        bo_good++;
    } else {
        bo_cnt = 0u;
    }
    return restart;
}

static void speed_rx(const struct can_frame *f)
{
    const uint8_t delta = (uint8_t)((f->ctr - last_ctr) & 0x0Fu);
    bool ok = f->crc == e2e_crc(f->data, f->ctr);

    if (ok) {
        ok = first || (delta >= 1u && delta <= 2u); /* one may get lost */
        last_ctr = f->ctr & 0x0Fu;
        first = false;
    }
    if (ok) {
        speed = f->data;
        if (e2e_err > 0u)
            e2e_err--;
        if (e2e_err == 0u)
            speed_valid = true;
    } else {
        if (e2e_err < E2E_LIMIT && e2e_err + 2u >= E2E_LIMIT) {
            speed_valid = false;
            dtc_log(DTC_E2E);
        }
        e2e_err = (uint8_t)(e2e_err + 2u > E2E_MAX ? E2E_MAX : e2e_err + 2u);
    }
}

static void diag_main(bool got, const struct can_frame *f)
{
    switch (dg) {
    case DG_IDLE:
        if (!got || f->id != ID_DIAG)
            break;
        tx_id = ID_RESP;
        if (f->data == SID_READ) {
            tx_id = 0u;
            dg = DG_SEND;
            dg_idx = dg_seq = dg_retry = 0u;
            dg_aborted = false;
        } else if (f->data == SID_CLEAR && !(speed_valid && speed > 0u)) {
            dtc_clear();
            tx_data = RSP_POSITIVE;
        } else {
            tx_data = RSP_REFUSED; /* unknown service, or the car moves */
        }
        break;
    case DG_SEND:
        while (dg_idx < NDTC && dtc[dg_idx].code == DTC_NONE)
            dg_idx++;
        tx_id = ID_RESP;
        if (dg_idx == NDTC) {
            tx_data = RSP_END;
            dg = DG_IDLE;
        } else {
            tx_data = (uint8_t)((dg_seq << 4) | (uint8_t)dtc[dg_idx].code);
            dg_timer = 0u;
            dg = DG_WAIT_ACK;
        }
        break;
    case DG_WAIT_ACK:
        if (got && f->id == ID_ACK && f->ctr == dg_seq) {
            dg_seq = (dg_seq + 1u) & 3u;
            dg_idx++;
            dg_retry = 0u;
            dg = DG_SEND;
        } else if (++dg_timer >= ACK_TIMEOUT) {
            if (dg_retry < ACK_RETRIES) {
                dg_retry++;
                dg = DG_SEND;
            } else {
                dg_aborted = true;
                dg = DG_IDLE;
            }
        }
        break;
    }
}

void can_node_task(void)
{
    struct can_frame f;
    const bool ignition = hal_ignition();
    const bool got = hal_can_rx(&f) && !bo_wait;
    const uint8_t volt = hal_voltage();
    bool restart = false;

    tx_id = tx_data = 0u;
    nm_main(ignition, hal_wake_line(), got && f.id == ID_NM);

    if (nm != NM_SLEEP)
        restart = busoff_main(hal_busoff());

    if (nm == NM_NORMAL) {
        if (volt >= UV_LIMIT)
            uv_cnt = 0u;
        else if (uv_cnt < UV_STEPS && ++uv_cnt == UV_STEPS)
            dtc_log(DTC_UNDERVOLTAGE);

        if (got && f.id == ID_SPEED) {
            rx_age = 0u;
            speed_rx(&f);
        } else if (volt < UV_LIMIT || bo_wait) {
            rx_age = 0u; /* no follow-up entries */
        } else if (rx_age < RX_TIMEOUT && ++rx_age == RX_TIMEOUT) {
            speed_valid = false;
            first = true;
            dtc_log(DTC_TIMEOUT);
        }
    } else {
        rx_age = 0u;
    }
    if (nm != NM_SLEEP && nm != NM_PREPARE && !bo_wait)
        diag_main(got, &f);

    hal_can_tx(tx_id, tx_data);
    hal_can_restart(restart);
}
