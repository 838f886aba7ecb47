/* A meter: the products of 16-bit voltage and current, summed up; alarms by thresholds and by single products. */
typedef unsigned short u16;
typedef unsigned int u32;
static u32 total;
static u16 peak, alarm;

void energy_step(u16 voltage, u16 current)
{
  u32 power = (u32)voltage * current;

  if (power > 4000000000u)
    alarm = 2;
  else if (alarm == 0 && power == 1234567890u)
    alarm = 1;
  if (total < 3000000000u)
    total += power >> 4;
  if (power >> 16 > peak)
    peak = (u16)(power >> 16);
}
