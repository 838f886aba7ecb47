/* Crane with load cells that are read as telegrams: 58 bits of inputs, nine states. */

enum { OFF, TEST, READY, HOIST, SLOW, SLEW, LOWER, ALARM, LOCKED };

struct telegram {
  unsigned char lf; /* load cells: left front, left back, right front, right back */
  unsigned char lb;
  unsigned char rf;
  unsigned char rb;
  unsigned char wind;
  unsigned char reach; /* of the boom */
  unsigned char check; /* makes the sum of all bytes 0 */
  _Bool up;
  _Bool release;
};

struct crane {
  unsigned char stage;
};

void crane_init(struct crane *c);
void crane_step(struct crane *c, const struct telegram *t);
