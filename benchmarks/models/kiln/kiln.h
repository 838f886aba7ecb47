/* Firing of a kiln. */

#define TICKS 60
#define HEAT_TIME 40
#define SOAK_TIME 25
#define COOL_TIME 50

enum { COLD, HEATING, SOAKING, COOLING, HELD };

struct keys {
  unsigned char start;
  unsigned char hold;
  unsigned char door;
};

struct kiln {
  unsigned short ticks;   /* steps in this minute */
  unsigned short minutes; /* in this mode */
  unsigned char mode;
};

void kiln_init(struct kiln *k);
void kiln_step(struct kiln *k, const struct keys *p);
