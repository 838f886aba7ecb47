/* File: coolant_fan.h   Model: coolant_fan   sample time 0.1 s */
#ifndef RTW_HEADER_coolant_fan_h_
#define RTW_HEADER_coolant_fan_h_
#include <stdint.h>

typedef unsigned char boolean_T;
typedef int16_t int16_T;
typedef int32_t int32_T;
typedef uint8_t uint8_T;
typedef uint16_t uint16_T;

#define FILT_FAULT_LIMIT 10
#define INTEG_MAX 6400
#define SETPOINT 950     /* 0.1 degC */
#define AFTERRUN_TEMP 1000
#define AFTERRUN_LIMIT 600

#define IN_NO_ACTIVE_CHILD 0
#define IN_Off 1
#define IN_Run 2
#define IN_AfterRun 3

/* Block states (default storage) */
typedef struct {
  int32_T Integ;           /* '<S2>/Discrete-Time Integrator' */
  int16_T RawPrev;         /* '<S1>/Unit Delay' */
  int16_T Filt;            /* '<S1>/Unit Delay1' */
  uint16_T AfterTmr;       /* '<Root>/Chart' */
  uint8_T BadCnt;          /* '<S1>/Counter' */
  uint8_T Duty;            /* '<S3>/Rate Limiter' */
  uint8_T is_c1;           /* '<Root>/Chart' */
  boolean_T Fault;         /* '<S1>/S-R Flip-Flop' */
  boolean_T SatHi;         /* '<S2>/Relational Operator' */
  boolean_T AcReq;         /* '<S4>/Relay' */
} DW;

typedef struct {
  int16_T CoolantTemp;     /* '<Root>/CoolantTemp' 0.1 degC */
  uint8_T AcPressure;      /* '<Root>/AcPressure' 0.1 bar */
  boolean_T IgnOn;         /* '<Root>/IgnOn' */
} ExtU;

typedef struct {
  uint8_T FanDuty;         /* '<Root>/FanDuty' % */
  boolean_T MIL;           /* '<Root>/MIL' */
} ExtY;

extern DW rtDW;
extern ExtU rtU;
extern ExtY rtY;

extern void coolant_fan_initialize(void);
extern void coolant_fan_step(void);
#endif
