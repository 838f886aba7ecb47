/*
 * File: fan.h
 *
 * Extractor fan, model 'fan': types and entry points. Reusable: all data of an instance is behind its RT_MODEL.
 */
#ifndef RTW_HEADER_fan_h_
#define RTW_HEADER_fan_h_
#include "rtwtypes.h"

/* Forward declaration for rtModel */
typedef struct tag_RTM RT_MODEL;

/* Block signals and states (default storage) for system '<S1>/Debounce' */
typedef struct {
  uint8_T UnitDelay_DSTATE;            /* '<S2>/Unit Delay' */
} DW_Debounce;

/* Block signals and states (default storage) for system '<Root>' */
typedef struct {
  DW_Debounce Debounce_h;              /* '<S1>/Debounce' */
  int16_T Filter_DSTATE;               /* '<S1>/Filter' */
  uint8_T is_active_c1_fan;            /* '<Root>/Fan' */
  uint8_T is_c1_fan;                   /* '<Root>/Fan' */
  uint8_T temporalCounter_i1;          /* '<Root>/Fan' */
} DW;

/* Constant parameters (default storage) */
typedef struct {
  int16_T Table_Humidity[3];           /* '<S3>/1-D Lookup Table' */
} ConstP;

/* External inputs (root inport signals with default storage) */
typedef struct {
  boolean_T light;                     /* '<Root>/light' */
  int16_T humidity;                    /* '<Root>/humidity' */
} ExtU;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  uint8_T speed;                       /* '<Root>/speed' */
  boolean_T after_run;                 /* '<Root>/after_run' */
} ExtY;

/* Real-time Model Data Structure */
struct tag_RTM {
  ExtU *inputs;
  ExtY *outputs;
  DW *dwork;
};

/* Constant parameters (default storage) */
extern const ConstP rtConstP;

/* Model entry point functions */
extern void fan_initialize(RT_MODEL *const rtM);
extern void fan_step(RT_MODEL *const rtM);

#endif
