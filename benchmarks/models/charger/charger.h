/* Charging station for cars. */

enum { BOOT, FREE, RESERVED, CONNECTED, CHARGING, PAUSED, DONE, FAULT, OUT_OF_ORDER };
#define BROKEN FAULT

struct line {
  unsigned char selftest;
  unsigned char car;
  unsigned char card;
  unsigned char full;
  unsigned char hot;
  unsigned char leak;
};

struct charger {
  unsigned char state;
};

void charger_init(struct charger *c);
void charger_step(struct charger *c, const struct line *l);
