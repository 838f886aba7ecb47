/* Node Pumps: two pumps keep a tank below its limit. */
#ifndef _Pumps_H_
#define _Pumps_H_

#include "kcg_types.h"
#include "Debounce.h"

/* ========================  input structure  ====================== */
typedef struct {
  kcg_int16 /* level/ */ level;
  kcg_bool /* flow/ */ flow;
  kcg_bool /* ack/ */ ack;
} inC_Pumps;

/* =====================  no output structure  ====================== */

/* ========================  context type  ========================= */
typedef struct {
  /* ---------------------------  outputs  --------------------------- */
  kcg_bool /* pump1/ */ pump1;
  kcg_bool /* pump2/ */ pump2;
  kcg_bool /* alarm/ */ alarm;
  /* -----------------------  no local probes  ----------------------- */
  /* -------------------- initialization variables  ------------------ */
  kcg_bool init;
  /* ----------------------- local memories  ------------------------- */
  SSM_ST_Modes /* Modes: */ Modes_state_nxt;
  kcg_bool /* swap/ */ swap;
  Levels /* levels/ */ levels;
  /* ---------------------  sub nodes' contexts  --------------------- */
  outC_Debounce /* dry=(Debounce#1)/ */ Context_Debounce_1;
} outC_Pumps;

/* ===========  node initialization and cycle functions  =========== */
/* Pumps/ */
extern void Pumps(inC_Pumps *inC, outC_Pumps *outC);

#ifndef KCG_NO_EXTERN_CALL_TO_RESET
extern void Pumps_reset(outC_Pumps *outC);
#endif /* KCG_NO_EXTERN_CALL_TO_RESET */

#ifndef KCG_USER_DEFINED_INIT
extern void Pumps_init(outC_Pumps *outC);
#endif /* KCG_USER_DEFINED_INIT */

#endif
