"""A small program with goals of up to three steps: their certificates speak of monitors."""

from __future__ import annotations

PROGRAM = """\
typedef struct { _Bool a, b; } t_in;
typedef struct { unsigned char n; _Bool on; } t_st;
void init(t_st *s) { s->n = 0; s->on = 0; }
void compute(t_in *i, t_st *s) {
  if (i->a) { if (s->n < 3) s->n++; } else if (i->b) s->n = 0;
  s->on = i->b;
}
"""
GOALS = {
    "up": "G(a && X(a) && X(X(a)) -> X(X(n >= 2)))",
    "full": "cover(n == 3)",
    "rest": "G(b && X(!b) -> X(X(!on) || on))",
    "zero": "G(n == 2 && b -> n >= 0)",
}
