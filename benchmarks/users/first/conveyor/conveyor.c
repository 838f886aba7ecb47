#include "conveyor.h"

struct parcel {
    uint8_t lane;
    uint8_t stamp; /* encoder value when it left its lane */
};

static struct parcel queue[QLEN];
static uint8_t head, count;
static uint8_t now; /* encoder, wraps */

static uint8_t deb[NLANES];
static bool occupied[NLANES];

static int8_t granted; /* lane that may push its parcel, or NONE */
static uint8_t last;
static uint8_t gap;

static bool out_prev;
static uint8_t errors;
static bool jam;
static uint8_t batch;

bool belt_run[NLANES]; /* outputs */
bool batch_done;

static uint8_t age(void)
{
    return (uint8_t)(now - queue[head].stamp);
}

static uint8_t pop(void)
{
    uint8_t lane = queue[head].lane;
    head = (uint8_t)((head + 1) % QLEN);
    count--;
    return lane;
}

static void push(uint8_t lane)
{
    struct parcel *p = &queue[(head + count) % QLEN];
    p->lane = lane;
    p->stamp = now;
    count++;
}

void cm_reset(void)
{
    int i;
    for (i = 0; i < QLEN; i++)
        queue[i].lane = queue[i].stamp = 0;
    head = count = now = gap = errors = batch = 0;
    last = LANE_B;
    granted = NONE;
    out_prev = jam = batch_done = false;
    for (i = 0; i < NLANES; i++) {
        deb[i] = 0;
        occupied[i] = belt_run[i] = false;
    }
}

static void exit_eye(bool arrived)
{
    if (arrived) {
        if (count > 0 && age() >= WIN_MIN && age() <= WIN_MAX) {
            (void)pop();
            if (++batch == BATCH) {
                batch = 0;
                batch_done = true;
            }
        } else {
            errors++; /* somebody put it there */
        }
    } else if (count > 0 && age() > WIN_MAX) {
        (void)pop(); /* lost, or taken off */
        errors++;
    }
    if (errors >= MAX_ERRORS)
        jam = true;
}

static void arbitrate(bool full)
{
    uint8_t other = last == LANE_A ? LANE_B : LANE_A;

    if (granted != NONE) {
        if (!occupied[granted]) {
            push((uint8_t)granted);
            last = (uint8_t)granted;
            granted = NONE;
            gap = GAP_TICKS;
        }
    } else if (gap == 0 && count < QLEN && !full) {
        if (occupied[other])
            granted = (int8_t)other;
        else if (occupied[last])
            granted = (int8_t)last;
    }
}

void cm_step(const struct cm_in *in)
{
    bool arrived = in->eye_out && !out_prev;
    int i;

    out_prev = in->eye_out;
    batch_done = false;
    if (in->tick) {
        now++;
        if (gap > 0)
            gap--;
    }
    for (i = 0; i < NLANES; i++) {
        if (in->eye[i]) {
            if (deb[i] < EYE_DEB && ++deb[i] == EYE_DEB)
                occupied[i] = true;
        } else {
            if (deb[i] > 0 && --deb[i] == 0)
                occupied[i] = false;
        }
    }

    if (in->estop || jam) {
        granted = NONE;
        if (jam && in->ack && !in->estop) {
            jam = false;
            errors = 0;
            head = count = 0; /* the belt has been cleared by hand */
        }
    } else {
        exit_eye(arrived);
        arbitrate(in->full);
    }
    for (i = 0; i < NLANES; i++)
        belt_run[i] = !jam && !in->estop && granted == i;
}
