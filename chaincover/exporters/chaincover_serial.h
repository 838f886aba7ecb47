/* The target's side of the driver "serial": frames over a UART, without heap, stdio or recursion (C99).
 *
 * Give every byte that comes to cc_serial_byte(). It calls the three functions below: cc_reset() and cc_step() are in
 * chaincover_binding.c, and cc_put() is yours. */
#ifndef CHAINCOVER_SERIAL_H
#define CHAINCOVER_SERIAL_H

#include <stdint.h>

/* It defines CC_INPUT_BYTES and CC_OUTPUT_BYTES: what all inputs, and all outputs, take. */
#include "chaincover_sizes.h"

/* Reset the program: its init functions. Write what the outputs are then. */
void cc_reset(uint8_t *outputs);
/* One step under these inputs; write what the outputs are after it. Values stand one after the other, each with its
 * lowest byte first, in as many bytes as its type has. */
void cc_step(const uint8_t *inputs, uint8_t *outputs);
/* Send a byte. */
void cc_put(uint8_t byte);

/* A byte has come. */
void cc_serial_byte(uint8_t byte);
/* How many steps were made since the last reset, and how many requests were answered from the last reply. */
uint32_t cc_serial_steps(void);
uint32_t cc_serial_repeated(void);

#endif
