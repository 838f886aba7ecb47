typedef float real32_T; typedef unsigned char boolean_T; typedef unsigned char uint8_T;
typedef struct { real32_T speed; real32_T target; boolean_T enable; boolean_T brake; } ExtU_T;
typedef struct { real32_T throttle; uint8_T mode; } ExtY_T;
typedef struct { real32_T integral; uint8_T mode; real32_T held; } DW_T;
ExtU_T cruise_U; ExtY_T cruise_Y; DW_T cruise_DW;
#define OFF 0
#define ACTIVE 1
#define STANDBY 2
void cruise_initialize(void) { cruise_DW.integral = 0.0F; cruise_DW.mode = OFF; cruise_DW.held = 0.0F; cruise_Y.throttle = 0.0F; cruise_Y.mode = 0U; }
void cruise_step(void) {
  real32_T rtb_err, rtb_u;
  switch (cruise_DW.mode) {
   case OFF:
    if (cruise_U.enable && (cruise_U.target > 30.0F)) { cruise_DW.mode = ACTIVE; cruise_DW.held = cruise_U.target; cruise_DW.integral = 0.0F; }
    break;
   case ACTIVE:
    if (!cruise_U.enable) { cruise_DW.mode = OFF; }
    else if (cruise_U.brake) { cruise_DW.mode = STANDBY; }
    break;
   default:
    if (!cruise_U.enable) { cruise_DW.mode = OFF; }
    else if (!cruise_U.brake && (cruise_U.speed > 25.0F)) { cruise_DW.mode = ACTIVE; }
    break;
  }
  if (cruise_DW.mode == ACTIVE) {
    rtb_err = cruise_DW.held - cruise_U.speed;
    rtb_u = 0.8F * rtb_err + cruise_DW.integral;
    if (rtb_u > 100.0F) { rtb_u = 100.0F; } else if (rtb_u < 0.0F) { rtb_u = 0.0F; }
    cruise_DW.integral += 0.05F * rtb_err;
    if (cruise_DW.integral > 40.0F) { cruise_DW.integral = 40.0F; } else if (cruise_DW.integral < -40.0F) { cruise_DW.integral = -40.0F; }
    cruise_Y.throttle = rtb_u;
  } else { cruise_Y.throttle = 0.0F; }
  cruise_Y.mode = cruise_DW.mode;
}
