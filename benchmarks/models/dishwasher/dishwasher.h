/* Dishwasher: a programme of phases, each with a timer of its own. */

enum phase { IDLE, FILL, WASH, DRAIN, RINSE, DRY, FAULT };

struct panel {
  unsigned char start;
  unsigned char cancel;
  unsigned char eco;
  unsigned char door;
  unsigned char full; /* the water level */
};

struct dishwasher {
  unsigned char phase;
  unsigned char timer; /* minutes in this phase */
  unsigned char eco;
  unsigned char rinsed; /* the water in the tub is not drained for another filling */
};

void dishwasher_init(struct dishwasher *d);
void dishwasher_step(struct dishwasher *d, const struct panel *p);
