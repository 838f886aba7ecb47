/* A clock that is compared absolutely with a stamp, beside filters and counters that saturate. */
typedef struct { _Bool go, pulse; double level; } t_input;
typedef struct { unsigned long now, last; unsigned char t, m; double fast, slow; unsigned pulses, runs; } t_state;

void init(t_state *s)
{
  s->now = 0;
  s->last = 0;
  s->t = 0;
  s->m = 0;
  s->fast = 0.0;
  s->slow = 0.0;
  s->pulses = 0;
  s->runs = 0;
}

void compute(t_input *i, t_state *s)
{
  s->now += 100;
  s->fast += 0.5 * (i->level - s->fast);
  s->slow += 0.03125 * (i->level - s->slow);
  if (i->pulse && s->pulses < 4294967295u)
    s->pulses++;
  if (s->now >= s->last + 100) {
    s->last += 100;
    if (s->t < 255)
      s->t++;
  }
  if (s->m == 0) {
    if (i->go) {
      s->m = 1;
      s->t = 0;
    }
  } else if (s->m == 1) {
    if (s->t >= 50) {
      s->m = 2;
      if (s->runs < 4294967295u)
        s->runs++;
    } else if (!i->go)
      s->m = 0;
  } else if (!i->go)
    s->m = 0;
}
