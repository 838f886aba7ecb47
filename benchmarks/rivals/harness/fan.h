/* fan: its objects, its inputs and its goals. */
#include "fan.c"
#include "fan_data.c"
static ExtU IN_;
static ExtY OU_;
static DW DW_;
static RT_MODEL RT_ = {&IN_, &OU_, &DW_};
static RT_MODEL *const rtM = &RT_;
static unsigned char seen3_1;

#define GOALS 6
#define FINAL (rtM->dwork->is_c1_fan == IN_Off)

static void harness_start(void) {
  fan_initialize(rtM);
}

static void harness_choose(void) {
  INPUT(rtM->inputs->light, value == 0 || value == 1)
  INPUT(rtM->inputs->humidity, value == 40 || value == 70 || value == 100)
}

static void harness_before(void) {
  /* light */
  if (rtM->dwork->is_c1_fan == IN_Off && rtM->dwork->Debounce_h.UnitDelay_DSTATE == 2 && rtM->inputs->light
      && rtM->inputs->humidity == 40 && rtM->dwork->Filter_DSTATE < 50) COVER(0);
  /* short_light */
  if (rtM->dwork->is_c1_fan == IN_Off && rtM->dwork->Debounce_h.UnitDelay_DSTATE == 2 && !rtM->inputs->light
      && rtM->inputs->humidity == 40 && rtM->dwork->Filter_DSTATE < 50) COVER(1);
  /* humid */
  if (rtM->dwork->is_c1_fan == IN_Off && rtM->dwork->Filter_DSTATE < 60 && rtM->inputs->humidity == 100) COVER(2);
  /* after_run_ends */
  if (rtM->dwork->is_c1_fan == IN_AfterRun && rtM->dwork->temporalCounter_i1 == 2 && !rtM->inputs->light
      && rtM->inputs->humidity == 40 && rtM->dwork->Filter_DSTATE < 60) COVER(4);
  /* light_again */
  if (rtM->dwork->is_c1_fan == IN_AfterRun && rtM->dwork->temporalCounter_i1 == 2 && rtM->inputs->light
      && rtM->inputs->humidity == 40 && rtM->dwork->Filter_DSTATE < 60) COVER(5);
  seen3_1 = rtM->dwork->is_c1_fan == IN_Light;
}

static void harness_step(void) {
  fan_step(rtM);
}

static void harness_after(void) {
  if (rtM->outputs->speed == 3 && seen3_1) COVER(3); /* full_speed */
}
