#ifndef CHAINCOVER_INTTYPES_H
#define CHAINCOVER_INTTYPES_H
#include <stdint.h>
#endif
