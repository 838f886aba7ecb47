/* Power window control: a chart behind model-reference style pointers.
 *
 * A short press moves the window by itself, a long press as long as it lasts. While the window closes, the
 * motor current is watched: above the limit of the present phase the window is taken to pinch something,
 * retracts for a while, and the next key press only acknowledges.
 */
#include <string.h>

#include "window.h"

/* Validated command by last command and keys (up, down): with both keys pressed the last one holds. */
static const uint8_T window_CommandTable[12] = { 0U, 2U, 1U, 0U, 0U, 2U, 1U, 1U, 0U, 2U, 1U, 2U };

/* Current limit while moving up, by substate: none, Auto, Initial (inrush), Manual. */
static const uint8_T window_CurrentLimit[4] = { 255U, 100U, 180U, 130U };

void window_Init(boolean_T *rty_moveUp, boolean_T *rty_moveDown, boolean_T *rty_pinch, DW_window_T *localDW)
{
  (void)memset((void *)localDW, 0, sizeof(DW_window_T));
  *rty_moveUp = 0U;
  *rty_moveDown = 0U;
  *rty_pinch = 0U;
}

/* Function for Chart: '<Root>/window' */
static void window_enter_Neutral(boolean_T *rty_moveUp, boolean_T *rty_moveDown, DW_window_T *localDW)
{
  localDW->is_MovingUp = window_IN_NO_ACTIVE_CHILD;
  localDW->is_MovingDown = window_IN_NO_ACTIVE_CHILD;
  localDW->is_c1_window = window_IN_Neutral;
  localDW->temporalCounter_i1 = 0U;
  *rty_moveUp = 0U;
  *rty_moveDown = 0U;
}

/* Function for Chart: '<Root>/window' */
static void window_MovingUp(uint8_T command, const boolean_T *rtu_endStop, const uint8_T *rtu_current,
                            boolean_T *rty_moveUp, boolean_T *rty_moveDown, boolean_T *rty_pinch,
                            DW_window_T *localDW)
{
  if ((*rtu_endStop == 0) && (*rtu_current > window_CurrentLimit[localDW->is_MovingUp])) {
    localDW->is_MovingUp = window_IN_NO_ACTIVE_CHILD;
    localDW->is_c1_window = window_IN_Emergency;
    localDW->temporalCounter_i1 = 0U;
    *rty_moveUp = 0U;
    *rty_moveDown = 1U;
    *rty_pinch = 1U;
  } else if (*rtu_endStop != 0) {
    window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
  } else {
    switch (localDW->is_MovingUp) {
     case window_IN_Auto:
      if (command == window_CMD_DOWN) {
        window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
      }
      break;

     case window_IN_Initial:
      if (command != window_CMD_UP) {
        localDW->is_MovingUp = window_IN_Auto;
        localDW->temporalCounter_i1 = 0U;
      } else if (localDW->temporalCounter_i1 >= window_PRESS_TICKS) {
        localDW->is_MovingUp = window_IN_Manual;
        localDW->temporalCounter_i1 = 0U;
      }
      break;

     default:
      /* case IN_Manual: */
      if (command != window_CMD_UP) {
        window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
      }
      break;
    }
  }
}

/* Function for Chart: '<Root>/window' */
static void window_MovingDown(uint8_T command, const boolean_T *rtu_endStop, boolean_T *rty_moveUp,
                              boolean_T *rty_moveDown, DW_window_T *localDW)
{
  if (*rtu_endStop != 0) {
    window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
  } else {
    switch (localDW->is_MovingDown) {
     case window_IN_Auto:
      if (command == window_CMD_UP) {
        window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
      }
      break;

     case window_IN_Initial:
      if (command != window_CMD_DOWN) {
        localDW->is_MovingDown = window_IN_Auto;
        localDW->temporalCounter_i1 = 0U;
      } else if (localDW->temporalCounter_i1 >= window_PRESS_TICKS) {
        localDW->is_MovingDown = window_IN_Manual;
        localDW->temporalCounter_i1 = 0U;
      }
      break;

     default:
      /* case IN_Manual: */
      if (command != window_CMD_DOWN) {
        window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
      }
      break;
    }
  }
}

/* Output and update for referenced model: 'window' */
void window(const boolean_T *rtu_up, const boolean_T *rtu_down, const boolean_T *rtu_endStop,
            const uint8_T *rtu_current, boolean_T *rty_moveUp, boolean_T *rty_moveDown, boolean_T *rty_pinch,
            DW_window_T *localDW)
{
  uint8_T command;
  boolean_T pressed;

  if (localDW->temporalCounter_i1 < 7U) {
    localDW->temporalCounter_i1++;
  }

  command = window_CommandTable[(localDW->lastCommand << 2) + (*rtu_up << 1) + *rtu_down];
  pressed = (boolean_T)((command != window_CMD_NONE) && (localDW->lastCommand == window_CMD_NONE));
  localDW->lastCommand = command;

  if (localDW->is_active_c1_window == 0U) {
    localDW->is_active_c1_window = 1U;
    window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
  } else {
    switch (localDW->is_c1_window) {
     case window_IN_Emergency:
      if ((localDW->temporalCounter_i1 >= window_RETRACT_TICKS) || (*rtu_endStop != 0)) {
        window_enter_Neutral(rty_moveUp, rty_moveDown, localDW);
      }
      break;

     case window_IN_MovingDown:
      window_MovingDown(command, rtu_endStop, rty_moveUp, rty_moveDown, localDW);
      break;

     case window_IN_MovingUp:
      window_MovingUp(command, rtu_endStop, rtu_current, rty_moveUp, rty_moveDown, rty_pinch, localDW);
      break;

     default:
      /* case IN_Neutral: */
      if (pressed) {
        if (*rty_pinch == 1) {
          /* The first press after a pinch only acknowledges. */
          *rty_pinch = 0U;
        } else if (*rtu_endStop == 0) {
          if (command == window_CMD_UP) {
            localDW->is_c1_window = window_IN_MovingUp;
            localDW->is_MovingUp = window_IN_Initial;
            *rty_moveUp = 1U;
          } else {
            localDW->is_c1_window = window_IN_MovingDown;
            localDW->is_MovingDown = window_IN_Initial;
            *rty_moveDown = 1U;
          }
          localDW->temporalCounter_i1 = 0U;
        }
      }
      break;
    }
  }
}
