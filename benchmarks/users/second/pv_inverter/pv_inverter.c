/* File: pv_inverter.c */
#include "pv_inverter.h"

/* Named constants for Chart: '<S3>/Chart' */
#define IN_NIGHT                       ((uint8_T)1U)
#define IN_ISOTEST                     ((uint8_T)2U)
#define IN_WAIT                        ((uint8_T)3U)
#define IN_SYNC                        ((uint8_T)4U)
#define IN_FEED                        ((uint8_T)5U)
#define IN_TRIP                        ((uint8_T)6U)
#define IN_ISOFAULT                    ((uint8_T)7U)
#define IN_LOCK                        ((uint8_T)8U)

#define V_MIN                          1955U
#define V_MAX                          2530U
#define F_MIN                          4750U
#define F_MAX                          5150U
#define N_V                            5U
#define N_F                            10U
#define N_ROCOF                        3U
#define ISO_TICKS                      50U
#define RECONNECT                      1000U
#define SYNC_TICKS                     25U
#define GOOD_FEED                      500U
#define NIGHT_TICKS                    100U
#define MAX_TRIPS                      3U
#define P_FULL                         200U

DW rtDW;
ExtU rtU;
ExtY rtY;

void pv_inverter_initialize(void)
{
  rtDW.Riso_Filt = 0U;
  rtDW.UnitDelay_F = 5000U;
  rtDW.UnitDelay_P = 0U;
  rtDW.waitCnt = 0U;
  rtDW.goodCnt = 0U;
  rtDW.nightCnt = 0U;
  rtDW.trips = 0U;
  rtDW.is_Chart = IN_NIGHT;
  rtDW.vBad = 0U;
  rtDW.fBad = 0U;
  rtDW.rocof = 0U;
  rtDW.mpptTick = 0U;
  rtDW.dir = 1;
  rtDW.derate = false;
  rtY.Relay = false;
  rtY.PwmEnable = false;
  rtY.Plim = 0U;
  rtY.Duty = 500U;
  rtY.Fault = false;
}

void pv_inverter_step(void)
{
  boolean_T rtb_vOk;
  boolean_T rtb_fOk;
  boolean_T rtb_Trip;
  int32_T rtb_dF;
  int32_T rtb_Diff;
  uint32_T rtb_P;

  /* Outputs for Atomic SubSystem: '<Root>/GridMonitor' */
  rtb_vOk = (boolean_T)((rtU.Vgrid >= V_MIN) && (rtU.Vgrid <= V_MAX));
  rtb_fOk = (boolean_T)((rtU.Fgrid >= F_MIN) && (rtU.Fgrid <= F_MAX));
  if (rtb_vOk) {
    rtDW.vBad = 0U;
  } else if (rtDW.vBad < N_V) {
    rtDW.vBad++;
  }

  if (rtb_fOk) {
    rtDW.fBad = 0U;
  } else if (rtDW.fBad < N_F) {
    rtDW.fBad++;
  }

  rtb_dF = (int32_T)rtU.Fgrid - (int32_T)rtDW.UnitDelay_F;
  if (rtb_dF < 0) {
    rtb_dF = -rtb_dF;
  }

  if (rtb_dF <= 30) {
    rtDW.rocof = 0U;
  } else if (rtDW.rocof < N_ROCOF) {
    rtDW.rocof++;
  }

  rtDW.UnitDelay_F = rtU.Fgrid;
  rtb_Trip = (boolean_T)((rtDW.vBad == N_V) || (rtDW.fBad == N_F) ||
    (rtDW.rocof == N_ROCOF));

  /* End of Outputs for SubSystem: '<Root>/GridMonitor' */

  /* DiscreteFilter: '<S1>/IIR' */
  rtb_Diff = ((int32_T)rtU.Riso - (int32_T)rtDW.Riso_Filt) / 8;
  rtDW.Riso_Filt = (uint16_T)((int32_T)rtDW.Riso_Filt + rtb_Diff);

  /* Relay: '<S5>/Relay' over-frequency derating */
  if (rtU.Fgrid >= 5020U) {
    rtDW.derate = true;
  } else if (rtU.Fgrid <= 5005U) {
    rtDW.derate = false;
  }

  if (rtU.Vdc < 120U) {
    if (rtDW.nightCnt < NIGHT_TICKS) {
      rtDW.nightCnt++;
    }
  } else {
    rtDW.nightCnt = 0U;
  }

  /* Chart: '<S3>/Chart' */
  switch (rtDW.is_Chart) {
   case IN_NIGHT:
    if (rtU.Vdc > 150U) {
      rtDW.waitCnt = 0U;
      rtDW.is_Chart = IN_ISOTEST;
    }
    break;

   case IN_ISOTEST:
    rtDW.waitCnt++;
    if (rtDW.waitCnt >= ISO_TICKS) {
      rtDW.waitCnt = 0U;
      rtDW.is_Chart = (rtDW.Riso_Filt >= 500U) ? IN_WAIT : IN_ISOFAULT;
    }
    break;

   case IN_WAIT:
    if (rtDW.nightCnt == NIGHT_TICKS) {
      rtDW.is_Chart = IN_NIGHT;
    } else if ((!rtb_vOk) || (!rtb_fOk)) {
      rtDW.waitCnt = 0U;
    } else {
      rtDW.waitCnt++;
      if (rtDW.waitCnt >= RECONNECT) {
        rtDW.waitCnt = 0U;
        rtDW.is_Chart = IN_SYNC;
      }
    }
    break;

   case IN_SYNC:
    rtDW.waitCnt++;
    if (rtb_Trip) {
      rtDW.is_Chart = IN_TRIP;
    } else if (rtDW.waitCnt >= SYNC_TICKS) {
      rtDW.goodCnt = 0U;
      rtY.Plim = 0U;
      rtY.Duty = 500U;
      rtDW.is_Chart = IN_FEED;
    }
    break;

   case IN_FEED:
    if (rtb_Trip) {
      rtDW.is_Chart = IN_TRIP;
    } else if (rtDW.nightCnt == NIGHT_TICKS) {
      rtDW.is_Chart = IN_NIGHT;
    } else if (rtDW.goodCnt < GOOD_FEED) {
      rtDW.goodCnt++;
      if (rtDW.goodCnt == GOOD_FEED) {
        rtDW.trips = 0U;
      }
    }
    break;

   case IN_TRIP:
    rtDW.trips++;
    rtDW.waitCnt = 0U;
    rtDW.is_Chart = (rtDW.trips >= MAX_TRIPS) ? IN_LOCK : IN_WAIT;
    break;

   default:
    /* IN_ISOFAULT, IN_LOCK */
    if (rtU.Reset) {
      rtDW.trips = 0U;
      rtDW.is_Chart = IN_NIGHT;
    }
    break;
  }

  /* Outputs for Enabled SubSystem: '<S4>/Feed' */
  if (rtDW.is_Chart == IN_FEED) {
    if (rtDW.derate) {
      if (rtY.Plim > 20U) {
        rtY.Plim--;
      }
    } else if (rtY.Plim < P_FULL) {
      rtY.Plim++;
    }

    rtDW.mpptTick++;
    if (rtDW.mpptTick >= 10U) {
      rtDW.mpptTick = 0U;
      rtb_P = (uint32_T)rtU.Vdc * rtU.Idc;
      if (rtb_P < rtDW.UnitDelay_P) {
        rtDW.dir = (int8_T)-rtDW.dir;
      }

      rtDW.UnitDelay_P = rtb_P;
      rtb_Diff = (int32_T)rtY.Duty + 5 * rtDW.dir;
      if (rtb_Diff > 950) {
        rtb_Diff = 950;
      } else if (rtb_Diff < 50) {
        rtb_Diff = 50;
      }

      rtY.Duty = (uint16_T)rtb_Diff;
    }
  } else {
    rtY.Plim = 0U;
  }

  rtY.Relay = (boolean_T)((rtDW.is_Chart == IN_SYNC) || (rtDW.is_Chart == IN_FEED));
  rtY.PwmEnable = (boolean_T)(rtDW.is_Chart == IN_FEED);
  rtY.Fault = (boolean_T)(rtDW.is_Chart >= IN_ISOFAULT);
}
