/* Receiver of frames on a serial line: STX length data... checksum. Bytes come through a ring buffer that the interrupt
 * fills; the task takes all of them out in each call. A gap of more than 30 ms between bytes breaks the frame.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define STX 0x02
#define RING 8
#define MAX_DATA 6
#define GAP_MS 30

typedef enum { HUNT, LENGTH, DATA, CHECK, READY } rx_state_t;

static struct {
  uint8_t ring[RING];
  uint8_t rd, wr;
  rx_state_t st;
  uint8_t len, got, sum;
  uint8_t data[MAX_DATA];
  uint16_t now_ms;
  uint16_t deadline;
  uint16_t good;
  uint8_t bad, lost;
  bool overrun;
} rx;

void rx_init(void)
{
  memset(&rx, 0, sizeof rx);
}

static void put(uint8_t byte)
{
  uint8_t next = (uint8_t)((rx.wr + 1) % RING);
  if (next == rx.rd) {
    rx.overrun = true;
    if (rx.lost != UINT8_MAX)
      rx.lost++;
    return;
  }
  rx.ring[rx.wr] = byte;
  rx.wr = next;
}

static void fail(void)
{
  if (rx.bad < 200)
    rx.bad++;
  rx.st = HUNT;
}

static void consume(uint8_t byte)
{
  rx.deadline = (uint16_t)(rx.now_ms + GAP_MS);
  switch (rx.st) {
  case HUNT:
    if (byte == STX)
      rx.st = LENGTH;
    break;
  case LENGTH:
    if (byte == 0 || byte > MAX_DATA)
      fail();
    else {
      rx.len = byte;
      rx.got = 0;
      rx.sum = byte;
      rx.st = DATA;
    }
    break;
  case DATA:
    rx.data[rx.got++] = byte;
    rx.sum = (uint8_t)(rx.sum + byte);
    if (rx.got == rx.len)
      rx.st = CHECK;
    break;
  case CHECK:
    if (byte == rx.sum) {
      rx.good++;
      rx.st = READY;
    } else
      fail();
    break;
  case READY:
    break;
  }
}

/* one call per millisecond; n bytes (at most 2) have come since the last one */
void rx_task(uint8_t n, uint8_t b0, uint8_t b1, bool busy, bool taken)
{
  int k;

  rx.now_ms++;
  if (n >= 1)
    put(b0);
  if (n >= 2)
    put(b1);
  if (taken && rx.st == READY)
    rx.st = HUNT;
  if (busy)
    return;
  if (rx.st != HUNT && rx.st != READY && rx.now_ms > rx.deadline)
    fail();
  for (k = 0; k < RING; k++) {
    if (rx.rd == rx.wr || rx.st == READY)
      break;
    consume(rx.ring[rx.rd]);
    rx.rd = (uint8_t)((rx.rd + 1) % RING);
  }
}
