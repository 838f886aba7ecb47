"""Enumerated states of C programs that used to be too large: many inputs, open start values, a timer that counts on."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read
from command_line import MODELS
from enumerated_systems import placed
from enumeration import enumerated, reachability_invariant
from pysmt.fnode import FNode

from bmc.engines.sat import LeastInputs
from bmc.explicit.enumeration import Enumeration
from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from chaincover.project.load import load
from chaincover.project.project_file import read_project

__all__ = ["own_environment"]
PLENTY = 2_000_000_000

SWITCH = """
typedef unsigned char u8;
typedef struct { u8 speed, limit, torque, demand, level, other, key; _Bool on, off; } in;
typedef struct { u8 mode; } st;
void init(st *s) { s->mode = 0; }
void step(in *i, st *s) {
  switch (s->mode) {
  case 0: if (i->on && i->key == 42) s->mode = 1; break;
  case 1: if (i->speed > i->limit) s->mode = 2; else if (i->torque < 10 && i->demand > 200) s->mode = 3;
          else if (i->off) s->mode = 0; break;
  case 2: if (i->level == i->other && i->speed < 100) s->mode = 4; else if (i->speed + i->torque > 300) s->mode = 5;
          break;
  case 3: if (i->demand < i->torque) s->mode = 1; else if (i->key > 7 && i->level > 9 && i->other < 3) s->mode = 6;
          break;
  case 4: if (i->limit >= 50 && i->limit <= 60) s->mode = 7; else if (i->key == i->level) s->mode = 8; break;
  case 5: case 6: case 7: if (i->off) s->mode = 0; break;
  default: if (i->speed < i->limit && i->limit < i->torque) s->mode = 0; break;
  }
}
"""


def modes(folder: Path, text: str) -> tuple[TransitionSystem, list[FNode]]:
    """The program's system, and its modes to be told apart."""
    system = read(folder, text).system
    mode = next(var for var in system.state if "mode" in var.name)
    return system, [mode.symbol.Equals(mode.type.constant(number)) for number in range(9)]


def test_many_inputs_that_are_compared_with_each_other(tmp_path: Path) -> None:
    """58 bits of inputs, 9 states; the steps are those that one reads in the program."""
    system, formulas = modes(tmp_path, SWITCH)
    found = Enumeration(system, placed(formulas))
    found.advance(PLENTY)
    graph = found.graph
    assert graph is not None
    (name,) = graph.states.columns
    number = {row[name]: place for place, row in enumerate(graph.states)}
    reached = {mode: {graph.states[after][name] for _, after in graph.steps[place]} for mode, place in number.items()}
    assert reached == {
        **{0: {0, 1}, 1: {0, 1, 2, 3}, 2: {2, 4, 5}, 3: {1, 3, 6}, 4: {4, 7, 8}},
        **{5: {0, 5}, 6: {0, 6}, 7: {0, 7}, 8: {0, 8}},
    }
    simulator = Simulator(system)
    for place, row in enumerate(graph.states):
        for choice, after in graph.steps[place]:
            assert simulator.step(row, graph.inputs[choice]) == graph.states[after]


def first_cycle(variables: int) -> str:
    """The first cycle sets what later cycles read; init leaves it open."""
    fields = " ".join(f"int v{number};" for number in range(variables))
    body = "".join(
        f"  if (s->first) s->v{n} = {n}; else if (i->go && s->mode == {n % 5}) s->v{n} = {n % 3} + {n};\n"
        for n in range(variables)
    )
    return f"""
typedef unsigned char u8;
typedef struct {{ u8 x; _Bool go; }} in;
typedef struct {{ _Bool first; u8 mode; {fields} }} st;
void init(st *s) {{ s->first = 1; s->mode = 0; }}
void step(in *i, st *s) {{
{body}  if (!s->first && s->v3 > 2 && i->x > 100 && s->mode < 5) s->mode++;
  else if (s->v7 == 8 && !s->first) s->mode = 0;
  s->first = 0;
}}
"""


def test_start_values_that_no_step_reads_stay_open(tmp_path: Path) -> None:
    system, formulas = modes(tmp_path, first_cycle(30))
    graph = enumerated(system, placed(formulas), PLENTY)
    assert graph is not None
    assert graph.starts == (0,)
    names = {var.name for var in system.state if var.init is None} & set(graph.states.columns)
    assert names
    assert {name for name, mask in graph.states.open.items() if mask[0]} == names
    assert not any(mask[1:].any() for mask in graph.states.open.values())
    set_at_once = text_with_memset(first_cycle(30))
    plain, told = modes(tmp_path, set_at_once)
    other = enumerated(plain, placed(told), PLENTY)
    assert other is not None
    assert len(graph.states) == len(other.states)
    following, expected = ([{after for _, after in steps} for steps in found.steps] for found in (graph, other))
    assert sorted(len(after) for after in following) == sorted(len(after) for after in expected)


def text_with_memset(text: str) -> str:
    """``text`` with all fields set by init."""
    fields = "".join(f" s->v{number} = 0;" for number in range(30))
    return text.replace("s->first = 1;", f"s->first = 1;{fields}")


def test_the_invariant_leaves_open_values_free(tmp_path: Path) -> None:
    system, formulas = modes(tmp_path, first_cycle(9))
    found = reachability_invariant(system, placed(formulas), PLENTY)
    assert found is not None
    holds = compile_formulas([found.formula])
    simulator = Simulator(system)
    left = [var.name for var in system.state if var.init is None]
    for value in (0, 1, 77, 255):
        state = simulator.initial(dict.fromkeys(left, value))
        for go in (0, 1, 1):
            assert holds(state) == (1,)
            values = {var.name: go * 120 if var.type.bits == 8 else go for var in system.inputs}
            state = simulator.step(state, {name: min(v, 1) if "go" in name else v for name, v in values.items()})


TIMER = """
typedef unsigned short u16;
typedef struct { _Bool go; _Bool stop; } in;
typedef struct { unsigned char mode; u16 time; } st;
void init(st *s) { s->mode = 0; s->time = 0; }
void step(in *i, st *s) {
  switch (s->mode) {
  case 0: if (i->go) { s->mode = 1; s->time = 0; } break;
  case 1: s->time++; if (i->stop) { s->mode = 2; } else if (s->time == 65535) s->mode = 3; break;
  case 2: s->time++; if (s->time > 60000) s->mode = 3; else if (i->go && s->time < 100) s->mode = 1; break;
  default: if (i->stop) { s->mode = 0; s->time = 0; } break;
  }
}
"""


def test_a_timer_of_sixteen_bits_that_counts_on(tmp_path: Path) -> None:
    """136,607 states, at the work of few steps each: none of them is looked at by itself."""
    system, formulas = modes(tmp_path, TIMER)
    found = Enumeration(system, placed(formulas))
    found.advance(PLENTY)
    assert found.graph is not None
    assert len(found.graph.states) == 136_607
    assert found.states == 136_607


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "states"),
    [("boiler", 9), ("crane", 9), ("gate", 3_926), pytest.param("lubricator", 786_508, marks=pytest.mark.evidence)],
)
def test_bundled_models_that_used_to_be_too_large(name: str, states: int) -> None:
    """Sensors of 8 bits that are compared with each other or summed up, 30 open memories, and a timer of 16 bits."""
    fresh_environment()
    subject = load(read_project(str(MODELS / name)))
    found = Enumeration(subject.system, [goal.antecedent for goal in subject.goals], solving=LeastInputs)
    found.advance(PLENTY)
    assert found.graph is not None
    assert len(found.graph.states) == states
