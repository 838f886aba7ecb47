/* Light of a staircase. */

#define LIGHT_TIME 90u
#define WARN_TIME 12u
#define CLEAN_TIME 150u

enum { DARK, LIT, DIMMED, CLEANING };

struct buttons {
  unsigned char press;
  unsigned char hold;
};

struct stairlight {
  unsigned int now;   /* steps since the start */
  unsigned int since; /* when the light was switched last */
  unsigned char mode;
};

void stairlight_init(struct stairlight *l);
void stairlight_step(struct stairlight *l, const struct buttons *b);
