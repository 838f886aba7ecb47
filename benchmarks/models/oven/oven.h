/* Baking oven with a temperature sensor and a door contact. */

#define HOT 36       /* units of 5 degrees */
#define WARM 33
#define COOL 10
#define AIRED 3      /* steps with the door open until the heat is let out */
#define TOO_LONG 24  /* steps of heating */
#define JUMP 4       /* what the sensor cannot change in a step */

enum { OFF, HEATING, READY, AIRING, FAULT };

struct signals {
  unsigned char start;
  unsigned char door;  /* open */
  unsigned char temp;
};

struct oven {
  unsigned char mode;
  unsigned char heater;
  unsigned char opened; /* steps with the door open, in READY */
  unsigned char timer;  /* steps in HEATING */
  unsigned char last;   /* temperature of the step before */
};

void oven_init(struct oven *o);
void oven_step(struct oven *o, const struct signals *s);
