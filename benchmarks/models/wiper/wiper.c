/* Component Wiper: runnables Wiper_Init and Wiper_Step (every 100 ms). */
#include "Rte_Wiper.h"

#define IN_Idle 1U
#define IN_Sweep 2U
#define IN_Fast 3U
#define IN_Pause 4U
#define IN_Wash 5U

typedef struct {
  uint8 is_Wiper;      /* active state of the chart */
  uint8 ticks;         /* what is left of a pause */
  boolean hasLeft;     /* the blades have left their park position in this sweep */
} DW_Wiper_T;

static DW_Wiper_T Wiper_DW;

static const uint8 Wiper_Pause[3] = { 4U, 4U, 2U }; /* steps between two sweeps, by rain */

static void enter_Sweep(boolean inPark)
{
  Wiper_DW.is_Wiper = IN_Sweep;
  Wiper_DW.hasLeft = (boolean)!inPark;
}

static void Sweep(Lever_Type lever, uint8 rain, boolean inPark)
{
  uint8 left;
  if (!inPark) {
    Wiper_DW.hasLeft = TRUE;
  } else if (Wiper_DW.hasLeft) {
    Wiper_DW.hasLeft = FALSE;
    left = Rte_IrvIRead_Wiper_Step_WipesLeft();
    if (left > 0U) {
      Rte_IrvIWrite_Wiper_Step_WipesLeft((uint8)(left - 1U));
    } else if (lever == LEVER_AUTO) {
      Wiper_DW.is_Wiper = IN_Pause;
      Rte_Enter_Timing();
      Wiper_DW.ticks = Wiper_Pause[rain];
      Rte_Exit_Timing();
    } else if (lever == LEVER_OFF) {
      Wiper_DW.is_Wiper = IN_Idle;
    } else {
      /* the next sweep follows at once */
    }
  } else {
    /* the motor is about to start */
  }
}

void Wiper_Step(void)
{
  Lever_Type lever;
  boolean inPark;
  boolean button;
  boolean wet;
  uint8 rain;
  Speed_Type speed;

  lever = Rte_IRead_Wiper_Step_Lever_Position();
  inPark = Rte_IRead_Wiper_Step_Motor_InPark();
  (void)Rte_Read_Washer_Button(&button);
  if (Rte_Read_Rain_Level(&rain) != RTE_E_OK) {
    rain = 0U;
    wet = TRUE; /* rather wipe a dry screen than leave it wet */
  } else {
    wet = (boolean)(rain > 0U);
  }

  if (button && (Wiper_DW.is_Wiper != IN_Wash)) {
    Wiper_DW.is_Wiper = IN_Wash;
    Wiper_DW.ticks = 0U;
  } else {
    switch (Wiper_DW.is_Wiper) {
     case IN_Idle:
      if (lever == LEVER_FAST) {
        Wiper_DW.is_Wiper = IN_Fast;
      } else if ((lever == LEVER_SLOW) || ((lever == LEVER_AUTO) && wet)) {
        enter_Sweep(inPark);
      }
      break;

     case IN_Sweep:
      if (lever == LEVER_FAST) {
        Wiper_DW.is_Wiper = IN_Fast;
      } else {
        Sweep(lever, rain, inPark);
      }
      break;

     case IN_Fast:
      if (lever != LEVER_FAST) {
        enter_Sweep(inPark);
      }
      break;

     case IN_Pause:
      if (lever == LEVER_AUTO) {
        Wiper_DW.ticks--;
        if (Wiper_DW.ticks == 0U) {
          if (wet) {
            enter_Sweep(inPark);
          } else {
            Wiper_DW.is_Wiper = IN_Idle;
          }
        }
      } else {
        Wiper_DW.ticks = 0U;
        if (lever == LEVER_FAST) {
          Wiper_DW.is_Wiper = IN_Fast;
        } else if (lever == LEVER_SLOW) {
          enter_Sweep(inPark);
        } else {
          Wiper_DW.is_Wiper = IN_Idle;
        }
      }
      break;

     default: /* IN_Wash */
      if (!button) {
        Rte_IrvIWrite_Wiper_Step_WipesLeft(Rte_CData_WipesAfterWash());
        enter_Sweep(inPark);
      }
      break;
    }
  }

  if (Wiper_DW.is_Wiper == IN_Fast) {
    speed = SPEED_FAST;
  } else if ((Wiper_DW.is_Wiper == IN_Sweep) || (Wiper_DW.is_Wiper == IN_Wash)) {
    speed = SPEED_SLOW;
  } else {
    speed = SPEED_OFF;
  }
  Rte_IWrite_Wiper_Step_Motor_Speed(speed);
  (void)Rte_Write_Washer_Pump((boolean)(Wiper_DW.is_Wiper == IN_Wash));
}

void Wiper_Init(void)
{
  Wiper_DW.is_Wiper = IN_Idle;
  Wiper_DW.ticks = 0U;
  Wiper_DW.hasLeft = FALSE;
  Rte_IrvIWrite_Wiper_Init_WipesLeft(0U);
}
