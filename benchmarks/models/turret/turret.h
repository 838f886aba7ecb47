/* Tool turret of a lathe: swings to any of 15 places. */

#define PLACES 15
#define LONG_DRILL 7
#define BORING_BAR 11

struct request {
  unsigned char tool;
  unsigned char spindle; /* it turns: no change of tools */
};

struct turret {
  unsigned char tool;
  unsigned char target;
  unsigned char swinging;
};

void turret_init(struct turret *t);
void turret_step(struct turret *t, const struct request *r);
