/*
 * File: door.c
 *
 * Sliding door of a tram, in the style of Embedded Coder with global structures. The door opens at a standstill when
 * its button has been pressed, moves for some steps, and closes on command; something in the way opens it again, and
 * after two obstacles in a row it stays open and shows a fault until the tram is released and closed by hand.
 */
#include "door.h"
#include <string.h>

/* Named constants for Chart: '<Root>/Door' */
#define door_IN_NO_ACTIVE_CHILD ((uint8_T)0U)
#define door_IN_Closed ((uint8_T)1U)
#define door_IN_Fault ((uint8_T)2U)
#define door_IN_Moving ((uint8_T)3U)
#define door_IN_Open ((uint8_T)4U)
#define door_IN_Closing ((uint8_T)1U)
#define door_IN_Opening ((uint8_T)2U)

#define door_TRAVEL 3U
#define door_STAY 4U
#define door_RETRIES 2U

/* Block signals (default storage) */
B_door_T door_B;

/* Block states (default storage) */
DW_door_T door_DW;

/* External inputs (root inport signals with default storage) */
ExtU_door_T door_U;

/* External outputs (root outports fed by signals with default storage) */
ExtY_door_T door_Y;

/* Real-time model */
static RT_MODEL_door_T door_M_;
RT_MODEL_door_T *const door_M = &door_M_;

/* Forward declaration for local functions */
static void door_enter_internal_Moving(uint8_T child, int8_T motor);
static void door_Moving(void);

/* Function for Chart: '<Root>/Door' */
static void door_enter_internal_Moving(uint8_T child, int8_T motor)
{
  door_DW.is_c3_door = door_IN_Moving;
  door_DW.is_Moving = child;
  door_DW.temporalCounter_i1 = 0U;
  door_Y.motor = motor;
}

/* Function for Chart: '<Root>/Door' */
static void door_Moving(void)
{
  switch (door_DW.is_Moving) {
   case door_IN_Closing:
    if (door_U.obstacle) {
      door_DW.retries++;
      if (door_DW.retries >= door_RETRIES) {
        door_DW.is_Moving = door_IN_NO_ACTIVE_CHILD;
        door_DW.is_c3_door = door_IN_Fault;
        door_Y.motor = 0;
        door_Y.fault = true;
      } else {
        door_enter_internal_Moving(door_IN_Opening, 1);
      }
    } else if (door_DW.temporalCounter_i1 >= door_TRAVEL) {
      door_DW.is_Moving = door_IN_NO_ACTIVE_CHILD;
      door_DW.is_c3_door = door_IN_Closed;
      door_DW.retries = 0U;
      door_Y.motor = 0;
      door_Y.lamp = false;
    }
    break;

   case door_IN_Opening:
    if (door_DW.temporalCounter_i1 >= door_TRAVEL) {
      door_DW.is_Moving = door_IN_NO_ACTIVE_CHILD;
      door_DW.is_c3_door = door_IN_Open;
      door_DW.temporalCounter_i1 = 0U;
      door_Y.motor = 0;
    }
    break;

   default:
    /* Unreachable state, for coverage only */
    door_DW.is_Moving = door_IN_NO_ACTIVE_CHILD;
    break;
  }
}

/* Model step function */
void door_step(void)
{
  /* Logic: '<Root>/Release' incorporates:
   *  Inport: '<Root>/button'
   *  Inport: '<Root>/standstill'
   *  UnitDelay: '<S2>/Unit Delay'
   */
  door_B.release = (boolean_T)(door_U.standstill && door_U.button && (door_DW.UnitDelay_DSTATE == 0U));

  /* Chart: '<Root>/Door' incorporates:
   *  Inport: '<Root>/close'
   */
  if (door_DW.temporalCounter_i1 < 7U) {
    door_DW.temporalCounter_i1++;
  }

  if (door_DW.is_active_c3_door == 0U) {
    door_DW.is_active_c3_door = 1U;
    door_DW.is_c3_door = door_IN_Closed;
  } else {
    switch (door_DW.is_c3_door) {
     case door_IN_Closed:
      if (door_B.release) {
        door_Y.lamp = true;
        door_enter_internal_Moving(door_IN_Opening, 1);
      }
      break;

     case door_IN_Fault:
      if (door_U.close && (!door_U.obstacle) && door_U.standstill) {
        door_DW.retries = 0U;
        door_Y.fault = false;
        door_enter_internal_Moving(door_IN_Closing, -1);
      }
      break;

     case door_IN_Moving:
      door_Moving();
      break;

     default:
      /* case IN_Open: */
      if (door_U.close || ((door_DW.temporalCounter_i1 >= door_STAY) && (!door_U.button))) {
        door_enter_internal_Moving(door_IN_Closing, -1);
      }
      break;
    }
  }

  /* End of Chart: '<Root>/Door' */

  /* Update for UnitDelay: '<S2>/Unit Delay' incorporates:
   *  Inport: '<Root>/button'
   */
  door_DW.UnitDelay_DSTATE = door_U.button;
}

/* Model initialize function */
void door_initialize(void)
{
  /* initialize error status */
  rtmSetErrorStatus(door_M, (NULL));

  /* block I/O */
  (void)memset(((void *)&door_B), 0, sizeof(B_door_T));

  /* states (dwork) */
  (void)memset((void *)&door_DW, 0, sizeof(DW_door_T));

  /* external inputs */
  (void)memset(&door_U, 0, sizeof(ExtU_door_T));

  /* external outputs */
  (void)memset((void *)&door_Y, 0, sizeof(ExtY_door_T));
}

/* Model terminate function */
void door_terminate(void)
{
  /* (no terminate code required) */
}
