/* Interface of the power window control chart. */
#ifndef WINDOW_H_
#define WINDOW_H_

typedef unsigned char boolean_T;
typedef unsigned char uint8_T;

/* Named constants of the chart. */
#define window_IN_NO_ACTIVE_CHILD ((uint8_T)0U)
#define window_IN_Emergency ((uint8_T)1U)
#define window_IN_MovingDown ((uint8_T)2U)
#define window_IN_MovingUp ((uint8_T)3U)
#define window_IN_Neutral ((uint8_T)4U)
#define window_IN_Auto ((uint8_T)1U)
#define window_IN_Initial ((uint8_T)2U)
#define window_IN_Manual ((uint8_T)3U)

/* Validated commands. */
#define window_CMD_NONE ((uint8_T)0U)
#define window_CMD_UP ((uint8_T)1U)
#define window_CMD_DOWN ((uint8_T)2U)

/* Timing, in steps. */
#define window_PRESS_TICKS 3U
#define window_RETRACT_TICKS 4U

/* Block states of the referenced model. */
typedef struct {
  uint8_T is_active_c1_window;
  uint8_T is_c1_window;
  uint8_T is_MovingUp;
  uint8_T is_MovingDown;
  uint8_T temporalCounter_i1;
  uint8_T lastCommand;
} DW_window_T;

extern void window_Init(boolean_T *rty_moveUp, boolean_T *rty_moveDown, boolean_T *rty_pinch, DW_window_T *localDW);
extern void window(const boolean_T *rtu_up, const boolean_T *rtu_down, const boolean_T *rtu_endStop,
                   const uint8_T *rtu_current, boolean_T *rty_moveUp, boolean_T *rty_moveDown, boolean_T *rty_pinch,
                   DW_window_T *localDW);

#endif
