/* Node Debounce: a Boolean that has to hold for some cycles. */
#include "kcg_consts.h"
#include "kcg_sensors.h"
#include "Debounce.h"

/* Debounce/ */
void Debounce(
  /* raw/ */
  kcg_bool raw,
  /* cycles/ */
  kcg_int8 cycles,
  outC_Debounce *outC)
{
  /* last_count/ */
  kcg_int8 last_count;

  /* last_count= */
  if (outC->init) {
    outC->init = kcg_false;
    last_count = kcg_lit_int8(0);
  }
  else {
    last_count = outC->count;
  }
  /* count= */
  if (raw) {
    if (last_count < cycles) {
      outC->count = last_count + kcg_lit_int8(1);
    }
    else {
      outC->count = cycles;
    }
  }
  else {
    outC->count = kcg_lit_int8(0);
  }
  outC->stable = outC->count >= cycles;
}

#ifndef KCG_USER_DEFINED_INIT
void Debounce_init(outC_Debounce *outC)
{
  outC->init = kcg_true;
  outC->stable = kcg_true;
  outC->count = kcg_lit_int8(0);
}
#endif /* KCG_USER_DEFINED_INIT */


#ifndef KCG_NO_EXTERN_CALL_TO_RESET
void Debounce_reset(outC_Debounce *outC)
{
  outC->init = kcg_true;
}
#endif /* KCG_NO_EXTERN_CALL_TO_RESET */
