/* Gas burner: ignition, flame guard and lock-out. */

#define TRIES 3

enum mode { OFF, PURGE, IGNITE, BURN, COOL, LOCKED };

struct sensors {
  unsigned char demand;
  unsigned char flame;
  unsigned char air;
  unsigned char reset;
};

struct burner {
  unsigned char mode;
  unsigned char tries; /* ignitions that have failed */
  unsigned char valve;
  unsigned char spark;
};

void burner_init(struct burner *b);
void burner_step(struct burner *b, const struct sensors *s);
