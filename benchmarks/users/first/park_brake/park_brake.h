#ifndef PARK_BRAKE_H
#define PARK_BRAKE_H
#include <stdbool.h>
#include <stdint.h>

enum { LEFT, RIGHT, SIDES };

/* what each of the two contact pairs of the switch says */
enum { SW_NEUTRAL, SW_PULL, SW_PUSH, SW_INVALID };

typedef enum {
    EPB_UNKNOWN, EPB_RELEASED, EPB_APPLYING, EPB_APPLIED, EPB_RELEASING, EPB_DYNAMIC, EPB_FAULT
} epb_state_t;

typedef enum { ACT_IDLE, ACT_CLOSE, ACT_OPEN } act_cmd_t;

typedef enum { E_NONE, E_SWITCH, E_STUCK, E_LEFT, E_RIGHT, E_ROLL } epb_error_t;

typedef struct {
    uint8_t sw1, sw2;
    bool ign;
    bool brake;               /* brake pedal */
    bool auto_apply;          /* driver's setting */
    uint8_t speed;            /* km/h */
    uint8_t volt;             /* 0.1 V */
    uint8_t current[SIDES];   /* 0.1 A */
} epb_in_t;

typedef struct {
    uint8_t i_clamp;          /* current that shows the clamping force */
    uint8_t i_block;          /* blocked while opening */
    uint8_t inrush;           /* steps */
    uint8_t close_max;        /* steps */
    uint8_t open_steps;
} epb_cal_t;

#define SPEED_STILL 5
#define SPEED_ROLL 2
#define VOLT_MIN 80
#define SW_BAD_STEPS 25
#define SW_STUCK_STEPS 1000
#define ROLL_STEPS 10
#define RECLAMP_MAX 2
#define RECLAMP_AFTER 1500
#define HEAT_HOT 400
#define HEAT_MAX 2000
#define NLOG 4

extern const epb_cal_t epb_cal;

void epb_init(void);
void epb_step(const epb_in_t *in); /* 10 ms */
#endif
