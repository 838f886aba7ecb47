/* File: coolant_fan.c   Model: coolant_fan */
#include "coolant_fan.h"

DW rtDW;
ExtU rtU;
ExtY rtY;

/* Model step function */
void coolant_fan_step(void)
{
  int32_T rate;
  int32_T err;
  int32_T u;
  int32_T target;

  /* SubSystem: '<Root>/Sensor' */
  rate = (int32_T)rtU.CoolantTemp - rtDW.RawPrev;
  if (rtU.CoolantTemp > 1400 || rtU.CoolantTemp < -400 || rate > 100 ||
      rate < -100) {
    if (rtDW.BadCnt < FILT_FAULT_LIMIT) {
      rtDW.BadCnt++;
    }
  } else {
    if (rtDW.BadCnt > 0) {
      rtDW.BadCnt--;
    }
    rtDW.Filt = (int16_T)(rtDW.Filt + (rtU.CoolantTemp - rtDW.Filt) / 4);
  }
  rtDW.RawPrev = rtU.CoolantTemp;
  if (rtDW.BadCnt >= FILT_FAULT_LIMIT) {
    rtDW.Fault = 1;
  } else if (rtDW.BadCnt == 0) {
    rtDW.Fault = 0;
  }

  /* Relay: '<S4>/Relay' */
  if (rtU.AcPressure > 180) {
    rtDW.AcReq = 1;
  } else if (rtU.AcPressure < 150) {
    rtDW.AcReq = 0;
  }

  /* Chart: '<Root>/Chart' */
  switch (rtDW.is_c1) {
   case IN_Run:
    if (!rtU.IgnOn) {
      if (rtDW.Filt > AFTERRUN_TEMP) {
        rtDW.is_c1 = IN_AfterRun;
        rtDW.AfterTmr = 0;
      } else {
        rtDW.is_c1 = IN_Off;
      }
    }
    break;
   case IN_AfterRun:
    rtDW.AfterTmr++;
    if (rtU.IgnOn) {
      rtDW.is_c1 = IN_Run;
    } else if (rtDW.Filt <= SETPOINT || rtDW.AfterTmr >= AFTERRUN_LIMIT) {
      rtDW.is_c1 = IN_Off;
    }
    break;
   default:
    /* case IN_Off: */
    if (rtU.IgnOn) {
      rtDW.is_c1 = IN_Run;
      rtDW.Integ = 0;
    }
    break;
  }

  /* SubSystem: '<Root>/PI' (enabled) */
  target = 0;
  rtDW.SatHi = 0;
  if (rtDW.is_c1 == IN_Run) {
    err = rtDW.Filt - SETPOINT;
    u = err / 4 + rtDW.Integ / 64;
    rtDW.SatHi = (u > 100);
    if (!((u > 100 && err > 0) || (u < 0 && err < 0))) {
      rtDW.Integ += err;
      if (rtDW.Integ > INTEG_MAX) {
        rtDW.Integ = INTEG_MAX;
      } else if (rtDW.Integ < 0) {
        rtDW.Integ = 0;
      }
    }
    target = u > 100 ? 100 : (u < 0 ? 0 : u);
    if (rtDW.AcReq && target < 50) {
      target = 50;
    }
    if (rtDW.Fault) {
      target = 80;
    }
  } else if (rtDW.is_c1 == IN_AfterRun) {
    target = 60;
  }

  /* RateLimiter: '<S3>/Rate Limiter' */
  if (target > rtDW.Duty + 2) {
    target = rtDW.Duty + 2;
  } else if (target < rtDW.Duty - 5) {
    target = rtDW.Duty - 5;
  }
  rtDW.Duty = (uint8_T)target;

  rtY.FanDuty = rtDW.Duty;
  rtY.MIL = rtDW.Fault;
}

/* Model initialize function */
void coolant_fan_initialize(void)
{
  rtDW.is_c1 = IN_Off;
  rtDW.RawPrev = 200;
  rtDW.Filt = 200;
}
