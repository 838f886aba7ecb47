/* Boiler with seven sensors of 8 bits and two switches: 58 bits of inputs, nine states. */

enum { COLD, FILLED, FAN, LOW_FIRE, PUMP, HIGH_FIRE, VENTING, COOLING, LOCKED };

struct sensors {
  unsigned char supply; /* temperatures, in degrees */
  unsigned char back;
  unsigned char wall;
  unsigned char smoke;
  unsigned char demand;
  unsigned char pressure;
  unsigned char height; /* of the water */
  _Bool key;
  _Bool emergency;
};

struct boiler {
  unsigned char stage;
};

void boiler_init(struct boiler *b);
void boiler_step(struct boiler *b, const struct sensors *s);
