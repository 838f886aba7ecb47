#include <math.h>
typedef float real32_T; typedef unsigned char boolean_T;
typedef struct { real32_T rate; boolean_T hold; } ExtU_T;
typedef struct { real32_T heading; boolean_T north; } ExtY_T;
typedef struct { real32_T angle; unsigned char turns; } DW_T;
ExtU_T a_U; ExtY_T a_Y; DW_T a_DW;
void a_initialize(void) { a_DW.angle = 0.0F; a_DW.turns = 0; a_Y.heading = 0.0F; a_Y.north = 1; }
void a_step(void) {
  real32_T next;
  if (!a_U.hold) {
    next = a_DW.angle + 0.1F * a_U.rate;
    if (next >= 360.0F && a_DW.turns < 3) a_DW.turns++;
    next = fmodf(next, 360.0F);
    if (next < 0.0F) next += 360.0F;
    a_DW.angle = next;
  }
  a_Y.heading = a_DW.angle;
  a_Y.north = (a_DW.angle < 10.0F) || (a_DW.angle > 350.0F);
}
