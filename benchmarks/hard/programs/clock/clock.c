/* A clock that is compared absolutely with a stamp, as in many sketches, and a machine of three modes. */
typedef struct { _Bool go; } t_input;
typedef struct { unsigned long now, last; unsigned char t, m; } t_state;

void init(t_state *s)
{
  s->now = 0;
  s->last = 0;
  s->t = 0;
  s->m = 0;
}

void compute(t_input *i, t_state *s)
{
  s->now += 100;
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
    if (s->t >= 50)
      s->m = 2;
    else if (!i->go)
      s->m = 0;
  } else if (!i->go)
    s->m = 0;
}
