/* Constants of the model. */
#ifndef _KCG_CONSTS_H_
#define _KCG_CONSTS_H_

#include "kcg_types.h"

/* HIGH/ */
#define HIGH (kcg_lit_int16(70))

/* VERY_HIGH/ */
#define VERY_HIGH (kcg_lit_int16(90))

/* LOW/ */
#define LOW (kcg_lit_int16(30))

/* DRY_CYCLES/ */
#define DRY_CYCLES (kcg_lit_int8(3))

#endif
