/* Seat-belt reminder. */

#define PATIENCE 500 /* steps without a belt */

enum { OFF, SAFE, WAITING, CHIMING };

struct signals {
  unsigned char ignition;
  unsigned char belt;
};

struct belt {
  unsigned short timer; /* steps without a belt */
  unsigned char mode;
};

void belt_init(struct belt *b);
void belt_step(struct belt *b, const struct signals *s);
