void __assert(int condition);
#undef assert
#define assert(condition) __assert(condition)
#ifndef static_assert
#define static_assert _Static_assert
#endif
