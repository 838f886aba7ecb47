#ifndef WINDOW_LIFT_H
#define WINDOW_LIFT_H
#include <stdbool.h>
#include <stdint.h>

/* called every 10 ms */
#define POS_BOTTOM 1200      /* hall pulses, 0 = closed */
#define PINCH_LO 40          /* anti-pinch acts above this position ... */
#define PINCH_HI 1100        /* ... and below this one */
#define PINCH_DEB 5
#define PINCH_STEP 40        /* current over its average, 0.1 A */
#define BLANK_STEPS 20       /* inrush of the motor */
#define STALL_CURRENT 120
#define STALL_DEB 15
#define REV_PULSES 150
#define REV_STEPS 100
#define REV_MAX 3
#define HEAT_HOT 3000
#define HEAT_COOL 2000
#define RUN_ON_STEPS 500

typedef enum { DRV_STOP, DRV_UP, DRV_DOWN } drive_t;
typedef enum {
    W_UNCAL, W_STOP, W_MAN_UP, W_MAN_DOWN, W_AUTO_UP, W_AUTO_DOWN, W_REVERSE
} wmode_t;

struct win_in {
    bool sw_up, sw_down, sw_auto; /* sw_auto: second detent of the switch */
    bool ignition;
    bool door_open;
    uint8_t hall;                 /* pulses since the last call */
    uint8_t current;              /* 0.1 A */
};

struct win {
    wmode_t mode;
    drive_t drive;
    int16_t pos;
    bool calibrated;
    bool up_old, down_old, door_old;
    uint16_t base8;               /* 8 * average of the current */
    uint8_t run_time;             /* steps since the motor was switched on */
    uint8_t stall;
    uint8_t pinch_cnt;
    uint8_t rev_time;
    int16_t rev_pos;              /* where the reversal began */
    uint8_t reversals;            /* without the window having been closed */
    uint16_t heat;
    bool hot;
    uint16_t run_on;
};

void win_init(struct win *w);
void win_step(struct win *w, const struct win_in *in);
#endif
