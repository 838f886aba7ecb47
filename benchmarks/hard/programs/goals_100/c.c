#include <stdint.h>
#include <stdbool.h>
typedef struct { bool b[8]; } In;
typedef struct { uint8_t mode, t, run, err; bool out, lamp; } St;
In i; St s;
void init(void) { s.mode = 0; s.t = 0; s.run = 0; s.err = 0; s.out = false; s.lamp = false; }
void step(void) {
  if (s.t < 20) s.t++;
  if (i.b[7] && i.b[6] && s.err < 5) s.err++;
  switch (s.mode) {
  case 0:
    if (i.b[1] && s.t >= 11) { s.mode = 1; s.t = 0; s.out = false; }
    else if (i.b[0] && !i.b[4]) { s.mode = 1; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 1:
    if (i.b[3] && s.t >= 9) { s.mode = 2; s.t = 0; s.out = true; }
    else if (i.b[1] && !i.b[5]) { s.mode = 6; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 2:
    if (i.b[1] && s.t >= 3) { s.mode = 3; s.t = 0; s.out = true; }
    else if (i.b[1] && !i.b[3]) { s.mode = 6; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 3:
    if (i.b[3] && s.t >= 11) { s.mode = 4; s.t = 0; s.out = false; }
    else if (i.b[0] && !i.b[5]) { s.mode = 7; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 4:
    if (i.b[2] && s.t >= 5) { s.mode = 5; s.t = 0; s.out = true; }
    else if (i.b[2] && !i.b[3]) { s.mode = 5; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 5:
    if (i.b[0] && s.t >= 2) { s.mode = 6; s.t = 0; s.out = true; }
    else if (i.b[0] && !i.b[5]) { s.mode = 8; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 6:
    if (i.b[0] && s.t >= 8) { s.mode = 7; s.t = 0; s.out = false; }
    else if (i.b[2] && !i.b[3]) { s.mode = 6; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 7:
    if (i.b[5] && s.t >= 2) { s.mode = 8; s.t = 0; s.out = true; }
    else if (i.b[2] && !i.b[3]) { s.mode = 7; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 8:
    if (i.b[3] && s.t >= 10) { s.mode = 9; s.t = 0; s.out = true; }
    else if (i.b[0] && !i.b[4]) { s.mode = 3; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  case 9:
    if (i.b[5] && s.t >= 5) { s.mode = 0; s.t = 0; s.out = false; }
    else if (i.b[1] && !i.b[4]) { s.mode = 0; s.t = 0; s.lamp = !s.lamp; if (s.run < 7) s.run++; }
    else if (s.err >= 3 && i.b[6]) { s.mode = 0; s.err = 0; s.run = 0; }
    break;
  }
}
