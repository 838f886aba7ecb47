/* A latch with a seeded fault: reset is meant to win over set, here set wins. */

struct latch {
  unsigned char q;
  unsigned char changes; /* how often q has changed, up to 3 */
};

void latch_init(struct latch *l)
{
  l->q = 0;
  l->changes = 0;
}

void latch_step(struct latch *l, unsigned char set, unsigned char reset)
{
  unsigned char before = l->q;

  if (reset)
    l->q = 0;
  if (set) /* the fault: this should be the first of the two */
    l->q = 1;
  if (l->q != before && l->changes < 3)
    l->changes++;
}
