/* What a target gives the harness: four functions and three macros. For the host they are in port_host.c; for a board
 * write your own file in its place. */
#ifndef CHAINCOVER_PORT_H
#define CHAINCOVER_PORT_H

#include "chain.h"

/* Bring the program to its start: call its init functions. It is called once, before the first step. */
void chaincover_reset(void);

/* Give the program these inputs, and let it take one step. */
void chaincover_step(const struct chaincover_inputs *inputs);

/* Read what the program puts out now. It is called after the reset, and after each step. */
void chaincover_read(struct chaincover_outputs *outputs);

/* Send a character to the reader of the results. Lines end with '\n'. */
void chaincover_put(char character);

/* Where tables and strings lie, and how a byte of a table and a character of a string are read. On AVR constants lie in
 * RAM unless they are put into the flash, which is read by instructions of its own. */
#ifdef __AVR__
#include <avr/pgmspace.h>
#define CHAINCOVER_TABLE PROGMEM
#define CHAINCOVER_BYTE(place) pgm_read_byte(place)
#define CHAINCOVER_CHARACTER(place) pgm_read_byte(place)
#else
#define CHAINCOVER_TABLE
#define CHAINCOVER_BYTE(place) (*(place))
#define CHAINCOVER_CHARACTER(place) (*(place))
#endif

#endif
