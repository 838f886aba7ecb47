/* heater: its objects, its inputs and its goals. */
#include "heater.c"
static int up, down, frost;
static Heater__heater_out OUT_, *_out = &OUT_;
static Heater__heater_mem ME_, *self = &ME_;

#define GOALS 7
#define FINAL (self->ck == Heater__St_Off)

static void harness_start(void) {
  Heater__heater_reset(self);
}

static void harness_choose(void) {
  INPUT(up, value == 0 || value == 1)
  INPUT(down, value == 0 || value == 1)
  INPUT(frost, value == 0 || value == 1)
  __CPROVER_assume(up + down <= 1);
}

static void harness_before(void) {
  if (self->ck == Heater__St_Off && up) COVER(0); /* low */
  if (self->ck == Heater__St_Low && up) COVER(1); /* high */
  if (self->ck == Heater__St_High && self->timer.v_2 == 3 && !down) COVER(2); /* falls_back */
  if (self->ck == Heater__St_High && self->v_9 && self->timer.v_2 == 0 && !down) COVER(3); /* lamp_flashes */
  if (self->ck == Heater__St_Off && !up && frost) COVER(4); /* frost */
  if (self->ck == Heater__St_Frost && !up && !frost) COVER(5); /* frost_ends */
  if (self->ck == Heater__St_High && self->timer.v_2 == 3 && down) COVER(6); /* down_in_time */
}

static void harness_step(void) {
  Heater__heater_step(up,down,frost,_out,self);
}

static void harness_after(void) {
}
