/* The firmware on a Cortex-M3: UART0 of the machine mps2-an385, without interrupts. */
#include "board.h"
#include "chaincover_serial.h"

void cc_put(uint8_t byte) { board_put(byte); }

int main(void) {
  for (;;) {
    if ((UART0->state & UART_RECEIVED) != 0u) cc_serial_byte((uint8_t)UART0->data);
  }
}
