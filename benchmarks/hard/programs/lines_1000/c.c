#include <stdint.h>
#include <stdbool.h>
#define N 21
typedef struct { uint8_t mode, t, n; bool on, fault; int16_t level; } Chart;
typedef struct { bool go[16], ack, reset; uint8_t val[8]; } In;
In in; static Chart ch[N];
static void chart_0(void)
{
  Chart *c = &ch[0];
  const Chart *up = &ch[10];
  const Chart *side = &ch[4];
  if (c->t < 3)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[12] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[1] > 39 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 3 && !in.go[1]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[1] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 3) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_1(void)
{
  Chart *c = &ch[1];
  const Chart *up = &ch[11];
  const Chart *side = &ch[18];
  if (c->t < 6)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[0] > 10 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 6 && !in.go[6]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[0] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 6) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_2(void)
{
  Chart *c = &ch[2];
  const Chart *up = &ch[13];
  const Chart *side = &ch[2];
  if (c->t < 7)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[7] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[6] > 8 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 7 && !in.go[2]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[6] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 7) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_3(void)
{
  Chart *c = &ch[3];
  const Chart *up = &ch[3];
  const Chart *side = &ch[7];
  if (c->t < 3)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[0] > 19 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 3 && !in.go[12]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[0] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 3) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_4(void)
{
  Chart *c = &ch[4];
  const Chart *up = &ch[17];
  const Chart *side = &ch[4];
  if (c->t < 3)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[9] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[2] > 39 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 3 && !in.go[13]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[2] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 3) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_5(void)
{
  Chart *c = &ch[5];
  const Chart *up = &ch[18];
  const Chart *side = &ch[9];
  if (c->t < 3)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[5] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[3] > 28 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 3 && !in.go[3]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[3] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 3) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_6(void)
{
  Chart *c = &ch[6];
  const Chart *up = &ch[17];
  const Chart *side = &ch[2];
  if (c->t < 6)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[7] > 39 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 6 && !in.go[6]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[7] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 6) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_7(void)
{
  Chart *c = &ch[7];
  const Chart *up = &ch[10];
  const Chart *side = &ch[14];
  if (c->t < 4)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[14] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[4] > 20 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 4 && !in.go[11]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[4] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 4) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_8(void)
{
  Chart *c = &ch[8];
  const Chart *up = &ch[7];
  const Chart *side = &ch[2];
  if (c->t < 5)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[9] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[5] > 33 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 5 && !in.go[15]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[5] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 5) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_9(void)
{
  Chart *c = &ch[9];
  const Chart *up = &ch[19];
  const Chart *side = &ch[2];
  if (c->t < 4)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[3] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[2] > 26 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 4 && !in.go[13]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[2] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 4) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_10(void)
{
  Chart *c = &ch[10];
  const Chart *up = &ch[15];
  const Chart *side = &ch[13];
  if (c->t < 8)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[5] > 26 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 8 && !in.go[2]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[5] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 8) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_11(void)
{
  Chart *c = &ch[11];
  const Chart *up = &ch[11];
  const Chart *side = &ch[19];
  if (c->t < 5)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[15] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[1] > 10 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 5 && !in.go[14]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[1] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 5) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_12(void)
{
  Chart *c = &ch[12];
  const Chart *up = &ch[15];
  const Chart *side = &ch[2];
  if (c->t < 8)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[7] > 23 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 8 && !in.go[9]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[7] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 8) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_13(void)
{
  Chart *c = &ch[13];
  const Chart *up = &ch[12];
  const Chart *side = &ch[11];
  if (c->t < 7)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[0] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[5] > 15 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 7 && !in.go[14]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[5] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 7) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_14(void)
{
  Chart *c = &ch[14];
  const Chart *up = &ch[3];
  const Chart *side = &ch[15];
  if (c->t < 8)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[4] > 13 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 8 && !in.go[6]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[4] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 8) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_15(void)
{
  Chart *c = &ch[15];
  const Chart *up = &ch[7];
  const Chart *side = &ch[12];
  if (c->t < 6)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[12] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[1] > 15 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 6 && !in.go[15]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[1] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 6) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_16(void)
{
  Chart *c = &ch[16];
  const Chart *up = &ch[12];
  const Chart *side = &ch[17];
  if (c->t < 8)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[8] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[6] > 22 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 8 && !in.go[4]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[6] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 8) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_17(void)
{
  Chart *c = &ch[17];
  const Chart *up = &ch[13];
  const Chart *side = &ch[11];
  if (c->t < 4)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[12] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[2] > 10 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 4 && !in.go[7]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[2] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 4) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_18(void)
{
  Chart *c = &ch[18];
  const Chart *up = &ch[4];
  const Chart *side = &ch[7];
  if (c->t < 5)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[7] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[7] > 16 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 5 && !in.go[0]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[7] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 5) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_19(void)
{
  Chart *c = &ch[19];
  const Chart *up = &ch[9];
  const Chart *side = &ch[0];
  if (c->t < 4)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[4] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[5] > 25 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 4 && !in.go[13]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[5] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 4) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
static void chart_20(void)
{
  Chart *c = &ch[20];
  const Chart *up = &ch[16];
  const Chart *side = &ch[19];
  if (c->t < 6)
    c->t++;
  switch (c->mode) {
  case 0:
    c->on = false;
    if (in.go[1] && !up->fault) {
      c->mode = 1;
      c->t = 0;
    }
    break;
  case 1:
    if (in.val[6] > 30 + c->level / 4)
      c->level = (int16_t)(c->level < 200 ? c->level + 10 : 200);
    else if (c->level > 0)
      c->level = (int16_t)(c->level - 1);
    if (c->t == 6 && !in.go[14]) {
      c->mode = 2;
      c->t = 0;
      c->on = true;
    } else if (in.val[6] > 250 && side->mode == 2) {
      c->fault = true;
      c->mode = 3;
      c->t = 0;
    }
    break;
  case 2:
    if (up->mode == 3 || side->fault) {
      c->mode = 3;
      c->t = 0;
    } else if (in.ack && c->t >= 2) {
      c->mode = 0;
      if (c->n < 5)
        c->n++;
    }
    break;
  default:
    c->on = false;
    if (in.reset && c->t == 6) {
      c->mode = 0;
      c->fault = false;
      c->n = 0;
    }
    break;
  }
}
void init(void) { for (int j = 0; j < N; j++) { ch[j].mode = 0; ch[j].t = 0; ch[j].n = 0; ch[j].on = false; ch[j].fault = false; ch[j].level = 0; } }
void step(void)
{
  chart_0();
  chart_1();
  chart_2();
  chart_3();
  chart_4();
  chart_5();
  chart_6();
  chart_7();
  chart_8();
  chart_9();
  chart_10();
  chart_11();
  chart_12();
  chart_13();
  chart_14();
  chart_15();
  chart_16();
  chart_17();
  chart_18();
  chart_19();
  chart_20();
}
