/* Garage door drive. Called by the scheduler every 10 ms, keeps its own millisecond clock. */
#include "door.h"

struct door door;

static uint32_t elapsed(const struct door *d, uint32_t from)
{
    return d->clock_ms - from;
}

static void enter(struct door *d, enum door_state next)
{
    d->state = next;
    d->entered_ms = d->clock_ms;
}

void door_init(void)
{
    door.state = DOOR_CLOSED;
    door.clock_ms = 0u;
    door.entered_ms = 0u;
    door.last_edge_ms = 0u;
    door.remote_last = false;
    door.request = false;
    door.obstructions = 0u;
    door.light = false;
}

static void remote_task(struct door *d, const struct door_in *in)
{
    d->request = false;
    if (in->remote != d->remote_last && elapsed(d, d->last_edge_ms) >= DEBOUNCE_MS) {
        d->last_edge_ms = d->clock_ms;
        d->remote_last = in->remote;
        d->request = in->remote;
    }
}

void door_step(const struct door_in *in, struct door_out *out)
{
    struct door *d = &door;

    d->clock_ms += 10u;
    remote_task(d, in);

    switch (d->state) {
    case DOOR_CLOSED:
        if (d->request) {
            enter(d, DOOR_OPENING);
            d->obstructions = 0u;
        }
        break;
    case DOOR_OPENING:
        if (in->at_top)
            enter(d, DOOR_OPEN);
        else if (d->request)
            enter(d, DOOR_HALTED);
        else if (elapsed(d, d->entered_ms) > TRAVEL_MS)
            enter(d, DOOR_ERROR);
        break;
    case DOOR_OPEN:
        if (in->beam)
            d->entered_ms = d->clock_ms;
        else if (d->request || elapsed(d, d->entered_ms) >= AUTOCLOSE_MS)
            enter(d, DOOR_CLOSING);
        break;
    case DOOR_CLOSING:
        if (in->beam) {
            if (++d->obstructions >= 3u)
                enter(d, DOOR_ERROR);
            else
                enter(d, DOOR_OPENING);
        } else if (in->at_bottom)
            enter(d, DOOR_CLOSED);
        else if (d->request)
            enter(d, DOOR_HALTED);
        else if (elapsed(d, d->entered_ms) > TRAVEL_MS)
            enter(d, DOOR_ERROR);
        break;
    case DOOR_HALTED:
        if (d->request)
            enter(d, DOOR_OPENING);
        break;
    case DOOR_ERROR:
        if (in->reset && elapsed(d, d->entered_ms) >= 1000u) {
            d->obstructions = 0u;
            enter(d, DOOR_HALTED);
        }
        break;
    }
    d->light = d->state != DOOR_CLOSED || elapsed(d, d->entered_ms) < LIGHT_MS;
    out->up = d->state == DOOR_OPENING;
    out->down = d->state == DOOR_CLOSING;
    out->lamp = d->light;
}
