#ifndef MODBUS_SLAVE_H
#define MODBUS_SLAVE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Field-bus slave of a heat pump controller, much like Modbus with single
 * registers and an LRC:   addr func reg hi lo lrc
 * A frame ends with SILENCE ticks without a byte.  One tick is 1 ms.
 */
#define MY_ADDR     17
#define BROADCAST   0
#define FRAME_LEN   6
#define SILENCE     4
#define RESP_DELAY  3

#define FC_READ     0x03
#define FC_WRITE    0x06
#define FC_DIAG     0x08
#define FC_ERROR    0x80

#define DIAG_ECHO   0
#define DIAG_CLEAR  1
#define DIAG_RESTART 2

#define EXC_FUNC    1
#define EXC_ADDR    2
#define EXC_VALUE   3

#define KEY_1       0xA55Au
#define KEY_2       0x5AA5u
#define KEY_T       100     /* from the first half of the key to the second */
#define UNLOCK_T    500

#define ERR_LIMIT   10      /* faulty frames in a row: listen only */
#define SP_SAFE     0

enum { REG_STATUS, REG_INPUT, REG_SETPOINT, REG_MODE, REG_WDOG, REG_KEY, N_REGS };

/* bits of REG_STATUS */
#define ST_FAILSAFE 1u
#define ST_UNLOCKED 2u
#define ST_ERRORS   4u

typedef enum { RX_IDLE, RX_FRAME, RX_OVERRUN, RX_TURN, TX_SEND } link_state;
typedef enum { EV_NONE, EV_READ, EV_WRITE, EV_DIAG, EV_EXC, EV_BAD, EV_FOREIGN } link_event;

typedef struct {
    link_state link;
    link_event ev;              /* what the last step has seen */
    uint8_t  buf[FRAME_LEN];
    uint8_t  n;
    uint8_t  quiet;
    uint8_t  tx[FRAME_LEN];
    uint8_t  tx_i;
    uint16_t reg[N_REGS];
    uint16_t wdog;
    bool     failsafe;
    uint8_t  key_t;
    uint16_t unlock;
    uint8_t  err_row;
    uint16_t err_total;
    bool     listen_only;
} slave;

typedef struct {
    bool     rx;                /* a byte has arrived */
    uint8_t  byte;
    bool     tx_ready;          /* the UART takes one */
    uint16_t adc;
} slave_in;

typedef struct {
    bool     tx_valid;
    uint8_t  tx_byte;
    uint16_t setpoint;
} slave_out;

void slave_init(slave *s);
void slave_tick(slave *s, const slave_in *in, slave_out *out);

#endif
