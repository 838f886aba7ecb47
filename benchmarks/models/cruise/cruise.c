/* A simple cruise controller: the running example of the test case chaining paper, with the
 * button leaving ON and DIS again (the paper's Fig. 1 misses this, its Fig. 2 has it).
 */
#include <assert.h>
#include <stdbool.h>

void __CPROVER_assume(int condition);

typedef enum { OFF, ON, DIS } t_mode;

typedef struct {
  bool gas;
  bool brake;
  bool acc;
  bool dec;
  bool button;
} t_input;

typedef struct {
  t_mode mode;
  int speed;
  bool enable;
} t_state;

void init(t_state *s) {
  s->mode = OFF;
  s->speed = 0;
  s->enable = false;
}

void compute(t_input *i, t_state *s) {
  t_mode mode = s->mode;

  switch (mode) {
  case ON:
    if (i->button)
      s->mode = OFF;
    else if (i->gas || i->brake)
      s->mode = DIS;
    break;
  case DIS:
    if (i->button)
      s->mode = OFF;
    else if ((s->speed == 2 && (i->dec || i->brake)) || (s->speed == 0 && (i->acc || i->gas)))
      s->mode = ON;
    break;
  case OFF:
    if ((s->speed == 0 && s->enable && (i->gas || i->acc)) || (s->speed == 1 && i->button) ||
        (s->speed == 2 && s->enable && (i->brake || i->dec)))
      s->mode = ON;
    break;
  }
  if (i->button)
    s->enable = !s->enable;
  if ((i->gas || (mode != ON && i->acc)) && s->speed < 2)
    s->speed++;
  if ((i->brake || (mode != ON && i->dec)) && s->speed > 0)
    s->speed--;
}

/* Exactly one of the five inputs in every step. */
int assumption(t_input *i, t_state *s) {
  (void)s;
  return i->gas + i->brake + i->acc + i->dec + i->button == 1;
}

/* A chain ends as it began. */
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
