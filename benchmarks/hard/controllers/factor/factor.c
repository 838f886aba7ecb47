/* A lock that opens for the two factors of a number: of a product of two primes it does, of a prime never. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
static u8 open;

void factor_step(u16 one, u16 other)
{
  if (one > 1 && other >= one) {
    u32 product = (u32)one * other;

    if (product == 268435399u)
      open = 3; /* a prime: never */
    else if (product == 4292870399u)
      open = 2; /* 65519 * 65521 */
    else if (product == 1022117u)
      open = 1; /* 1009 * 1013 */
  }
}
