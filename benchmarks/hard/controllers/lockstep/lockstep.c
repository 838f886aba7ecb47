/* Two channels compute the same in different ways; a difference would be a fault. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
static u16 offset;
static u8 fault;

void lockstep_step(u16 level, u16 gain, u8 trim)
{
  u32 first, second;

  offset = trim;
  first = (u32)level * gain + (u32)offset * gain;
  second = (u32)gain * ((u32)level + offset);
  if (first != second)
    fault = 1; /* never */
  else if ((u32)level * gain != (u32)gain * level)
    fault = 2; /* never */
  else if (first == 66049u)
    fault = 3;
}
