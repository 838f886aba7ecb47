/* Drive of a slide with an encoder. */

#define TARGET 2400
#define PARKED 600
#define END_STOP 3000

enum { OFF, HOMING, READY, FORWARD, AT_TARGET, BACKWARD, FAULT };

struct panel {
  unsigned char start;
  unsigned char stop;
  signed char pulse; /* of the encoder: -1, 0 or 1 */
};

struct drive {
  unsigned short position; /* pulses from the end where the slide is at home */
  unsigned char mode;
};

void drive_init(struct drive *d);
void drive_step(struct drive *d, const struct panel *p);
