/* avr-libc's access to program memory: here a table lies where all other objects do. */
#ifndef __PGMSPACE_H_
#define __PGMSPACE_H_ 1
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define PROGMEM
#define PGM_P const char *
#define PGM_VOID_P const void *
#define PSTR(s) (s)

#define __chaincover_pgm_read(type, address) (__extension__({ \
    type __chaincover_value; \
    memcpy(&__chaincover_value, (address), sizeof __chaincover_value); \
    __chaincover_value; \
}))
#define pgm_read_byte(address) (*(const uint8_t *)(address))
#define pgm_read_word(address) __chaincover_pgm_read(uint16_t, address)
#define pgm_read_dword(address) __chaincover_pgm_read(uint32_t, address)
#define pgm_read_float(address) __chaincover_pgm_read(float, address)
#define pgm_read_ptr(address) (*(void *const *)(address))
#define pgm_read_byte_near(address) pgm_read_byte(address)
#define pgm_read_word_near(address) pgm_read_word(address)
#define pgm_read_dword_near(address) pgm_read_dword(address)
#define pgm_read_float_near(address) pgm_read_float(address)
#define pgm_read_ptr_near(address) pgm_read_ptr(address)

#define memchr_P memchr
#define memcmp_P memcmp
#define memcpy_P memcpy
#define strcmp_P strcmp
#define strcpy_P strcpy
#define strlen_P strlen
#define strncmp_P strncmp
#define strncpy_P strncpy
#endif
