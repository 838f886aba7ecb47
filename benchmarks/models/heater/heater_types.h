/* Room heater: types. */
#ifndef HEATER_TYPES_H
#define HEATER_TYPES_H

#include "stdbool.h"
#include "assert.h"
#include "pervasives.h"

typedef enum {
  Heater__St_Off,
  Heater__St_Low,
  Heater__St_High,
  Heater__St_Frost
} Heater__st;

#endif
