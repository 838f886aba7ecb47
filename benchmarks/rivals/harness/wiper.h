/* wiper: its objects, its inputs and its goals. */
#include "wiper.c"
static Lever_Type r_lev;
static boolean r_park, r_wash;
static uint8 r_rain, r_stat, w_speed, w_pump, r_left;
Lever_Type Rte_IRead_Wiper_Step_Lever_Position(void) { return r_lev; }
boolean Rte_IRead_Wiper_Step_Motor_InPark(void) { return r_park; }
Std_ReturnType Rte_Read_Washer_Button(boolean *data) { *data = r_wash; return RTE_E_OK; }
Std_ReturnType Rte_Read_Rain_Level(uint8 *data) { *data = r_rain; return r_stat; }
void Rte_IWrite_Wiper_Step_Motor_Speed(Speed_Type data) { w_speed = data; }
Std_ReturnType Rte_Write_Washer_Pump(boolean data) { w_pump = data; return RTE_E_OK; }
void Rte_IrvIWrite_Wiper_Init_WipesLeft(uint8 data) { r_left = data; }
uint8 Rte_IrvIRead_Wiper_Step_WipesLeft(void) { return r_left; }
void Rte_IrvIWrite_Wiper_Step_WipesLeft(uint8 data) { r_left = data; }
uint8 Rte_CData_WipesAfterWash(void) { return 2; }
void Rte_Enter_Timing(void) {}
void Rte_Exit_Timing(void) {}

#define GOALS 8
#define FINAL (Wiper_DW.is_Wiper == IN_Idle && r_left == 0)

static void harness_start(void) {
  Wiper_Init();
}

static void harness_choose(void) {
  INPUT(r_lev, value == 0 || value == 1 || value == 2 || value == 3)
  INPUT(r_park, value == 0 || value == 1)
  INPUT(r_wash, value == 0 || value == 1)
  INPUT(r_rain, value == 0 || value == 1 || value == 2)
  INPUT(r_stat, value == 0 || value == 1)
}

static void harness_before(void) {
  if (Wiper_DW.is_Wiper == IN_Sweep && r_wash) COVER(0); /* wash */
  if (Wiper_DW.is_Wiper == IN_Wash && !r_wash) COVER(1); /* wipes_after_wash */
  /* last_wipe */
  if (Wiper_DW.is_Wiper == IN_Sweep && Wiper_DW.hasLeft && r_left == 0 && r_park && r_lev == LEVER_OFF && !r_wash)
      COVER(2);
  /* heavy_rain */
  if (Wiper_DW.is_Wiper == IN_Sweep && Wiper_DW.hasLeft && r_left == 0 && r_park && r_lev == LEVER_AUTO && r_rain == 2
      && r_stat == RTE_E_OK && !r_wash) COVER(3);
  /* dry */
  if (Wiper_DW.is_Wiper == IN_Pause && Wiper_DW.ticks == 1 && r_lev == LEVER_AUTO && r_rain == 0 && r_stat == RTE_E_OK
      && !r_wash) COVER(4);
  /* sensor_fault */
  if (Wiper_DW.is_Wiper == IN_Idle && r_lev == LEVER_AUTO && r_stat == RTE_E_INVALID && !r_wash) COVER(5);
  if (Wiper_DW.is_Wiper == IN_Pause && r_lev == LEVER_FAST && !r_wash) COVER(6); /* fast */
  if (Wiper_DW.is_Wiper == IN_Fast && r_lev == LEVER_SLOW && !r_park && !r_wash) COVER(7); /* fast_to_slow */
}

static void harness_step(void) {
  Wiper_Step();
}

static void harness_after(void) {
}
