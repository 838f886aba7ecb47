/* Turn signal control: called every 100 ms with the position of the lever and the switches. */
#ifndef TURNSIGNAL_H
#define TURNSIGNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { LEVER_OFF, LEVER_LEFT, LEVER_RIGHT } lever_t;

/* Lamps that are lit: bit 0 left, bit 1 right. */
typedef enum { LAMPS_NONE = 0, LAMPS_LEFT = 1, LAMPS_RIGHT = 2, LAMPS_BOTH = 3 } lamps_t;

typedef enum { MODE_IDLE, MODE_TIP, MODE_HOLD, MODE_HAZARD } blink_mode_t;

#define ON_STEPS 2       /* steps lit, and steps dark */
#define TIP_FLASHES 3    /* flashes after a short tip */
#define TIP_LIMIT 3      /* a lever held longer than this is no tip */

void turnsignal_init(void);
lamps_t turnsignal_step(lever_t lever, bool hazard, bool ignition);

#endif
