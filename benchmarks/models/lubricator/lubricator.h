/* Lubricator of a machine. */

#define REST_TIME 12
#define PUMP_TIME 7
#define HOLD_TIME 5
#define MISSES 2
#define LINES 4

enum { REST, PUMPING, HOLDING, BLOCKED };

struct machine {
  unsigned char runs;
  unsigned char pressure;
  unsigned char reset;
};

struct lubricator {
  unsigned short timer; /* steps in this mode */
  unsigned char mode;
  unsigned char misses; /* of this line */
  unsigned char line;
};

void lubricator_init(struct lubricator *l);
void lubricator_step(struct lubricator *l, const struct machine *m);
