/* A frame's checksum (FNV-1a over its bytes): a frame is accepted when the checksum is the expected one. */
typedef unsigned char u8;
typedef unsigned int u32;
static u32 sum = 2166136261u;
static u8 count, accepted;

void checksum_step(u8 byte, u8 end)
{
  if (end) {
    if (count == 4 && sum == 0x811c9dc5u)
      accepted = 1;
    if (count == 3 && sum == 0x12345678u)
      accepted = 2;
    sum = 2166136261u;
    count = 0;
  } else if (count < 4) {
    sum = (sum ^ byte) * 16777619u;
    count++;
  }
}
