/* A position that moves on a plane; squared distances tell the zone. */
typedef signed char i8;
typedef short i16;
typedef int i32;
static i16 x, y;
static i8 zone;

void circle_step(i8 dx, i8 dy)
{
  i32 distance;

  if (x + dx >= -3000 && x + dx <= 3000)
    x += dx;
  if (y + dy >= -3000 && y + dy <= 3000)
    y += dy;
  distance = (i32)x * x + (i32)y * y;
  if (distance == 30003)
    zone = 4;
  else if (distance == 32045)
    zone = 3;
  else if (distance > 100000)
    zone = 2;
  else if (distance > 10000)
    zone = 1;
  else
    zone = 0;
}
