/* One wash, one rinse, a spin; one tick in a second. `chaincover init` proposed it; the program's values were filled in. */
#include "wm_control.h"

void setup(wm_controller_t *c, wm_sensors_t *s, wm_actuators_t *a) {
  wm_program_t program = { 1, 1, true, 20, 60, 60, 1600, 5000, WATER_HIGH, 100, 60, 1 };
  wm_init(c, s, a, program);
}

void tick(wm_controller_t *c, wm_sensors_t *s, wm_actuators_t *a, _Bool call_wm_start, _Bool call_wm_pause,
          _Bool call_wm_resume, _Bool call_wm_abort) {
  if (call_wm_start) wm_start(c);
  if (call_wm_pause) wm_pause(c);
  if (call_wm_resume) wm_resume(c);
  if (call_wm_abort) wm_abort(c);
  wm_tick(c, s, a);
}
