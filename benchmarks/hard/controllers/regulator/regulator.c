/* A PI regulator in fixed point: gains are inputs, products of 32 bits are scaled, sums are saturated. */
typedef short i16;
typedef int i32;
typedef unsigned char u8;
static i32 integral;
static i16 output;
static u8 saturated;

static i32 limited(i32 value, i32 most)
{
  return value > most ? most : value < -most ? -most : value;
}

void regulator_step(i16 wanted, i16 measured, u8 kp, u8 ki)
{
  i32 error = (i32)wanted - measured;
  i32 sum;

  integral = limited(integral + ((error * ki) >> 4), 2000000);
  sum = ((error * kp) >> 4) + (integral >> 6);
  output = (i16)limited(sum, 30000);
  if (sum > 30000 || sum < -30000)
    saturated = saturated < 200 ? saturated + 1 : 200;
  else
    saturated = 0;
}
