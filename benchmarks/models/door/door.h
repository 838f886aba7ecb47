/*
 * File: door.h
 *
 * Sliding door of a tram, model 'door': types and entry points.
 */
#ifndef RTW_HEADER_door_h_
#define RTW_HEADER_door_h_
#include <stddef.h>
#include "rtwtypes.h"

/* Macros for accessing real-time model data structure */
#ifndef rtmGetErrorStatus
#define rtmGetErrorStatus(rtm) ((rtm)->errorStatus)
#endif

#ifndef rtmSetErrorStatus
#define rtmSetErrorStatus(rtm, val) ((rtm)->errorStatus = (val))
#endif

/* Forward declaration for rtModel */
typedef struct tag_RTM_door_T RT_MODEL_door_T;

/* Block signals (default storage) */
typedef struct {
  boolean_T release;                   /* '<Root>/Release' */
} B_door_T;

/* Block states (default storage) for system '<Root>' */
typedef struct {
  uint8_T UnitDelay_DSTATE;            /* '<S2>/Unit Delay' */
  uint8_T is_active_c3_door;           /* '<Root>/Door' */
  uint8_T is_c3_door;                  /* '<Root>/Door' */
  uint8_T is_Moving;                   /* '<Root>/Door' */
  uint8_T temporalCounter_i1;          /* '<Root>/Door' */
  uint8_T retries;                     /* '<Root>/Door' */
} DW_door_T;

/* External inputs (root inport signals with default storage) */
typedef struct {
  boolean_T standstill;                /* '<Root>/standstill' */
  boolean_T button;                    /* '<Root>/button' */
  boolean_T close;                     /* '<Root>/close' */
  boolean_T obstacle;                  /* '<Root>/obstacle' */
} ExtU_door_T;

/* External outputs (root outports fed by signals with default storage) */
typedef struct {
  int8_T motor;                        /* '<Root>/motor' */
  boolean_T lamp;                      /* '<Root>/lamp' */
  boolean_T fault;                     /* '<Root>/fault' */
} ExtY_door_T;

/* Real-time Model Data Structure */
struct tag_RTM_door_T {
  const char_T * volatile errorStatus;
};

extern B_door_T door_B;
extern DW_door_T door_DW;
extern ExtU_door_T door_U;
extern ExtY_door_T door_Y;

/* Model entry point functions */
extern void door_initialize(void);
extern void door_step(void);
extern void door_terminate(void);

/* Real-time Model object */
extern RT_MODEL_door_T *const door_M;

#endif
