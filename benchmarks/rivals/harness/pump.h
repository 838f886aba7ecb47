/* pump: its objects, its inputs and its goals. */
#include "Debounce.c"
#include "Pumps.c"
static inC_Pumps IN_, *inC = &IN_;
static outC_Pumps OU_, *outC = &OU_;
static unsigned char seen1_1;

#define GOALS 6
#define FINAL (outC->Modes_state_nxt == SSM_st_Idle_Modes)

static void harness_start(void) {
  Pumps_init(outC);
}

static void harness_choose(void) {
  INPUT(inC->level, value == 20 || value == 50 || value == 80 || value == 95)
  INPUT(inC->flow, value == 0 || value == 1)
  INPUT(inC->ack, value == 0 || value == 1)
}

static void harness_before(void) {
  /* starts */
  if (outC->Modes_state_nxt == SSM_st_Idle_Modes && outC->levels.now > HIGH && !outC->init && inC->level > HIGH)
      COVER(0);
  if (outC->Modes_state_nxt == SSM_st_One_Modes && inC->level > VERY_HIGH && inC->flow) COVER(2); /* both */
  /* dry */
  if (outC->Modes_state_nxt == SSM_st_Both_Modes && outC->Context_Debounce_1.count == 2 && !inC->flow) COVER(3);
  /* flow_returns */
  if (outC->Modes_state_nxt == SSM_st_One_Modes && outC->Context_Debounce_1.count == 2 && inC->flow) COVER(4);
  if (outC->Modes_state_nxt == SSM_st_Dry_Modes && inC->ack && inC->flow) COVER(5); /* acknowledged */
  seen1_1 = outC->Modes_state_nxt == SSM_st_One_Modes && outC->pump2;
}

static void harness_step(void) {
  Pumps(inC,outC);
}

static void harness_after(void) {
  if (outC->pump1 && seen1_1) COVER(1); /* second_pump */
}
