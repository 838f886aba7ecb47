/* Filling of a tank. */

#define FULL 4000
#define LOW 250
#define CAPACITY 5000
#define SETTLING 120

enum { IDLE, FILLING, RESTING, DRAINING, OVERFLOW };

struct signals {
  unsigned char inflow; /* liters in this step, 0..5 */
  unsigned char begin;
  unsigned char drain;
};

struct tank {
  unsigned int level; /* liters */
  unsigned short rest; /* steps at rest */
  unsigned char mode;
};

void tank_init(struct tank *t);
void tank_step(struct tank *t, const struct signals *s);
