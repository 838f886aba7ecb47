/* Stand-in for the user's macros of SCADE KCG: assumptions and guarantees are not computed. */
#ifndef CHAINCOVER_USER_MACROS_H
#define CHAINCOVER_USER_MACROS_H
#ifndef kcg_assume
#define kcg_assume(condition)
#endif
#ifndef kcg_guarantee
#define kcg_guarantee(condition)
#endif
#endif
