/* Two counters that inputs add to; the product of both, of 32 bits, decides about the mode. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
static u16 width = 1, height = 1;
static u8 mode;

void area_step(u8 wider, u8 higher)
{
  u32 area;

  width += wider;
  height += higher;
  area = (u32)width * height;
  if (area == 1000003u)
    mode = 3;
  else if (area == 1002001u)
    mode = 2;
  else if (area > 500000u)
    mode = 1;
}
