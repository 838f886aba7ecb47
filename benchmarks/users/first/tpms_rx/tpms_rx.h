#ifndef TPMS_RX_H
#define TPMS_RX_H
#include <stdbool.h>
#include <stdint.h>

#define SYNC 0x5Au
#define GAP_MAX 5u            /* steps without a byte within a telegram */
#define WHEELS 4u
#define P_LOW 18u             /* 0.1 bar */
#define P_OK 22u
#define MISSING_STEPS 400u
#define LEARN_HOLD 100u
#define LEARN_MAX 1000u
#define BLINK_HALF 50u

typedef enum {
    EV_NONE,      /* nothing complete in this step */
    EV_WHEEL,     /* telegram of a known wheel */
    EV_UNKNOWN,   /* telegram of somebody else's */
    EV_CHECKSUM,
    EV_TIMEOUT,
    EV_CANDIDATE, /* heard for the first time while learning */
    EV_LEARNED,
    EV_DUPLICATE
} rx_event;

typedef struct {
    uint16_t id;              /* 0: not learned */
    uint8_t pressure;
    uint8_t low_cnt;
    uint16_t age;
    bool low, missing;
} wheel_t;

void tpms_init(void);
void tpms_10ms(bool ign, bool learn_btn, bool has_byte, uint8_t byte);
bool tpms_lamp(void);
#endif
