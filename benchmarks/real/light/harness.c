/* A clock for the light control: every step lets so many milliseconds pass. The stored vehicle is a European one. */
#include "system.h"
#include "light/light-impl.h"
#include "light/light-state.h"

unsigned char elapsed;   /* input: tenths of a second since the last step */
static size_t now;
light_state lights;      /* output: a copy of what get_light_state() gives */

size_t get_time(void)
{
  return now;
}

void start(void)
{
  now = 1000;
  reset_lights();
}

void tick(void)
{
  now += (size_t)elapsed * 100;
  light_do_step();
  lights = get_light_state();
}
