/* A machine without inputs that goes on by a clock of type int. */
typedef struct { int now, since; unsigned char m; } t_state;

void init(t_state *s)
{
  s->now = 0;
  s->since = 0;
  s->m = 0;
}

void compute(t_state *s)
{
  s->now++;
  if (s->now - s->since >= 4) {
    s->since = s->now;
    s->m = (unsigned char)(s->m == 2 ? 0 : s->m + 1);
  }
}
