"""Functions and objects that no source defines, volatile objects: model against compiled original, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

from bmc.errors import Location
from bmc.models.c.controller.externals import undefined_functions
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig, read_program
from bmc.native.original import compiled
from bmc.system.simulation import Simulator
from properties.text import read_condition

needs_compiler = pytest.mark.needs_compiler

RTE = """
typedef unsigned char uint8; typedef uint8 boolean; typedef signed short sint16; typedef uint8 Std_ReturnType;
typedef float float32;
typedef struct { uint8 level; sint16 raw[2]; } probe_t;
"""

Case = tuple[str, dict[str, Any], dict[str, str]]

PROGRAMS: dict[str, Case] = {
    "results of every kind of type": (
        """int get_i(void); _Bool get_b(void); enum e { A = -1, B = 3 }; enum e get_e(void);
        unsigned long long get_l(void);
        struct s { char c; int n[2]; }; struct s get_s(void); signed char get_c(void); long long r;
        void step(void) {
          struct s t = get_s();
          r = (get_b() ? get_i() & 0xfff : get_e()) + t.n[1] % 100 + t.c + get_c() + (long long)(get_l() >> 40);
        }""",
        {"input_functions": ("get_*",)},
        {"get_i": "input", "get_b": "input", "get_e": "input", "get_l": "input", "get_s.n[1]": "input", "r": "output"},
    ),
    "floating results and arguments": (
        """double get_d(void); float get_f(void); void get_both(float *x, double *y); void set_d(double v); int n;
        void step(void) { float x; double y; get_both(&x, &y); n = x < get_f(); set_d(get_d() > y ? get_d() : y); }""",
        {"input_functions": ("get_*",), "output_functions": ("set_*",)},
        {"get_d": "input", "get_f": "input", "get_both::x": "input", "get_both::y": "input", "set_d": "output"},
    ),
    "filled through pointers": (
        """struct s { char c; short n[2]; }; void get(int *a, struct s *b); int read(short v[3]); int r;
        static struct s kept; struct s table[2];
        void step(void) {
          short v[3]; int a; int failed = read(v);
          get(&a, &kept); get(&a, &table[1]);
          r = failed ? -1 : (a & 255) + v[0] + v[2] + table[1].n[1] + kept.c;
        }""",
        {"input_functions": ("get", "read")},
        {"get::a": "input", "get::b.n[1]": "input", "read::v[2]": "input", "read": "input", "kept.c": "output"},
    ),
    "taken by value and through pointers": (
        """struct s { char c; short n[2]; }; void set(struct s v); int send(const struct s *v, const int w[2], int x);
        void mark(void); int i; int n;
        void step(int a) {
          struct s v = { (char)a, { 1, (short)(a >> 3) } }; int w[2] = { a, n };
          mark(); if (a & 1) { set(v); } if (a & 2) { send(&v, w, 7); } n = a & 15;
        }""",
        {"output_functions": ("set", "send", "mark")},
        {"set.c": "output", "send::v.n[1]": "output", "send::w[1]": "output", "send::x": "output", "n": "state"},
    ),
    "a status that may fail": (
        RTE
        + """Std_ReturnType Rte_Read_P_V(sint16 *data); Std_ReturnType Rte_Write_P_W(sint16 data); int fails;
        void step(void) {
          sint16 v;
          if (Rte_Read_P_V(&v) != 0U) { v = -1; }
          if (Rte_Write_P_W((sint16)(v / 2)) != 0U && fails < 9) { fails++; }
        }""",
        {"status_functions": ("Rte_*",)},
        {
            "Rte_Read_P_V": "input",
            "Rte_Write_P_W": "input",
            "Rte_Read_P_V::data": "input",
            "Rte_Write_P_W::data": "output",
        },
    ),
    "the AUTOSAR run-time environment": (
        RTE
        + """Std_ReturnType Rte_Read_P_Probe(probe_t *data); float32 Rte_DRead_P_F(void);
        const probe_t *Rte_IRead_Step_P_Q(void);
        boolean Rte_IsUpdated_P_Q(void); uint8 Rte_Mode_M_m(void); Std_ReturnType Rte_IStatus_Step_P_Q(void);
        Std_ReturnType Rte_Write_P_Out(const probe_t *data); void Rte_IWrite_Step_P_Level(uint8 data);
        probe_t *Rte_IWriteRef_Step_P_R(void); Std_ReturnType Rte_Switch_M_m(uint8 mode);
        sint16 Rte_IrvRead_Step_sum(void); void Rte_IrvWrite_Step_sum(sint16 data); probe_t *Rte_Pim_Memory(void);
        uint8 Rte_CData_Gain(void); const probe_t *Rte_Prm_P_Table(void); void Rte_Enter_A(void); void Rte_Exit_A(void);
        void step(void) {
          probe_t p; uint8 mode = Rte_Mode_M_m();
          Rte_Read_P_Probe(&p);
          Rte_Enter_A();
          if (Rte_IsUpdated_P_Q() && Rte_IStatus_Step_P_Q() == 0) { p.level ^= Rte_IRead_Step_P_Q()->level; }
          Rte_IrvWrite_Step_sum((sint16)((Rte_IrvRead_Step_sum() + p.raw[0] * Rte_CData_Gain()) & 0x3fff));
          Rte_Exit_A();
          Rte_Pim_Memory()->raw[1] = (sint16)(p.raw[1] + Rte_Prm_P_Table()->raw[1]);
          if (mode > 7) { Rte_Write_P_Out(&p); Rte_Switch_M_m(0); }
          Rte_IWriteRef_Step_P_R()->level = p.level;
          Rte_IWrite_Step_P_Level((uint8)(Rte_DRead_P_F() > 1.5f));
        }""",
        {
            "values": {
                "Rte_CData_Gain": "3",
                "Rte_Prm_P_Table.level": "1",
                "Rte_Prm_P_Table.raw[0]": "0",
                "Rte_Prm_P_Table.raw[1]": "-5",
                "Rte_Pim_Memory.level": "9",
            }
        },
        {
            "Rte_Read_P_Probe::data.raw[1]": "input",
            "Rte_DRead_P_F": "input",
            "Rte_IRead_Step_P_Q.level": "input",
            "Rte_Mode_M_m": "input",
            "Rte_Write_P_Out::data.level": "output",
            "Rte_IWrite_Step_P_Level": "output",
            "Rte_IWriteRef_Step_P_R.level": "output",
            "Rte_Switch_M_m::mode": "output",
            "Rte_Irv_Step_sum": "state",
            "Rte_Pim_Memory.raw[1]": "state",
        },
    ),
    "a variable behind several functions": (
        """int nvm_load(void); void nvm_store(int v); void nvm_fetch(int *v); int r; int old;
        void init(void) { nvm_store(old); }
        void step(int a) { int v; nvm_fetch(&v); r = v - nvm_load(); nvm_store(a); r += nvm_load(); }""",
        {"shared": {"nvm": ("nvm_load", "nvm_store", "nvm_fetch")}, "init": ("init",), "values": {"nvm": "7"}},
        {"nvm": "state"},
    ),
    "objects that no source defines": (
        """struct s { short a; unsigned char b[2]; }; extern int in; extern struct s pars; extern unsigned char K;
        extern const short LIMIT; extern int out; extern int count; int r;
        void step(void) {
          if (in > LIMIT) { count = count == 3 ? 0 : count + 1; }
          r = pars.a * K + pars.b[1]; out = in;
        }""",
        {
            "input": ("in",),
            "values": {"pars.a": "-3", "pars.b*": "0x21", "K": "'A'", "LIMIT": "1 << 4", "count": "2"},
        },
        {"in": "input", "out": "output", "count": "state", "K": "state", "pars.a": "state"},
    ),
    "volatile objects": (
        """volatile unsigned char port; static volatile int ticks; const volatile short GAIN = 5;
        const volatile short OPEN = 2;
        typedef volatile int reg_t; reg_t reg; volatile int keeps = 4; int r;
        void step(void) { if (port & 1) { ticks = (ticks + 1) & 7; } r = ticks * GAIN + OPEN + (reg & 3) + keeps; }""",
        {"input": ("port", "OPEN", "reg"), "state": ("keeps", "ticks")},
        {"port": "input", "OPEN": "input", "reg": "input", "ticks": "state", "keeps": "state"},
    ),
    "a name of the C library": (
        "int rand(void); long time(long *); int r; void step(void) { long t; time(&t); r = rand() ^ (int)(t & 0xff); }",
        {"input_functions": ("rand", "time")},
        {"rand": "input", "time::1": "input", "time": "input"},
    ),
}


def roles(model: CModel) -> dict[str, str]:
    return {variable.name: variable.role for variable in model.variables}


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_equals_the_compiled_original(name: str, tmp_path: Path) -> None:
    text, config, expected = PROGRAMS[name]
    model = read(tmp_path, text, **config)
    found = roles(model)
    assert {variable: found.get(variable) for variable in expected} == expected
    result = agreement(model, 200)
    assert result.steps > 150
    assert not result.differences
    assert not result.traps
    with compiled(model.native) as original:
        assert original.unreadable == ()


def test_every_call_in_one_step_gives_the_same_value(tmp_path: Path) -> None:
    text = """int get(void); void fill(int *v); int same;
    void step(void) { int a, b; fill(&a); fill(&b); same = get() == get() && a == b; }"""
    model = read(tmp_path, text, input_functions=("get", "fill"))
    simulator = Simulator(model.system)
    for number in (0, 7, 0xFFFFFFFF):
        after = simulator.step(simulator.initial(), {"get": number, "fill::v": number})
        assert after["same"] == 1


def test_an_output_is_open_until_it_is_written(tmp_path: Path) -> None:
    text = "void set(int v); void step(int a) { if (a > 3) { set(a); } }"
    model = read(tmp_path, text, output_functions=("set",))
    simulator = Simulator(model.system)
    state = simulator.step(simulator.initial(), {"a": 1})
    assert state["set#defined"] == 0
    state = simulator.step(simulator.step(state, {"a": 5}), {"a": 2})
    assert (state["set#defined"], state["set"]) == (1, 5)


@needs_compiler
def test_start_values_reach_the_compiled_original(tmp_path: Path) -> None:
    text, config, _ = PROGRAMS["objects that no source defines"]
    model = read(tmp_path, text, **config)
    with compiled(model.native) as original:
        start, after = original.run([{"in": 17}])
    assert (start["count"], start["K"], start["pars.a"]) == (2, ord("A"), 0x10000 - 3)
    assert (after["count"], after["r"]) == (3, 2**32 - 3 * ord("A") + 0x21)


def test_what_was_assumed_is_noted(tmp_path: Path) -> None:
    text = (
        RTE
        + """Std_ReturnType Rte_Read_P_V(sint16 *data); sint16 *Rte_Pim_M(void); const volatile int K = 3;
    volatile int n;
    void step(void) { sint16 v; Rte_Read_P_V(&v); *Rte_Pim_M() = v; n = (n + K) & 7; }"""
    )
    notes = "\n".join(read(tmp_path, text, state=("n",)).notes)
    assert "these calls are taken to work, with the result 0: Rte_Read_P_V" in notes
    assert "'Rte_Pim_M' starts with 0" in notes
    assert "const volatile, taken as constant: K " in notes
    assert "volatile, read like other memory (an input: one value per step): n" in notes


def test_properties_name_what_stands_behind_functions(tmp_path: Path) -> None:
    text = """enum { HIGH = 5 }; int get(void); int read(int *v, int *w); void set(int x); int r;
    void step(void) { int v, w; if (read(&v, &w) == 0 && get() == HIGH) { set(v); r = w; } }"""
    model = read(tmp_path, text, input_functions=("get", "read"), output_functions=("set",))
    where = Location("here", 1)
    names = {
        "get == HIGH": {"get"},
        "get() == HIGH": {"get"},
        "read == 0": {"read"},
        "read::w > 3 && v": {"read::w", "read::v"},
        "set == 2": {"set", "set#defined"},
    }
    for condition, symbols in names.items():
        formula = read_condition(model, condition, where)
        assert {symbol.symbol_name() for symbol in formula.get_free_variables()} == symbols


def test_proposals_for_undefined_functions(tmp_path: Path) -> None:
    file = tmp_path / "p.c"
    file.write_text(
        """int get(void); void fill(int *a); void set(int v); void show(const int *p); int odd(int v); void mark(void);
        int Rte_IRead_S_x(void); void Rte_Call_P_op(int v); int unused(void); int r;
        static void deep(void) { mark(); odd(r); }
        void step(void) { int a; r = get(); fill(&a);
        set(a); show(&a); deep(); r = Rte_IRead_S_x(); Rte_Call_P_op(1); set(2); }"""
    )
    program = read_program(SourceConfig("p", (str(file),)))[0]
    step = program.function("step")
    assert step is not None
    found = undefined_functions(program, [step], lambda name: False)
    assert {f.name: f.role for f in found} == {
        "get": "input",
        "fill": "input",
        "set": "output",
        "show": "output",
        "Rte_IRead_S_x": "input",
        "Rte_Call_P_op": "",
        "mark": "output",
        "odd": "",
    }
    assert {f.name: f.call.line for f in found}["set"] == 5
