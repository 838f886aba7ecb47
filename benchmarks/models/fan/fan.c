/*
 * File: fan.c
 *
 * Extractor fan of a bathroom, in the style of Embedded Coder with a reusable function interface. The fan runs while the
 * light is on for more than two steps or the filtered humidity is high, and for some steps after the light.
 */
#include "fan.h"

/* Named constants for Chart: '<Root>/Fan' */
#define IN_NO_ACTIVE_CHILD ((uint8_T)0U)
#define IN_AfterRun ((uint8_T)1U)
#define IN_Humid ((uint8_T)2U)
#define IN_Light ((uint8_T)3U)
#define IN_Off ((uint8_T)4U)

#define AFTER_RUN 3U
#define DEBOUNCE 2U

extern void Debounce_Init(DW_Debounce *localDW);
extern boolean_T Debounce(boolean_T rtu_raw, DW_Debounce *localDW);

/* System initialize for atomic system: '<S1>/Debounce' */
void Debounce_Init(DW_Debounce *localDW)
{
  /* InitializeConditions for UnitDelay: '<S2>/Unit Delay' */
  localDW->UnitDelay_DSTATE = 0U;
}

/* Output and update for atomic system: '<S1>/Debounce' */
boolean_T Debounce(boolean_T rtu_raw, DW_Debounce *localDW)
{
  /* Switch: '<S2>/Switch' incorporates:
   *  Constant: '<S2>/Limit'
   *  UnitDelay: '<S2>/Unit Delay'
   */
  if (!rtu_raw) {
    localDW->UnitDelay_DSTATE = 0U;
  } else if (localDW->UnitDelay_DSTATE <= DEBOUNCE) {
    localDW->UnitDelay_DSTATE = (uint8_T)(localDW->UnitDelay_DSTATE + 1U);
  }

  return (boolean_T)(localDW->UnitDelay_DSTATE > DEBOUNCE);
}

/* Model step function */
void fan_step(RT_MODEL *const rtM)
{
  DW *rtDW = ((DW *) rtM->dwork);
  ExtU *rtU = (ExtU *) rtM->inputs;
  ExtY *rtY = (ExtY *) rtM->outputs;
  int16_T rtb_Filter;
  uint8_T rtb_Level;
  boolean_T rtb_Light;

  /* Sum: '<S1>/Filter' incorporates:
   *  Inport: '<Root>/humidity'
   */
  rtb_Filter = (int16_T)((int16_T)(rtU->humidity + rtDW->Filter_DSTATE) >> 1);

  /* Lookup: '<S3>/1-D Lookup Table' */
  rtb_Level = 0U;
  while ((rtb_Level < 3) && (rtb_Filter >= rtConstP.Table_Humidity[rtb_Level])) {
    rtb_Level++;
  }

  /* Outputs for Atomic SubSystem: '<S1>/Debounce' */
  rtb_Light = Debounce(rtU->light, &rtDW->Debounce_h);

  /* Chart: '<Root>/Fan' */
  if (rtDW->temporalCounter_i1 < 7U) {
    rtDW->temporalCounter_i1++;
  }

  if (rtDW->is_active_c1_fan == 0U) {
    rtDW->is_active_c1_fan = 1U;
    rtDW->is_c1_fan = IN_Off;
  } else {
    switch (rtDW->is_c1_fan) {
     case IN_AfterRun:
      if (rtb_Level > 0) {
        rtDW->is_c1_fan = IN_Humid;
        rtY->after_run = false;
      } else if (rtU->light) {
        rtDW->is_c1_fan = IN_Light;
        rtY->after_run = false;
      } else if (rtDW->temporalCounter_i1 >= AFTER_RUN) {
        rtDW->is_c1_fan = IN_Off;
        rtY->speed = 0U;
        rtY->after_run = false;
      }
      break;

     case IN_Humid:
      rtY->speed = rtb_Level;
      if (rtb_Level == 0) {
        rtDW->is_c1_fan = IN_AfterRun;
        rtDW->temporalCounter_i1 = 0U;
        rtY->speed = 1U;
        rtY->after_run = true;
      }
      break;

     case IN_Light:
      if (rtb_Level > 1) {
        rtDW->is_c1_fan = IN_Humid;
        rtY->speed = rtb_Level;
      } else if (!rtU->light) {
        rtDW->is_c1_fan = IN_AfterRun;
        rtDW->temporalCounter_i1 = 0U;
        rtY->after_run = true;
      }
      break;

     default:
      /* case IN_Off: */
      if (rtb_Level > 0) {
        rtDW->is_c1_fan = IN_Humid;
        rtY->speed = rtb_Level;
      } else if (rtb_Light) {
        rtDW->is_c1_fan = IN_Light;
        rtY->speed = 1U;
      }
      break;
    }
  }

  /* End of Chart: '<Root>/Fan' */

  /* Update for Delay: '<S1>/Filter' */
  rtDW->Filter_DSTATE = rtb_Filter;
}

/* Model initialize function */
void fan_initialize(RT_MODEL *const rtM)
{
  DW *rtDW = ((DW *) rtM->dwork);
  ExtY *rtY = (ExtY *) rtM->outputs;

  /* InitializeConditions for Delay: '<S1>/Filter' */
  rtDW->Filter_DSTATE = 40;

  /* SystemInitialize for Atomic SubSystem: '<S1>/Debounce' */
  Debounce_Init(&rtDW->Debounce_h);

  /* SystemInitialize for Chart: '<Root>/Fan' */
  rtDW->temporalCounter_i1 = 0U;
  rtDW->is_active_c1_fan = 0U;
  rtDW->is_c1_fan = IN_NO_ACTIVE_CHILD;
  rtY->speed = 0U;
  rtY->after_run = false;
}
