#ifndef DOOR_H
#define DOOR_H
#include <stdbool.h>
#include <stdint.h>

#define DEBOUNCE_MS 50u
#define TRAVEL_MS 12000u
#define AUTOCLOSE_MS 30000u
#define LIGHT_MS 60000u

enum door_state { DOOR_CLOSED, DOOR_OPENING, DOOR_OPEN, DOOR_CLOSING, DOOR_HALTED, DOOR_ERROR };

struct door {
    enum door_state state;
    uint32_t clock_ms;      /* free running */
    uint32_t entered_ms;    /* when the state was entered */
    uint32_t last_edge_ms;
    bool remote_last;
    bool request;
    uint8_t obstructions;
    bool light;
};

struct door_in { bool remote, beam, at_top, at_bottom, reset; };
struct door_out { bool up, down, lamp; };

void door_init(void);
void door_step(const struct door_in *in, struct door_out *out);
#endif
