/* File: pv_inverter.h - grid connection of a string inverter, rate 20 ms */
#ifndef PV_INVERTER_H
#define PV_INVERTER_H
#include "rtwtypes.h"

/* Block states */
typedef struct {
  uint16_T Riso_Filt;                  /* '<S1>/IIR' */
  uint16_T UnitDelay_F;                /* '<S2>/Unit Delay' */
  uint32_T UnitDelay_P;                /* '<S4>/Unit Delay1' */
  uint16_T waitCnt;                    /* '<S3>/Chart' */
  uint16_T goodCnt;                    /* '<S3>/Chart' */
  uint8_T nightCnt;                    /* '<S3>/Chart' */
  uint8_T trips;                       /* '<S3>/Chart' */
  uint8_T is_Chart;                    /* '<S3>/Chart' */
  uint8_T vBad;                        /* '<S2>/Debounce V' */
  uint8_T fBad;                        /* '<S2>/Debounce F' */
  uint8_T rocof;                       /* '<S2>/Debounce df' */
  uint8_T mpptTick;                    /* '<S4>/MPPT' */
  int8_T dir;                          /* '<S4>/MPPT' */
  boolean_T derate;                    /* '<S5>/Relay' */
} DW;

/* External inputs */
typedef struct {
  uint16_T Vgrid;                      /* 0.1 V */
  uint16_T Fgrid;                      /* 0.01 Hz */
  uint16_T Vdc;                        /* V */
  uint8_T Idc;                         /* A */
  uint16_T Riso;                       /* kOhm */
  boolean_T Reset;
} ExtU;

/* External outputs */
typedef struct {
  boolean_T Relay;
  boolean_T PwmEnable;
  uint8_T Plim;                        /* 0.5 % */
  uint16_T Duty;                       /* per mille */
  boolean_T Fault;
} ExtY;

extern DW rtDW;
extern ExtU rtU;
extern ExtY rtY;

extern void pv_inverter_initialize(void);
extern void pv_inverter_step(void);
#endif
