typedef double real_T; typedef unsigned char boolean_T;
typedef struct { real_T setpoint; real_T outside; boolean_T on; } ExtU_thermo_T;
typedef struct { real_T heat; boolean_T alarm; } ExtY_thermo_T;
typedef struct { real_T T; real_T heater; } DW_thermo_T;
ExtU_thermo_T thermo_U; ExtY_thermo_T thermo_Y; DW_thermo_T thermo_DW;
void thermo_initialize(void) { thermo_DW.T = 20.0; thermo_DW.heater = 0.0; thermo_Y.heat = 0.0; thermo_Y.alarm = 0; }
void thermo_step(void) {
  real_T loss, heat;
  if (!thermo_U.on) { thermo_DW.heater = 0.0; }
  else if (thermo_DW.T < thermo_U.setpoint - 0.5) { thermo_DW.heater = 1.0; }
  else if (thermo_DW.T > thermo_U.setpoint + 0.5) { thermo_DW.heater = 0.0; }
  heat = (thermo_DW.heater == 1.0) ? 25.0 : 0.0;
  loss = 0.2 * (thermo_DW.T - thermo_U.outside);
  thermo_DW.T += 0.1 * (heat - loss);
  thermo_Y.heat = heat;
  thermo_Y.alarm = (thermo_DW.T > 30.0) || (thermo_DW.T < 12.0);
}
