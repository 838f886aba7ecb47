/* What a harness for the host needs of a Cortex-M3: characters go to UART0. */
#include "board.h"

int board_putchar(int character);

int board_putchar(int character) {
  board_put((uint8_t)character);
  return character;
}
