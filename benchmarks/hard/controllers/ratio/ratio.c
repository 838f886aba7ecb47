/* A gear box: speeds divided by speeds and remainders by a variable select the gear; division by zero is excluded. */
typedef unsigned char u8;
typedef unsigned short u16;
static u16 engine, wheel = 1;
static u8 gear;

void ratio_step(u16 pulses, u16 turns)
{
  u16 quotient, rest;

  engine = pulses;
  wheel = turns == 0 ? 1 : turns;
  quotient = engine / wheel;
  rest = engine % wheel;
  if (quotient == 251 && rest == 250)
    gear = 3;
  else if (quotient == 7 && rest > 9000)
    gear = 4;
  else if (quotient * wheel + rest != engine)
    gear = 5;
  else if (quotient > 3)
    gear = 1;
}
