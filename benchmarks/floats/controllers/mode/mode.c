typedef double real_T; typedef unsigned char boolean_T;
typedef struct { real_T lever; real_T speed; boolean_T fault; } ExtU_T;
typedef struct { real_T gear; } ExtY_T;
typedef struct { real_T mode; real_T count; real_T filt; } DW_T;
ExtU_T g_U; ExtY_T g_Y; DW_T g_DW;
void g_initialize(void) { g_DW.mode = 0.0; g_DW.count = 0.0; g_DW.filt = 0.0; g_Y.gear = 0.0; }
void g_step(void) {
  g_DW.filt = 0.75 * g_DW.filt + 0.25 * g_U.speed;
  if (g_U.fault) { g_DW.count += 1.0; if (g_DW.count > 3.0) { g_DW.mode = 9.0; } }
  else { g_DW.count = 0.0; }
  if (g_DW.mode == 0.0) { if (g_U.lever == 1.0) { g_DW.mode = 1.0; } }
  else if (g_DW.mode == 1.0) {
    if (g_U.lever == 0.0) { g_DW.mode = 0.0; }
    else if (g_DW.filt > 20.0) { g_DW.mode = 2.0; }
  } else if (g_DW.mode == 2.0) {
    if (g_DW.filt < 10.0) { g_DW.mode = 1.0; }
    else if (g_DW.filt > 60.0) { g_DW.mode = 3.0; }
  } else if (g_DW.mode == 3.0) {
    if (g_DW.filt < 50.0) { g_DW.mode = 2.0; }
  } else if (!g_U.fault) { g_DW.mode = 0.0; }
  g_Y.gear = g_DW.mode;
}
