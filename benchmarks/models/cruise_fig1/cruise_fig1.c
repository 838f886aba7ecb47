/* The cruise controller exactly as a paper prints it, with only what it needs to compile: `mode` is
 * declared and the brace too many is gone. Nothing sets the mode back to OFF, so that no run through
 * ON or DIS ever comes back to the start state.
 */
#include <assert.h>

#define FALSE 0

void __CPROVER_assume(int condition);

typedef enum { OFF, ON, DIS } t_mode;

typedef struct {
  _Bool gas, brake, acc, dec, button;
} t_input;

typedef struct {
  t_mode mode;
  int speed;
  _Bool enable;
} t_state;

void init(t_state *s) { s->mode = OFF; s->speed = 0; s->enable = FALSE; }

void compute(t_input *i, t_state *s) {
  t_mode mode = s->mode;
  switch (mode) {
  case ON: if (i->gas || i->brake) s->mode = DIS; break;
  case DIS:
    if ((s->speed == 2 && (i->dec || i->brake)) || (s->speed == 0 && (i->acc || i->gas)))
      s->mode = ON;
    break;
  case OFF:
    if ((s->speed == 0 && s->enable && (i->gas || i->acc)) ||
        (s->speed == 1 && i->button) ||
        (s->speed == 2 && s->enable && (i->brake || i->dec)))
      s->mode = ON;
    break;
  }
  if (i->button) s->enable = !s->enable;
  if ((i->gas || (mode != ON && i->acc)) && s->speed < 2) s->speed++;
  if ((i->brake || (mode != ON && i->dec)) && s->speed > 0) s->speed--;
}

int final(t_state *s) { return s->mode == OFF && s->speed == 0 && !s->enable; }

void p_1(t_input *i, t_state *s) {
  __CPROVER_assume(s->mode == ON && s->speed == 1 && i->dec);
  compute(i, s);
  assert(s->speed == 1);
}

void p_2(t_input *i, t_state *s) {
  __CPROVER_assume(s->mode == DIS && s->speed == 2 && i->dec);
  compute(i, s);
  assert(s->mode == ON);
}

void p_3(t_input *i, t_state *s) {
  __CPROVER_assume(s->mode == ON && i->brake);
  compute(i, s);
  assert(s->mode == DIS);
}

void p_4(t_input *i, t_state *s) {
  __CPROVER_assume(s->mode == OFF && s->speed == 2 && !s->enable && i->button);
  compute(i, s);
  assert(s->enable);
}
