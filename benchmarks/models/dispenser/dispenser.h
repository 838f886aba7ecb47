/* Dispenser: fills barrels. */

#define BARREL 4000u
#define SERVICE 16915u

struct meter {
  unsigned int pulses; /* in this step: at most 255 */
  unsigned char start;
  unsigned char stop;
};

struct dispenser {
  unsigned int total;
  unsigned int at_start;
  unsigned char valve;
  unsigned char warned;
};

void dispenser_init(struct dispenser *d);
void dispenser_step(struct dispenser *d, const struct meter *m);
