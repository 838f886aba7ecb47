"""C as generators write it, with state that makes no difference: block signals, locals in a context, parameters."""

from __future__ import annotations

PLANT = """
#include <string.h>

typedef unsigned char boolean_T;
typedef struct { boolean_T start; boolean_T stop; int demand; int spare; } ExtU_plant_T;
typedef struct { int valve; boolean_T lamp; } ExtY_plant_T;
typedef struct { int Gain; int Delay[3]; unsigned int Total; } B_plant_T;
typedef struct {
    unsigned char is_c1_plant;
    unsigned char ticks;
    unsigned int UnitDelay_DSTATE;
    unsigned int calls;
} DW_plant_T;
typedef struct { int Gain_Gain; int Limit; } P_plant_T;

ExtU_plant_T plant_U;
ExtY_plant_T plant_Y;
B_plant_T plant_B;
DW_plant_T plant_DW;
P_plant_T plant_P = { 3, 4 };

void plant_initialize(void)
{
    memset(&plant_Y, 0, sizeof(ExtY_plant_T));
    memset(&plant_B, 0, sizeof(B_plant_T));
    memset(&plant_DW, 0, sizeof(DW_plant_T));
    plant_DW.is_c1_plant = 1;
}

void plant_step(void)
{
    plant_B.Total += (unsigned int)plant_U.demand;
    plant_DW.calls++;
    if (plant_U.start) {
        plant_B.Gain = plant_P.Gain_Gain * (plant_U.demand & 3);
    }
    plant_B.Delay[2] = plant_B.Delay[1];
    plant_B.Delay[1] = plant_B.Delay[0];
    plant_B.Delay[0] = plant_U.demand & 3;
    switch (plant_DW.is_c1_plant) {
    case 1:
        if (plant_U.start) {
            plant_DW.is_c1_plant = 2;
            plant_DW.ticks = 0;
        }
        break;
    case 2:
        if (plant_DW.ticks >= plant_P.Limit) {
            plant_DW.is_c1_plant = 3;
        } else {
            plant_DW.ticks++;
        }
        break;
    default:
        if (plant_U.stop) {
            plant_DW.is_c1_plant = 1;
            plant_DW.ticks = 0;
        }
        break;
    }
    plant_Y.valve = plant_DW.is_c1_plant == 2 ? plant_B.Delay[0] : 0;
    plant_Y.lamp = (boolean_T)(plant_DW.is_c1_plant == 3);
    plant_DW.UnitDelay_DSTATE = plant_B.Total;
}
"""

PLANT_PROJECT = """
name = "plant"
[sources]
files = ["plant.c"]
[functions]
init = ["plant_initialize"]
step = "plant_step"
[interface]
input = ["plant_U.*"]
output = ["plant_Y.*"]
[ranges]
"plant_U.start" = [0, 1]
"plant_U.stop" = [0, 1]
"plant_U.demand" = "0..3"
"plant_U.spare" = "0..1"
[final]
condition = "init"
[[property]]
id = "running"
text = "G(is_c1_plant == 2 && demand == 2 -> X(valve == 2 || lamp))"
[[property]]
id = "done"
text = "cover(lamp)"
"""

NODE = """
typedef struct { int out; int _L12; int _L7; unsigned char M_pre; unsigned char first; } outC_node;

void node_reset(outC_node *outC)
{
    outC->first = 1;
    outC->M_pre = 0;
    outC->out = 0;
}

void node(int on, int level, outC_node *outC)
{
    if (on) {
        outC->_L12 = level + 1;
    }
    outC->_L7 = level;
    if (outC->first) {
        outC->out = 0;
    } else if (on && outC->M_pre) {
        outC->out = outC->_L12 * 2;
    } else {
        outC->out = outC->_L7;
    }
    outC->M_pre = (unsigned char)(on != 0);
    outC->first = 0;
}
"""

NODE_PROJECT = """
name = "node"
[sources]
files = ["node.c"]
[functions]
init = ["node_reset"]
step = "node"
[interface]
input = ["on", "level"]
state = ["outC->first", "outC->M_pre", "outC->_L*"]
output = ["outC->out"]
[ranges]
on = [0, 1]
level = "0..3"
[[property]]
id = "twice"
text = "cover(on && X(on && level == 3 && X(out == 8)))"
"""
