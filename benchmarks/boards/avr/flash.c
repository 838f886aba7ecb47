/* What a harness for the host needs of an ATmega328P: characters go to UART0, 115,200 baud at 16 MHz, and the end of the
 * program stops the processor. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdio.h>

#ifndef BOARD_DIVISOR
#define BOARD_DIVISOR 16u /* 115,200 baud */
#endif

static int put(char character, FILE *file) {
  (void)file;
  while ((UCSR0A & (1u << UDRE0)) == 0u) {
  }
  UDR0 = (uint8_t)character;
  return 0;
}

static FILE uart = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

__attribute__((constructor)) static void begin(void) {
  UCSR0A = (uint8_t)(1u << U2X0);
  UBRR0 = BOARD_DIVISOR;
  UCSR0C = (uint8_t)((1u << UCSZ01) | (1u << UCSZ00));
  UCSR0B = (uint8_t)(1u << TXEN0);
  stdout = &uart;
}

void exit(int code) {
  (void)code;
  while ((UCSR0A & (1u << UDRE0)) == 0u) {
  }
  cli();
  sleep_enable();
  for (;;) sleep_cpu();
}
