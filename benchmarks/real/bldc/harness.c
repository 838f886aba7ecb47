/* Connects the controller's model structure to objects of its own, as a main program would. */
#include "BLDC_controller.h"

extern P rtP_Left;
DW rtDW;
ExtU rtU;
ExtY rtY;
static RT_MODEL rtM;

void connect(void)
{
  rtM.defaultParam = &rtP_Left;
  rtM.dwork = &rtDW;
  rtM.inputs = &rtU;
  rtM.outputs = &rtY;
  BLDC_controller_initialize(&rtM);
}

void tick(void)
{
  BLDC_controller_step(&rtM);
}
