#ifndef CAN_NODE_H
#define CAN_NODE_H
#include "hal.h"

#define ID_NM 0x05u
#define ID_SPEED 0x10u
#define ID_DIAG 0x70u
#define ID_ACK 0x71u
#define ID_RESP 0x78u

#define SID_CLEAR 0x14u
#define SID_READ 0x19u
#define RSP_POSITIVE 0x54u
#define RSP_END 0x59u
#define RSP_REFUSED 0x7Fu

/* times in 10 ms steps */
#define NM_PERIOD 50u
#define NM_REPEAT_STEPS 150u
#define NM_TIMEOUT 200u
#define NM_WAIT_SLEEP 150u
#define BO_FAST_MAX 3u      /* so many fast recoveries, then slow ones */
#define BO_FAST 10u
#define BO_SLOW 100u
#define BO_GOOD 200u        /* all forgotten after so many good steps */
#define RX_TIMEOUT 25u
#define E2E_MAX 10u
#define E2E_LIMIT 6u
#define ACK_TIMEOUT 20u
#define ACK_RETRIES 2u
#define UV_LIMIT 90u
#define UV_STEPS 30u

#define NDTC 3u
#define AGE_MAX 3u          /* sleep cycles until an entry is dropped */

typedef enum { NM_SLEEP, NM_REPEAT, NM_NORMAL, NM_READY, NM_PREPARE } nm_state;
typedef enum { DG_IDLE, DG_SEND, DG_WAIT_ACK } dg_state;
typedef enum { DTC_NONE, DTC_BUSOFF, DTC_TIMEOUT, DTC_E2E, DTC_UNDERVOLTAGE } dtc_code;

void can_node_init(void);
void can_node_task(void);
#endif
