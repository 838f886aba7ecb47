/* Seat-belt reminder. */

#define PATIENCE 500
#define PAUSE 5
#define BEATS 60

enum { OFF, FASTENED, WAITING, WARNING, SILENT };

struct signals {
  unsigned char ignition;
  unsigned char belt;
};

struct reminder {
  unsigned int timer; /* steps without a belt */
  unsigned short beats; /* of the chime */
  unsigned char pause; /* steps since the last beat */
  unsigned char mode;
};

void reminder_init(struct reminder *r);
void reminder_step(struct reminder *r, const struct signals *s);
