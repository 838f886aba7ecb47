/* A challenge and response: a running product modulo a prime, by bytes that are shown. */
typedef unsigned char u8;
typedef unsigned int u32;
static u32 product = 1;
static u8 unlocked;

void power_step(u8 factor)
{
  product = product * (factor + 2u) % 65521u;
  if (product == 4242u)
    unlocked = 1;
  else if (product == 0u)
    unlocked = 2; /* never: a product of numbers below a prime */
}
