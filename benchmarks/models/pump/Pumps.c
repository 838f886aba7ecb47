/* Node Pumps: two pumps keep a tank below its limit, in the style of SCADE Suite KCG 6.
 *
 * One pump runs above HIGH, both above VERY_HIGH until the level is back at HIGH, none below LOW; the pump that runs
 * alone changes from one time to the next. Pumping without flow for DRY_CYCLES stops everything until acknowledged.
 */
#include "kcg_consts.h"
#include "kcg_sensors.h"
#include "Pumps.h"

/* Pumps/ */
void Pumps(inC_Pumps *inC, outC_Pumps *outC)
{
  /* Modes: */
  SSM_ST_Modes Modes_state_act;
  /* running/ */
  kcg_bool running;
  /* levels/ */
  Levels _L1;

  _L1.now = inC->level;
  _L1.before = outC->init ? inC->level : outC->levels.now;
  kcg_copy_Levels(&outC->levels, &_L1);
  outC->init = kcg_false;

  running = outC->pump1 | outC->pump2;
  /* dry=(Debounce#1)/ */
  Debounce((kcg_bool)(running & !inC->flow), DRY_CYCLES, &outC->Context_Debounce_1);

  /* Modes: */
  switch (outC->Modes_state_nxt) {
    case SSM_st_Idle_Modes :
      if ((inC->level > HIGH) & (_L1.before > HIGH)) {
        Modes_state_act = SSM_st_One_Modes;
        outC->swap = !outC->swap;
      }
      else {
        Modes_state_act = SSM_st_Idle_Modes;
      }
      break;
    case SSM_st_One_Modes :
      if (outC->Context_Debounce_1.stable) {
        Modes_state_act = SSM_st_Dry_Modes;
      }
      else if (inC->level > VERY_HIGH) {
        Modes_state_act = SSM_st_Both_Modes;
      }
      else if (inC->level < LOW) {
        Modes_state_act = SSM_st_Idle_Modes;
      }
      else {
        Modes_state_act = SSM_st_One_Modes;
      }
      break;
    case SSM_st_Both_Modes :
      if (outC->Context_Debounce_1.stable) {
        Modes_state_act = SSM_st_Dry_Modes;
      }
      else if (inC->level <= HIGH) {
        Modes_state_act = SSM_st_One_Modes;
      }
      else {
        Modes_state_act = SSM_st_Both_Modes;
      }
      break;
    default :
      /* SSM_st_Dry_Modes */
      if (inC->ack & inC->flow) {
        Modes_state_act = SSM_st_Idle_Modes;
        Debounce_reset(&outC->Context_Debounce_1);
      }
      else {
        Modes_state_act = SSM_st_Dry_Modes;
      }
      break;
  }
  outC->Modes_state_nxt = Modes_state_act;

  switch (Modes_state_act) {
    case SSM_st_One_Modes :
      outC->pump1 = outC->swap;
      outC->pump2 = !outC->swap;
      outC->alarm = kcg_false;
      break;
    case SSM_st_Both_Modes :
      outC->pump1 = kcg_true;
      outC->pump2 = kcg_true;
      outC->alarm = kcg_false;
      break;
    case SSM_st_Dry_Modes :
      outC->pump1 = kcg_false;
      outC->pump2 = kcg_false;
      outC->alarm = kcg_true;
      break;
    default :
      outC->pump1 = kcg_false;
      outC->pump2 = kcg_false;
      outC->alarm = kcg_false;
      break;
  }
}

#ifndef KCG_USER_DEFINED_INIT
void Pumps_init(outC_Pumps *outC)
{
  outC->init = kcg_true;
  outC->Modes_state_nxt = SSM_st_Idle_Modes;
  outC->swap = kcg_false;
  outC->levels.now = kcg_lit_int16(0);
  outC->levels.before = kcg_lit_int16(0);
  outC->pump1 = kcg_false;
  outC->pump2 = kcg_false;
  outC->alarm = kcg_false;
  Debounce_init(&outC->Context_Debounce_1);
}
#endif /* KCG_USER_DEFINED_INIT */


#ifndef KCG_NO_EXTERN_CALL_TO_RESET
void Pumps_reset(outC_Pumps *outC)
{
  outC->init = kcg_true;
  outC->Modes_state_nxt = SSM_st_Idle_Modes;
  outC->swap = kcg_false;
  Debounce_reset(&outC->Context_Debounce_1);
}
#endif /* KCG_NO_EXTERN_CALL_TO_RESET */
