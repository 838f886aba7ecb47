/* A total of steps, and a machine m 0, 1, 2, 0 that a large total sets back. */
typedef struct { _Bool go; } t_input;
typedef struct { unsigned total; unsigned char m; } t_state;

void init(t_state *s)
{
  s->total = 0;
  s->m = 0;
}

void compute(t_input *i, t_state *s)
{
  s->total++;
  if (i->go)
    s->m = (unsigned char)(s->m == 2 ? 0 : s->m + 1);
  if (s->total > 4000000000u)
    s->m = 0;
}
