"""Interfaces behind pointers: what the caller connects before init, in the forms that code generators write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from c_support import agreement, fresh_environment, own_environment, read  # noqa: F401

from bmc.errors import InputRefused, Location
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.native.original import compiled
from bmc.system.transition import symbols_of
from properties.text import read_condition

pytestmark = pytest.mark.needs_compiler

MOTOR_H = """
#include <stddef.h>
#include <string.h>
typedef unsigned char boolean_T; typedef unsigned char uint8_T; typedef short int16_T; typedef char char_T;
typedef struct tag_RTM RT_MODEL;
typedef struct { int16_T Filter; uint8_T is_Drive; uint8_T Delay_DSTATE[2]; } DW;
typedef struct { int16_T Request; boolean_T Enable; uint8_T Hall[3]; } ExtU;
typedef struct { int16_T Duty; uint8_T Mode; } ExtY;
typedef struct { int16_T Limit; uint8_T Shift; } P;
struct tag_RTM {
  const char_T *volatile errorStatus;
  P *defaultParam;
  ExtU *inputs;
  ExtY *outputs;
  DW *dwork;
  ExtY *unused;
  struct { struct { uint8_T TID[2]; } TaskCounters; RT_MODEL *parent; } Timing;
};
extern void motor_initialize(RT_MODEL *const rtM);
extern void motor_step(RT_MODEL *const rtM);
#define rtmSetErrorStatus(rtm, val) ((rtm)->errorStatus = (val))
"""

MOTOR = """
#include "motor.h"
static int16_T limited(int16_T value, const P *rtP) {
  if (value > rtP->Limit) { return rtP->Limit; }
  return (value < (int16_T)-rtP->Limit) ? (int16_T)-rtP->Limit : value;
}
void motor_step(RT_MODEL *const rtM) {
  P *rtP = ((P *) rtM->defaultParam);
  DW *rtDW = ((DW *) rtM->dwork);
  ExtU *rtU = (ExtU *) rtM->inputs;
  ExtY *rtY = (ExtY *) rtM->outputs;
  uint8_T sum = (uint8_T)((uint8_T)(rtU->Hall[0] + rtU->Hall[1]) + rtU->Hall[2]);
  switch (rtDW->is_Drive) {
   case 1: if (rtU->Enable && sum != 0) { rtDW->is_Drive = 2; rtDW->Delay_DSTATE[0] = 0; } break;
   case 2:
    if (!rtU->Enable) { rtDW->is_Drive = 1; }
    else if (++rtDW->Delay_DSTATE[0] > 3) { rtDW->is_Drive = 3; }
    break;
   default: if (sum == 0) { rtDW->is_Drive = 1; rtmSetErrorStatus(rtM, NULL); } break;
  }
  rtDW->Filter = (int16_T)(rtDW->Filter + ((limited(rtU->Request, rtP) - rtDW->Filter) >> (rtP->Shift & 7)));
  rtY->Duty = (rtDW->is_Drive == 3) ? rtDW->Filter : 0;
  rtY->Mode = rtDW->is_Drive;
}
void motor_initialize(RT_MODEL *const rtM) {
  DW *rtDW = ((DW *) rtM->dwork);
  ExtU *rtU = (ExtU *) rtM->inputs;
  ExtY *rtY = (ExtY *) rtM->outputs;
  rtmSetErrorStatus(rtM, NULL);
  (void) memset((void *)rtDW, 0, sizeof(DW));
  (void) memset((void *)rtU, 0, sizeof(ExtU));
  (void) memset((void *)rtY, 0, sizeof(ExtY));
  rtDW->is_Drive = 1;
}
"""

HARNESS = """
#include "motor.h"
static RT_MODEL rtM_; static RT_MODEL *const rtM = &rtM_;
P rtP = { 1000, 2 }; DW rtDW; ExtU rtU; ExtY rtY;
void connect(void) {
  rtM->defaultParam = &rtP; rtM->dwork = &rtDW; rtM->inputs = &rtU; rtM->outputs = &rtY;
  motor_initialize(rtM);
}
void tick(void) { motor_step(rtM); }
"""

HEATING = """
typedef struct { int y1; int heat; } Heating_out;
typedef struct { int ck; int v_2; int v_1; int pnr; } Heating_mem;
void Heating_reset(Heating_mem *self) { self->pnr = 0; self->ck = 0; self->v_1 = 1; }
void Heating_step(int cold, int button, Heating_out *_out, Heating_mem *self) {
  int v; int r; int s;
  r = self->pnr;
  if (self->v_1) { v = 0; } else { v = self->v_2; }
  if (r) { v = 0; }
  switch (self->ck) {
    case 0: if (button) { s = 1; } else { s = 0; } _out->heat = 0; break;
    default: if (button) { s = 0; } else { s = 1; } _out->heat = cold; break;
  }
  _out->y1 = (v > 3) && _out->heat;
  self->v_2 = _out->heat ? (v < 9 ? v + 1 : v) : 0;
  self->pnr = (s != self->ck);
  self->ck = s;
  self->v_1 = 0;
}
"""

LAMP = """
typedef unsigned char kcg_bool; typedef int kcg_int;
typedef enum { SSM_st_Off, SSM_st_On } SSM_ST;
typedef struct { kcg_bool button; kcg_bool night; } inC_Lamp;
typedef struct { kcg_bool init; kcg_int rem_n; } outC_Timer;
typedef struct { kcg_bool light; SSM_ST M_pre; kcg_bool init; outC_Timer Context_1; outC_Timer Context_2; } outC_Lamp;
void Timer_reset(outC_Timer *outC) { outC->init = 1; }
kcg_bool Timer(kcg_bool run, outC_Timer *outC) {
  kcg_int n;
  if (outC->init) { n = 0; outC->init = 0; } else { n = outC->rem_n; }
  n = run ? (n < 5 ? n + 1 : n) : 0;
  outC->rem_n = n;
  return (kcg_bool)((n == 5) & run);
}
void Lamp_reset(outC_Lamp *outC) { outC->init = 1; Timer_reset(&outC->Context_1); Timer_reset(&outC->Context_2); }
void Lamp(inC_Lamp *inC, outC_Lamp *outC) {
  SSM_ST act; kcg_bool off;
  if (outC->init) { act = SSM_st_Off; outC->init = 0; } else { act = outC->M_pre; }
  off = Timer((kcg_bool)(act == SSM_st_On), &outC->Context_1) | Timer((kcg_bool)!inC->night, &outC->Context_2);
  switch (act) {
    case SSM_st_On: outC->M_pre = off ? SSM_st_Off : SSM_st_On; outC->light = 1; break;
    default: outC->M_pre = (inC->button & inC->night) ? SSM_st_On : SSM_st_Off; outC->light = 0; break;
  }
}
"""

CHART = """
typedef struct { char A; char B; char R; char O; char _GO; char pre_a; char pre_b; int seen; } TickData;
void reset(TickData *d) { d->_GO = 1; d->pre_a = 0; d->pre_b = 0; d->seen = 0; d->O = 0; }
void tick(TickData *d) {
  char ga = (d->_GO || d->R) ? 0 : (d->pre_a || d->A), gb = (d->_GO || d->R) ? 0 : (d->pre_b || d->B);
  d->O = ga && gb && !(d->pre_a && d->pre_b);
  if (d->O && d->seen < 3) { d->seen++; }
  d->pre_a = ga; d->pre_b = gb; d->_GO = 0;
}
"""

REFERENCE = """
typedef unsigned char boolean_T; typedef signed char int8_T;
typedef struct { const char **errorStatus; } RT_MODEL_lift;
typedef struct { RT_MODEL_lift rtm; } rtdw_lift; typedef struct { int8_T floor; boolean_T moving; } localDW;
static const char *rtmGetNothing;
static void start(RT_MODEL_lift *const M, const char **rt_errorStatus) { M->errorStatus = rt_errorStatus; }
void lift_initialize(const char **rt_errorStatus, RT_MODEL_lift *const M, localDW *dw) {
  start(M, rt_errorStatus); dw->floor = 0; dw->moving = 0;
}
void lift(const int8_T *rtu_call, const boolean_T *rtu_stop, int8_T *rty_floor, boolean_T *rty_up, localDW *dw) {
  dw->moving = (boolean_T)(!*rtu_stop && *rtu_call != dw->floor && *rtu_call >= 0 && *rtu_call < 5);
  *rty_up = 0;
  if (dw->moving) {
    *rty_up = (boolean_T)(*rtu_call > dw->floor);
    dw->floor = (int8_T)(dw->floor + (*rty_up ? 1 : -1));
  }
  *rty_floor = dw->floor;
}
"""

Style = tuple[dict[str, str], dict[str, Any], dict[str, str]]

STYLES: dict[str, Style] = {
    "everything behind a model pointer": (
        {"motor.c": MOTOR},
        {
            "init": ("motor_initialize",),
            "step": "motor_step",
            "chosen": ("rtM->defaultParam->*",),
            "state": ("rtM->defaultParam->*",),
        },
        {
            "rtM->inputs->Request": "input",
            "rtM->inputs->Hall[2]": "input",
            "rtM->outputs->Duty": "output",
            "rtM->dwork->is_Drive": "state",
            "rtM->defaultParam->Limit": "state",
            "rtM->unused->Duty": "",
        },
    ),
    "a harness in C connects the parts": (
        {"motor.c": MOTOR, "harness.c": HARNESS},
        {"init": ("connect",), "step": "tick", "input": ("rtU",)},
        {"rtU.Enable": "input", "rtY.Duty": "output", "rtDW.is_Drive": "state", "rtP.Limit": "state"},
    ),
    "scalars by value, output and memory": (
        {"heating.c": HEATING},
        {"init": ("Heating_reset",), "step": "Heating_step"},
        {"cold": "input", "button": "input", "_out->y1": "output", "self->ck": "state", "self->v_2": "state"},
    ),
    "input and nested contexts": (
        {"lamp.c": LAMP},
        {"init": ("Lamp_reset",), "step": "Lamp"},
        {
            "inC->button": "input",
            "outC->light": "output",
            "outC->M_pre": "state",
            "outC->Context_2.rem_n": "state",
        },
    ),
    "one struct for all": (
        {"chart.c": CHART},
        {"init": ("reset",), "step": "tick", "input": ("d->A", "d->B", "d->R")},
        {"d->A": "input", "d->O": "output", "d->pre_a": "state", "d->seen": "state"},
    ),
    "model reference": (
        {"lift.c": REFERENCE},
        {"init": ("lift_initialize",), "step": "lift"},
        {"*rtu_call": "input", "*rtu_stop": "input", "*rty_floor": "output", "dw->floor": "state"},
    ),
}


def read_files(folder: Path, files: dict[str, str], **config: Any) -> CModel:
    fresh_environment()
    (folder / "motor.h").write_text(f"#ifndef MOTOR_H\n#define MOTOR_H\n{MOTOR_H}\n#endif\n")
    for name, text in files.items():
        (folder / name).write_text(text)
    return read_c(SourceConfig("style", tuple(str(folder / name) for name in files), (str(folder),), **config))


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
def test_the_model_equals_the_compiled_original(style: str, tmp_path: Path) -> None:
    files, config, expected = STYLES[style]
    model = read_files(tmp_path, files, **config)
    found = {variable.name: variable.role for variable in model.variables}
    assert {name: found.get(name, "") for name in expected} == expected
    result = agreement(model, 300)
    assert result.steps > 250
    assert not result.differences
    assert not result.traps
    with compiled(model.native) as original:
        assert original.unreadable == ()


def test_an_object_that_only_a_pointer_names_is_a_variable(tmp_path: Path) -> None:
    text = """static int hidden = 2; static int *const p = &hidden; struct s { int n; }; struct s inner;
    struct m { struct s *to; } model = { &inner }; struct m *const top = &model; int elsewhere; int r;
    void step(int a) {
      static int *kept = &elsewhere;
      *p = (*p + a) & 7; top->to->n ^= *p; *kept = (*kept + top->to->n) & 15; r = *p + *kept;
    }"""
    model = read_files(tmp_path, {"m.c": text}, step="step")
    assert {"hidden", "inner.n", "elsewhere"} <= set(model.names)
    result = agreement(model, 200)
    assert result.steps > 150
    assert not result.differences
    outside = text.replace("static int hidden = 2;", "extern int hidden;")
    with pytest.raises(InputRefused, match="'hidden' is declared extern"):
        read_files(tmp_path, {"m.c": outside}, step="step")


def test_objects_behind_pointers_are_there_before_init(tmp_path: Path) -> None:
    files, config, _ = STYLES["everything behind a model pointer"]
    model = read_files(tmp_path, files, **config)
    start = {v.name: v.init.constant_value() for v in model.system.state if v.init is not None}
    assert start["rtM->dwork->is_Drive"] == 1
    assert start["rtM->dwork->Filter"] == 0
    assert {"rtM->inputs", "rtM->dwork"} <= {link.target for link in model.native.links}
    assert not any("parent" in link.target or "unused" in link.target for link in model.native.links)


def test_a_pointer_that_nobody_connects_is_never_followed(tmp_path: Path) -> None:
    """A global model pointer belongs to the program: what it points to is not made up."""
    text = '#include "motor.h"\nstatic RT_MODEL rtM_;\nint r;\nvoid step(void) { r = rtM_.dwork->Filter; }'
    model = read_files(tmp_path, {"m.c": text}, step="step")
    undefined_behaviour = {undefined.name: undefined.formula for undefined in model.system.undefined_behaviour}
    assert undefined_behaviour["null or unset pointer"].is_true()
    init = "void init(void) { rtM_.dwork->Filter = 1; }"
    with pytest.raises(InputRefused, match="init has undefined behaviour: null or unset pointer"):
        read_files(tmp_path, {"m.c": f"{text}\n{init}"}, step="step", init=("init",))


REDIRECTED = """
typedef struct { int n; } DW; typedef struct { DW *dwork; DW *spare; const char *error; } RT;
static DW dw; extern int limit;
void connect(RT *rtM) { rtM->dwork = &dw; rtM->spare = 0; }
"""


@pytest.mark.parametrize(
    ("step", "config", "inputs"),
    [
        ("void step(RT *rtM, int x) { rtM->dwork->n += x > 0 && rtM->dwork->n < 5; }", {}, {"x"}),
        ("void step(RT *rtM) { rtM->dwork->n += limit > 0 && rtM->dwork->n < 5; }", {"input": ("limit",)}, {"limit"}),
        (
            "void tick(RT *rtM, _Bool x, const int *y) { rtM->dwork->n += x && *y + limit > 0 && rtM->dwork->n < 5; }",
            {"input": ("limit",), "step": "tick"},
            {"x", "*y", "limit"},
        ),
        ("int get(void); void step(RT *rtM) { rtM->dwork->n = get() & 3; }", {"input_functions": ("get",)}, {"get"}),
    ],
)
def test_a_pointer_that_init_makes_point_elsewhere_stays_so_whatever_the_inputs_are(
    tmp_path: Path, step: str, config: dict[str, Any], inputs: set[str]
) -> None:
    model = read(tmp_path, REDIRECTED + step, init=("connect",), **{"step": "step", **config})
    assert {v.name for v in model.system.inputs} == inputs
    assert [v.name for v in model.system.state] == ["dw.n"]
    condition = read_condition(model, "rtM->dwork->n == 3 && !rtM->spare", Location("here"))
    assert [symbol.symbol_name() for symbol in symbols_of(condition)] == ["dw.n"]
    found = agreement(model, pairs=60)
    assert found.steps > 40
    assert not found.differences, found.differences[0]


CLEARED = """
typedef struct { int n; int m; double d; struct { unsigned char on; } inner; } Mem;
void Node_start(Mem *self) { self->m = self->n + 4; }
void Node_step(int up, Mem *self) { self->n += up & self->m;
  if (self->inner.on) { self->d += 0.5; } self->inner.on = up & 1; }
"""


def test_memory_that_is_cleared_before_init(tmp_path: Path) -> None:
    """``zeroed``: init reads it, the step too; so does the compiled original, whose memory is 0 when it is loaded."""
    model = read(tmp_path, CLEARED, step="Node_step", init=("Node_start",), zeroed=("self->*",))
    assert all(var.init is not None for var in model.system.state)
    agreement(model)
    model = read(tmp_path, CLEARED, step="Node_step", init=(), zeroed=("self->inner.*", "self->d"))
    assert [var.name for var in model.system.state if var.init is None] == ["self->n", "self->m"]
    with pytest.raises(InputRefused, match="unknown variable behind a pointer 'up'"):
        read(tmp_path, CLEARED, step="Node_step", init=(), zeroed=("up",))
