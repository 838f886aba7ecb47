#ifndef ELEVATOR_DOOR_H
#define ELEVATOR_DOOR_H
#include <stdbool.h>
#include <stdint.h>

#define MOVE_T    500
#define HOLD_T    300
#define QUICK_T   50
#define BLOCK_T   3000
#define REV_MAX   3
#define RAMP      2
#define STALL_ADC 180
#define STALL_N   4
#define LIM_N     5

enum door_state { CLOSED, OPENING, OPEN, CLOSING, NUDGING, FAULT };

struct door_in {
    bool at_floor, open_lim, close_lim, curtain, btn_open, btn_close, service;
    uint8_t current;
};

struct door {
    enum door_state st;
    uint16_t timer, hold, open_t;
    uint8_t  reversals, duty, stall, lim_bad;
};

void door_init(struct door *d);
void door_task(struct door *d, const struct door_in *in);
#endif
