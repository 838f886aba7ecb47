typedef float real32_T; typedef unsigned char boolean_T; typedef unsigned int uint32_T; typedef signed int int32_T;
typedef struct { real32_T demand; boolean_T reset; } ExtU_T;
typedef struct { real32_T rate; real32_T torque; boolean_T limited; } ExtY_T;
typedef struct { real32_T last; } DW_T;
ExtU_T rl_U; ExtY_T rl_Y; DW_T rl_DW;
static const real32_T rl_bp[5] = { 0.0F, 10.0F, 25.0F, 50.0F, 100.0F };
static const real32_T rl_table[5] = { 0.0F, 4.0F, 20.0F, 45.0F, 60.0F };
static real32_T look1_iflf(real32_T u0) {
  real32_T frac; uint32_T i;
  if (u0 <= rl_bp[0]) { i = 0U; frac = 0.0F; }
  else if (u0 < rl_bp[4]) {
    i = 0U;
    for (int32_T k = 1; k < 4; k++) { if (u0 >= rl_bp[k]) i = (uint32_T)k; }
    frac = (u0 - rl_bp[i]) / (rl_bp[i + 1U] - rl_bp[i]);
  } else { i = 3U; frac = 1.0F; }
  return (rl_table[i + 1U] - rl_table[i]) * frac + rl_table[i];
}
void rl_initialize(void) { rl_DW.last = 0.0F; rl_Y.torque = 0.0F; rl_Y.rate = 0.0F; rl_Y.limited = 0; }
void rl_step(void) {
  real32_T d = rl_U.demand - rl_DW.last; 
  rl_Y.limited = 0;
  if (d > 12.5F) { d = 12.5F; rl_Y.limited = 1; }
  if (d < -20.0F) { d = -20.0F; rl_Y.limited = 1; }
  if (rl_U.reset) { rl_DW.last = 0.0F; } else { rl_DW.last += d; }
  rl_Y.rate = d;
  rl_Y.torque = look1_iflf(rl_DW.last);
}
