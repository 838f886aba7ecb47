/* Node Debounce: a Boolean that has to hold for some cycles. */
#ifndef _Debounce_H_
#define _Debounce_H_

#include "kcg_types.h"

/* =====================  no input structure  ====================== */

/* ========================  context type  ========================= */
typedef struct {
  /* ---------------------------  outputs  --------------------------- */
  kcg_bool /* stable/ */ stable;
  /* -----------------------  no local probes  ----------------------- */
  /* -------------------- initialization variables  ------------------ */
  kcg_bool init;
  /* ----------------------- local memories  ------------------------- */
  kcg_int8 /* count/ */ count;
  /* -------------------- no sub nodes' contexts  -------------------- */
} outC_Debounce;

/* ===========  node initialization and cycle functions  =========== */
extern void Debounce(kcg_bool raw, kcg_int8 cycles, outC_Debounce *outC);

#ifndef KCG_NO_EXTERN_CALL_TO_RESET
extern void Debounce_reset(outC_Debounce *outC);
#endif

#ifndef KCG_USER_DEFINED_INIT
extern void Debounce_init(outC_Debounce *outC);
#endif

#endif
