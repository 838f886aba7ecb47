#include "modbus_slave.h"

#define F_WRITE     1u
#define F_READ      2u
#define F_LOCKED    4u          /* may be written while unlocked only */

static const struct {
    uint8_t  flags;
    uint16_t min, max, start;
} reg_def[N_REGS] = {
    [REG_STATUS]   = { F_READ,                      0,      0,   0 },
    [REG_INPUT]    = { F_READ,                      0,      0,   0 },
    [REG_SETPOINT] = { F_READ | F_WRITE,            0,    650,   0 },
    [REG_MODE]     = { F_READ | F_WRITE | F_LOCKED, 0,      3,   1 },
    [REG_WDOG]     = { F_READ | F_WRITE | F_LOCKED, 50,  2000, 300 },
    [REG_KEY]      = { F_WRITE,                     0, 0xFFFF,   0 },
};

void slave_init(slave *s)
{
    int i;

    s->link = RX_IDLE;
    s->ev = EV_NONE;
    for (i = 0; i < FRAME_LEN; i++)
        s->buf[i] = s->tx[i] = 0;
    s->n = s->quiet = s->tx_i = 0;
    for (i = 0; i < N_REGS; i++)
        s->reg[i] = reg_def[i].start;
    s->wdog = 0;
    s->failsafe = true;         /* until the master has spoken */
    s->key_t = 0;
    s->unlock = 0;
    s->err_row = 0;
    s->err_total = 0;
    s->listen_only = false;
}

static uint8_t lrc(const uint8_t *p, int n)
{
    uint8_t sum = 0;

    while (n-- > 0)
        sum = (uint8_t)(sum + *p++);
    return (uint8_t)(0x100 - sum);
}

static void bad_frame(slave *s)
{
    s->ev = EV_BAD;
    if (s->err_total < 0xFFFF)
        s->err_total++;
    if (s->err_row < ERR_LIMIT && ++s->err_row == ERR_LIMIT)
        s->listen_only = true;
}

static void answer(slave *s, uint8_t func, uint8_t reg, uint16_t value)
{
    if (s->buf[0] == BROADCAST || s->listen_only)
        return;
    s->tx[0] = MY_ADDR;
    s->tx[1] = func;
    s->tx[2] = reg;
    s->tx[3] = (uint8_t)(value >> 8);
    s->tx[4] = (uint8_t)(value & 0xFF);
    s->tx[5] = lrc(s->tx, FRAME_LEN - 1);
    s->tx_i = 0;
    s->quiet = 0;
    s->link = RX_TURN;
}

static void exception(slave *s, uint8_t code)
{
    s->ev = EV_EXC;
    answer(s, s->buf[1] | FC_ERROR, code, 0);
}

static void write_key(slave *s, uint16_t value)
{
    if (value == KEY_1) {
        s->key_t = KEY_T;
        s->unlock = 0;
    } else {
        s->unlock = value == KEY_2 && s->key_t > 0 ? UNLOCK_T : 0;
        s->key_t = 0;
    }
}

static void do_write(slave *s, uint8_t reg, uint16_t value)
{
    if (reg >= N_REGS || !(reg_def[reg].flags & F_WRITE)) {
        exception(s, EXC_ADDR);
        return;
    }
    if (value < reg_def[reg].min || value > reg_def[reg].max) {
        exception(s, EXC_VALUE);
        return;
    }
    if ((reg_def[reg].flags & F_LOCKED) && s->unlock == 0) {
        exception(s, EXC_ADDR);
        return;
    }
    if (reg == REG_KEY)
        write_key(s, value);
    else
        s->reg[reg] = value;
    if (reg == REG_SETPOINT)
        s->failsafe = false;
    s->ev = EV_WRITE;
    answer(s, FC_WRITE, reg, value);
}

static void do_diag(slave *s, uint8_t sub, uint16_t value)
{
    switch (sub) {
    case DIAG_ECHO:
        break;
    case DIAG_CLEAR:
        s->err_total = 0;
        break;
    case DIAG_RESTART:
        s->listen_only = false;
        break;
    default:
        exception(s, EXC_VALUE);
        return;
    }
    s->ev = EV_DIAG;
    answer(s, FC_DIAG, sub, value);
}

static void frame_end(slave *s)
{
    uint8_t  reg = s->buf[2];
    uint16_t value = (uint16_t)(s->buf[3] << 8 | s->buf[4]);

    if (s->link == RX_OVERRUN || s->n != FRAME_LEN ||
        s->buf[FRAME_LEN - 1] != lrc(s->buf, FRAME_LEN - 1)) {
        s->link = RX_IDLE;
        bad_frame(s);
        return;
    }
    s->link = RX_IDLE;
    s->err_row = 0;
    s->wdog = 0;
    if (s->buf[0] != MY_ADDR && s->buf[0] != BROADCAST) {
        s->ev = EV_FOREIGN;
        return;
    }
    if (s->listen_only && s->buf[1] != FC_DIAG)
        return;
    switch (s->buf[1]) {
    case FC_READ:
        if (reg >= N_REGS || !(reg_def[reg].flags & F_READ)) {
            exception(s, EXC_ADDR);
        } else {
            s->ev = EV_READ;
            answer(s, FC_READ, reg, s->reg[reg]);
        }
        break;
    case FC_WRITE:
        do_write(s, reg, value);
        break;
    case FC_DIAG:
        do_diag(s, reg, value);
        break;
    default:
        exception(s, EXC_FUNC);
        break;
    }
}

static void receive(slave *s, const slave_in *in)
{
    if (!in->rx) {
        if (s->link != RX_IDLE && ++s->quiet >= SILENCE)
            frame_end(s);
        return;
    }
    s->quiet = 0;
    if (s->link == RX_IDLE) {
        s->link = RX_FRAME;
        s->n = 0;
    }
    if (s->n < FRAME_LEN)
        s->buf[s->n++] = in->byte;
    else
        s->link = RX_OVERRUN;
}

void slave_tick(slave *s, const slave_in *in, slave_out *out)
{
    s->ev = EV_NONE;
    out->tx_valid = false;
    out->tx_byte = 0;

    s->reg[REG_INPUT] = (uint16_t)((3u * s->reg[REG_INPUT] + in->adc) / 4u);
    s->reg[REG_STATUS] = (uint16_t)((s->failsafe ? ST_FAILSAFE : 0u)
                                    | (s->unlock > 0 ? ST_UNLOCKED : 0u)
                                    | (s->err_total > 0 ? ST_ERRORS : 0u));
    if (s->key_t > 0)
        s->key_t--;
    if (s->unlock > 0)
        s->unlock--;
    if (s->wdog < s->reg[REG_WDOG])
        s->wdog++;

    switch (s->link) {
    case RX_TURN:                       /* the bus needs a pause */
        if (++s->quiet >= RESP_DELAY)
            s->link = TX_SEND;
        break;
    case TX_SEND:
        if (in->tx_ready) {
            out->tx_valid = true;
            out->tx_byte = s->tx[s->tx_i];
            if (++s->tx_i == FRAME_LEN)
                s->link = RX_IDLE;
        }
        break;
    default:
        receive(s, in);
        break;
    }

    if (s->wdog >= s->reg[REG_WDOG])
        s->failsafe = true;
    out->setpoint = s->failsafe ? SP_SAFE : s->reg[REG_SETPOINT];
}
