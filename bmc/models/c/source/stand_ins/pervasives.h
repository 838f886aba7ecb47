/* Stand-in for the run time of the Heptagon compiler: an index kept within an array of n elements. */
#ifndef CHAINCOVER_PERVASIVES_H
#define CHAINCOVER_PERVASIVES_H
static inline int between(int index, int n)
{
  return index >= n ? n - 1 : index < 0 ? 0 : index;
}
#endif
