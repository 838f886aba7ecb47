/* A rolling code: the next of a linear congruential sequence, stirred by a key byte, must be shown. */
typedef unsigned char u8;
typedef unsigned int u32;
static u32 seed = 1;
static u8 level;

void lcg_step(u8 key)
{
  seed = seed * 1103515245u + 12345u + key;
  if ((seed >> 16 & 0x7fffu) == 0x1234u)
    level = level < 3 ? level + 1 : 3;
  else if ((seed >> 24) == 0x7fu)
    level = 0;
}
