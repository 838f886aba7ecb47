/* The firmware on an ATmega328P: UART0, 115,200 baud at 16 MHz, without interrupts. */
#include <avr/io.h>

#include "chaincover_serial.h"

void cc_put(uint8_t byte) {
  while ((UCSR0A & (1u << UDRE0)) == 0u) {
  }
  UDR0 = byte;
}

int main(void) {
  UCSR0A = (uint8_t)(1u << U2X0);
  UBRR0 = 16u;
  UCSR0C = (uint8_t)((1u << UCSZ01) | (1u << UCSZ00));
  UCSR0B = (uint8_t)((1u << RXEN0) | (1u << TXEN0));
  for (;;) {
    if ((UCSR0A & (1u << RXC0)) != 0u) cc_serial_byte(UDR0);
  }
}
