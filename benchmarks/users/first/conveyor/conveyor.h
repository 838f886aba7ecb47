/* Merge of two infeed lanes onto a sorter belt */
#ifndef CONVEYOR_H
#define CONVEYOR_H
#include <stdbool.h>
#include <stdint.h>

#define QLEN 5
#define NLANES 2
#define LANE_A 0
#define LANE_B 1
#define NONE (-1)

#define EYE_DEB 4
#define GAP_TICKS 12   /* encoder ticks between two parcels */
#define WIN_MIN 40     /* a parcel arrives at the exit eye between these */
#define WIN_MAX 60
#define MAX_ERRORS 3
#define BATCH 8

struct cm_in {
    bool eye[NLANES];  /* photo eyes at the ends of the lanes */
    bool eye_out;
    bool tick;         /* belt encoder, one tick per step at most */
    bool estop;
    bool ack;
    bool full;         /* downstream sorter takes nothing */
};

void cm_reset(void);
void cm_step(const struct cm_in *in);
#endif
