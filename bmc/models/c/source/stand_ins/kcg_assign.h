/* Stand-in for the copy macros of SCADE KCG's run time: (destination, source, size), pointers and bytes. */
#ifndef CHAINCOVER_KCG_ASSIGN_H
#define CHAINCOVER_KCG_ASSIGN_H
#include <string.h>
#ifndef kcg_assign
#define kcg_assign(to, from, size) (memcpy((to), (from), (size)))
#endif
#ifndef kcg_assign_struct
#define kcg_assign_struct kcg_assign
#endif
#ifndef kcg_assign_array
#define kcg_assign_array kcg_assign
#endif
#endif
