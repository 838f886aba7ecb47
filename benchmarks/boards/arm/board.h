/* The machine mps2-an385: a Cortex-M3 with a UART of ARM's CMSDK. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

struct uart {
  volatile uint32_t data, state, control, interrupt, divisor;
};
#define UART0 ((struct uart *)0x40004000u)
#define UART_FULL 1u
#define UART_RECEIVED 2u

void board_put(uint8_t byte);

#endif
