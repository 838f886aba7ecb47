"""Inputs that nothing reads: what they may be, and that a search, held or not, is as fast and as right without them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from drawn_seeds import seeds
from enumerated import graph_of
from held_runs import HeldRuns
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Implies, Not, Or
from random_systems import random_case

from bmc.analysis.idle import idle_inputs, inputs_read, without_inputs
from bmc.analysis.slice import CONSTANTS
from bmc.floats.format import FLOAT32
from bmc.floats.ranges import every
from bmc.system.simulation import Simulator
from bmc.system.ties import PHASE, PREFIX, boundary, hold
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType, conjunction, equal
from chaincover.options import Options
from chaincover.partition.several import generate_several
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions.slicing import sliced

FLOAT = ValueType("float", 32, floating=True)
BYTE = ValueType("signed char", 8, signed=True)
x, y, z, m = (BOOLEAN.symbol(f"sp_{name}") for name in "xyzm")
junk, far = FLOAT.symbol("sp_junk"), BYTE.symbol("sp_far")


def system(constraint: FNode, *more: InputVariable) -> TransitionSystem:
    """The mode ``sp_m`` and the inputs ``sp_x``, ``sp_y``, ``sp_z``, of which it reads the first."""
    inputs = tuple(InputVariable(v.symbol_name(), BOOLEAN) for v in (x, y, z))
    state = (StateVariable("sp_m", BOOLEAN, FALSE(), x.Iff(m)),)
    return TransitionSystem("spare", state, (*inputs, *more), constraint)


def spare(constraint: FNode, *more: InputVariable) -> dict[str, int]:
    one = system(constraint, *more)
    return dict(idle_inputs(one, [v.next for v in one.state]))


def test_what_is_tied_to_something_read_is_kept() -> None:
    assert spare(TRUE()) == {"sp_y": 0, "sp_z": 0}
    assert spare(Implies(x, y)) == {"sp_z": 0}
    assert spare(And(Implies(x, y), Or(y, z))) == {}
    assert spare(Implies(m, y)) == {"sp_y": 1, "sp_z": 0}
    assert spare(m.Iff(y)) == {"sp_z": 0}
    assert spare(And(Or(y, z), Not(And(y, z)))) == {"sp_y": 0, "sp_z": 1}
    assert spare(And(y, Not(z))) == {"sp_y": 1, "sp_z": 0}
    assert spare(And(y, Not(y))) == {"sp_z": 0}


def test_the_plainest_allowed_value_is_chosen() -> None:
    assert spare(TRUE(), InputVariable("sp_far", BYTE, ((-9, -3), (7, 9))))["sp_far"] == 7
    assert spare(TRUE(), InputVariable("sp_far", BYTE, ((-9, -3),)))["sp_far"] == 256 - 9
    assert spare(TRUE(), InputVariable("sp_junk", FLOAT, every(FLOAT32)))["sp_junk"] == 0
    below = ((FLOAT32.nan, FLOAT32.nan), (0xC0000000, 0xC1000000))  # NaN, -2 to -8
    assert spare(TRUE(), InputVariable("sp_junk", FLOAT, below))["sp_junk"] == 0xC0000000
    assert spare(BV(100, 8).BVSLT(far), InputVariable("sp_far", BYTE))["sp_far"] == 101
    no_small_one = Or(And(y, BV(100, 8).BVSLT(far)), And(Not(y), BV(99, 8).BVSLT(far)))
    assert "sp_far" not in spare(no_small_one, InputVariable("sp_far", BYTE))


def test_the_rest_of_the_constraint_stays() -> None:
    one = system(conjunction([Or(y, z), Implies(m, x)]))
    idle = idle_inputs(one, [v.next for v in one.state])
    left = without_inputs(one, idle)
    assert ([v.name for v in left.inputs], left.input_constraint) == (["sp_x"], Implies(m, x))
    assert without_inputs(one, {}) is one
    assert inputs_read(one, [x]) == {"sp_x"}


@seeds(20)
def test_the_values_are_allowed_in_every_step_that_some_values_are_allowed_in(seed: int) -> None:
    case = random_case(seed)
    formulas = [*(v.next for v in case.system.state), case.system.defined]
    extra = tuple(InputVariable(v.symbol_name(), BOOLEAN) for v in (y, z))
    tie = [TRUE(), Or(y, z), And(y, Implies(z, y)), Not(y)][seed % 4]
    one = replace(
        case.system,
        inputs=(*case.system.inputs, *extra),
        input_constraint=conjunction([case.system.input_constraint, tie]),
    )
    idle = idle_inputs(one, formulas)
    assert {"sp_y", "sp_z"} <= idle.keys()
    whole, left = Simulator(one), Simulator(without_inputs(one, idle))
    for values in product(range(2), repeat=len(one.inputs)):
        inputs = dict(zip((v.name for v in one.inputs), values, strict=True))
        for raw in product(range(2), range(4), range(4)):
            state = dict(zip((v.name for v in one.state), raw, strict=True))
            if whole.allowed(state, inputs):
                assert whole.allowed(state, {**inputs, **idle})
                assert left.allowed(state, {v.name: inputs[v.name] for v in left.system.inputs})


def widened(seed: int) -> TransitionSystem:
    """A random system with a float that nothing reads, and two flags of which one is set."""
    case = random_case(seed, goals=3, longest=2)
    fitting = conjunction([Or(*(equal_or_between(low, high) for low, high in every(FLOAT32))), y.Iff(Not(z))])
    extra = (InputVariable("sp_junk", FLOAT, every(FLOAT32)), *(InputVariable(f"sp_{n}", BOOLEAN) for n in "yz"))
    constraint = conjunction([case.system.input_constraint, fitting])
    return replace(case.system, inputs=(*case.system.inputs, *extra), input_constraint=constraint)


def equal_or_between(low: int, high: int) -> FNode:
    return And(BV(low, 32).BVULE(junk), junk.BVULE(BV(high, 32)))


@pytest.mark.slow
@pytest.mark.parametrize("ticks", [1, 3])
@seeds(4)
def test_chains_are_those_without_spare_inputs(seed: int, ticks: int) -> None:
    """As short as all runs of the system without the spare inputs say; the states can be listed, and runs are whole."""
    case = random_case(seed, goals=3, longest=2)
    whole = hold(widened(seed), ticks)
    final = boundary(whole, case.final)
    expected = HeldRuns(case.system, case.goals, ticks).least_of_all(case.final)
    part = sliced(whole, case.goals, final)
    assert graph_of(part, case.goals, final).states
    assert not {v.name for v in part.state} & {f"{PREFIX}sp_junk", f"{PREFIX}sp_y", f"{PREFIX}sp_z"}
    result = generate(Problem(whole, tuple(case.goals), final), Options(bound=24))
    assert result.complete == (expected is not None)
    if result.chain is None or not result.complete:
        return
    assert result.chain.length == result.bounds.lower == expected
    run, simulator = result.chain.run, Simulator(whole)
    assert all(list(values) == [v.name for v in whole.inputs] for values in run.inputs)
    assert all(simulator.allowed(s, i) for s, i in zip(run.states, run.inputs, strict=False))
    assert all(own["sp_junk"] == own["sp_y"] == 0 for own in run.inputs)
    several = generate_several(Problem(whole, tuple(case.goals), final), Options(bound=24))
    assert [part.chain for part in several.results] == [result.chain]


def test_what_holding_adds_is_no_constant_that_a_proof_names() -> None:
    """An input with one value: the variable that would keep it never changes."""
    one = system(Not(y), InputVariable("sp_far", BYTE, ((0, 0),)))
    one = replace(one, state=(*one.state, StateVariable("sp_fixed", BYTE, BV(3, 8), BYTE.symbol("sp_fixed"))))
    state = (replace(one.state[0], next=And(x, far.BVSLT(BYTE.symbol("sp_fixed")))), one.state[1])
    part = sliced(hold(replace(one, state=state), 4), [], boundary(hold(one, 4), m))
    assert [v.name for v in part.state] == ["sp_m", PHASE, f"{PREFIX}sp_x"]
    assert [inv.name for inv in part.invariants] == [f"{CONSTANTS}sp_fixed"]
    assert equal(m, FALSE()) not in part.invariants


CODE = """\
static int mode; static unsigned char ticks;
int press; float junk; double other;
void init(void) { mode = 0; ticks = 0; }
void step(void)
{
  if (press) { if (ticks < 5) ticks++; } else { ticks = 0; }
  mode = ticks == 5;
  (void)junk; (void)other;
}
"""
PROJECT = """\
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["press", "junk", "other"]
[ranges]
press = "0..1"
other = "1.5..2.5"
[final]
condition = "init"
[[property]]
text = "p: cover(mode == 1)"
"""


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize(("ticks", "length"), [(1, 6), (3, 9)])
def test_a_program_with_unread_floats(ticks: int, length: int, tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    given = ("--hold", ticks, "--json", "-o", "out")
    found = chaincover("generate", ".", *given, cwd=tmp_path).json
    assert (found["bounds"]["length"], found["bounds"]["minimal"]) == (length, True)
    inputs = [row["inputs"] for row in found["chain"]["steps"]]
    assert all((row["junk"], row["other"]) == (0.0, 2.0) for row in inputs)
    assert chaincover("replay", ".", "out", cwd=tmp_path).code == 0
    assert chaincover("verify", ".", "out", cwd=tmp_path).code == 0
