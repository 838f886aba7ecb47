/* Basic types of the code generator's run time, for this model. */
#ifndef _KCG_TYPES_H_
#define _KCG_TYPES_H_

#include "user_macros.h"

#ifndef kcg_bool
#define kcg_bool kcg_bool
typedef unsigned char kcg_bool;
#endif

#ifndef kcg_int16
#define kcg_int16 kcg_int16
typedef short kcg_int16;
#endif

#ifndef kcg_int8
#define kcg_int8 kcg_int8
typedef signed char kcg_int8;
#endif

#ifndef kcg_lit_int16
#define kcg_lit_int16(kcg_C1) ((kcg_int16)(kcg_C1))
#endif

#ifndef kcg_lit_int8
#define kcg_lit_int8(kcg_C1) ((kcg_int8)(kcg_C1))
#endif

#ifndef kcg_false
#define kcg_false ((kcg_bool)0)
#endif

#ifndef kcg_true
#define kcg_true ((kcg_bool)1)
#endif

#ifndef kcg_assign
#include "kcg_assign.h"
#endif

#ifndef kcg_assign_struct
#define kcg_assign_struct kcg_assign
#endif

/* Modes: */
typedef enum kcg_tag_SSM_ST_Modes { SSM_st_Idle_Modes, SSM_st_One_Modes, SSM_st_Both_Modes, SSM_st_Dry_Modes } SSM_ST_Modes;

/* Levels */
typedef struct kcg_tag_Levels {
  kcg_int16 now;
  kcg_int16 before;
} Levels;

#ifndef kcg_copy_Levels
#define kcg_copy_Levels(kcg_C1, kcg_C2) (kcg_assign_struct((kcg_C1), (kcg_C2), sizeof(Levels)))
#endif

#endif
