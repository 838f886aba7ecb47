"""Programs in which no step is possible from some depth on: which lines are to blame, and what helps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from c_support import own_environment, read  # noqa: F401
from pysmt.shortcuts import BV, BVULT, FALSE, TRUE, Not, Or

from bmc.engines.auto import AutoEngine
from bmc.engines.dead_ends import DeadEnd, dead_end
from bmc.engines.protocol import Answer, Engine, Status
from bmc.engines.sat import SatEngine
from bmc.engines.z3 import Z3Engine
from bmc.formulas.unroll import at, framed
from bmc.models.c.controller.model import CModel
from bmc.system.constraints import Constraint, constrained

HEAD = """\
void __CPROVER_assume(int condition);
typedef struct { unsigned char n, m, k; } st;
void init(st *s) { s->n = 0; s->k = 0; }
"""
"""Init leaves ``m`` open; the step begins in line 4."""
COUNT = "void step(st *s, unsigned char b) {\n  if (s->n < 100) s->n++;\n"
"""Then line 6 is the next one."""

ENGINES = [Z3Engine, SatEngine, AutoEngine]


def of(folder: Path, body: str, **config: Any) -> CModel:
    return read(folder, HEAD + COUNT + body + "\n}\n", **config)


def places(found: DeadEnd | None) -> list[tuple[str, int, int]]:
    assert found is not None
    return [(c.name, c.where.line, c.where.column) for c in (*found.undefined, *found.assumed) if c.where is not None]


@pytest.fixture(params=ENGINES, ids=lambda make: make.__name__)
def engine(request: pytest.FixtureRequest) -> Engine:
    make: Callable[[], Engine] = request.param
    return make()


def test_a_read_of_what_init_leaves_open(engine: Engine, tmp_path: Path) -> None:
    found = dead_end(of(tmp_path, "  if (s->m) s->k = 1;\n  s->m = b;").system, engine, 5)
    assert places(found) == [("uninitialised read", 6, 7)]
    assert found is not None
    assert (found.steps, found.unset) == (0, ("s->m",))
    assert found.message.startswith(
        "no first step is possible: after init every allowed input meets undefined behaviour"
    )
    assert "program.c:6:7" in found.message
    assert "interface.chosen" in found.hint
    assert "s->m" in found.hint


def test_the_depth_of_a_local_that_is_not_set(engine: Engine, tmp_path: Path) -> None:
    found = dead_end(of(tmp_path, "  unsigned char x;\n  if (s->n == 4) s->k = x;").system, engine, 20)
    assert places(found) == [("uninitialised read", 7, 25)]
    assert found is not None
    assert (found.steps, found.unset) == (3, ())
    assert found.message.startswith("no run has more than 3 steps")
    assert found.hint == "give the variable a value on every path that leads to that place"


def test_a_depth_below_that_is_asked_about(engine: Engine, tmp_path: Path) -> None:
    system = of(tmp_path, "  unsigned char x;\n  if (s->n == 4) s->k = x;").system
    assert dead_end(system, engine, 3) is None
    assert dead_end(system, engine, 4) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "  __CPROVER_assume(s->n != 2 || b > 7);\n  if (s->n == 2 && b > 3) s->k = s->m + 1;",
            [("uninitialised read", 7, 34), ("assumption", 6, 3)],
        ),
        (
            "  unsigned char x;\n  if (s->n == 2 && b > 7) s->k = x;\n  if (s->n == 2 && b < 8) s->k = 1 / (s->n - 2);",
            [("uninitialised read", 7, 34), ("division by zero in '/'", 8, 34)],
        ),
        ("  __CPROVER_assume(s->n < 2);", [("assumption", 6, 3)]),
    ],
    ids=["assumed away", "either way", "assumed"],
)
def test_several_conditions_that_only_together_leave_nothing(
    body: str, expected: list[tuple[str, int, int]], engine: Engine, tmp_path: Path
) -> None:
    noise = "  { int y = 7 + (b << 3); s->k = 200 / (y + 1); }\n"
    system = of(tmp_path, body).system
    found = dead_end(system, engine, 6)
    assert sorted(places(found)) == sorted(expected)
    assert found is not None
    assert found.steps == 1
    with_noise = dead_end(of(tmp_path, body + "\n" + noise).system, engine, 6)
    assert sorted(places(with_noise)) == sorted(expected)


def test_only_assumptions_are_to_blame(engine: Engine, tmp_path: Path) -> None:
    found = dead_end(of(tmp_path, "  __CPROVER_assume(s->n < 2);").system, engine, 6)
    assert found is not None
    assert not found.undefined
    assert "breaks an assumption: the one at" in found.message
    assert found.hint == "look at the ranges, constraints and assumptions"


def test_constraints_over_steps_are_named(engine: Engine, tmp_path: Path) -> None:
    """The counter is 3 after three steps; a constraint that has nothing to do with it is not to blame."""
    system = of(tmp_path, "  s->k = b;").system
    before, now = (framed(system.variable("b").symbol, step) for step in (0, 1))
    small = BVULT(framed(system.variable("s->n").symbol, 1), BV(3, 8))
    rules = Constraint("b changes", Not(before.Equals(now))), Constraint("n is small", Or(small, now.BVULT(before)))
    system = constrained(system, (*rules, Constraint("b rises", before.BVULE(now))))
    found = dead_end(system, engine, 9)
    assert found is not None
    assert (found.steps, [c.name for c in found.broken]) == (3, ["n is small", "b rises"])
    assert found.message.endswith("every allowed input breaks an assumption: 'n is small'; 'b rises'")


def test_allowed_inputs_that_contradict_each_other(engine: Engine, tmp_path: Path) -> None:
    model = of(tmp_path, "  s->k = b;")
    counter = model.system.variable("s->n").symbol
    found = dead_end(replace(model.system, input_constraint=BVULT(counter, BV(3, 8))), engine, 9)
    assert found == DeadEnd(3, (), (), ())
    assert found.where is None
    assert found.message.endswith("every allowed input breaks an assumption")


@pytest.mark.parametrize(
    "body",
    [
        "  s->k = b;",
        "  unsigned char x;\n  if (b == 9) s->k = x;",
        "  if (s->n > 1) s->k = s->m;\n  s->m = b;",
    ],
    ids=["defined", "avoidable", "set before"],
)
def test_runs_that_go_on(body: str, engine: Engine, tmp_path: Path) -> None:
    assert dead_end(of(tmp_path, body).system, engine, 12) is None


def test_a_variable_whose_start_value_the_tester_chooses(engine: Engine, tmp_path: Path) -> None:
    body = "  if (s->m) s->k = 1;\n  s->m = b;"
    assert dead_end(of(tmp_path, body, chosen=("s->m",)).system, engine, 5) is None


def test_from_another_state(engine: Engine, tmp_path: Path) -> None:
    system = of(tmp_path, "  unsigned char x;\n  if (s->n == 4) s->k = x;").system
    counter = system.variable("s->n").symbol
    late = dead_end(system, engine, 9, at(counter.Equals(BV(3, 8)), 0))
    assert late is not None
    assert late.steps == 0
    assert dead_end(system, engine, 9, at(counter.Equals(BV(4, 8)), 0)) is None


def test_a_condition_in_several_calls_is_told_once(engine: Engine, tmp_path: Path) -> None:
    text = HEAD + "static int get(st *s) {\n  return s->m;\n}\nvoid step(st *s) { s->k = get(s) + get(s); s->m = 1; }\n"
    found = dead_end(read(tmp_path, text).system, engine, 4)
    assert places(found) == [("uninitialised read", 5, 10)]


class _Ignorant:
    """An engine that knows nothing."""

    name, version = "ignorant", "0"

    def session(self, system: object, source: object, goals: object = ()) -> _Ignorant:
        return self

    def check(self, formulas: object, steps: int, time_limit: object = None, effort: object = None) -> Answer:
        return Answer(Status.UNKNOWN)


def test_what_is_unknown_is_no_dead_end(tmp_path: Path) -> None:
    system = of(tmp_path, "  s->k = s->m;").system
    assert dead_end(system, _Ignorant(), 3) is None  # type: ignore[arg-type]


def test_where_all_that_is_defined_comes_from(tmp_path: Path) -> None:
    """A step is defined exactly where no undefined behaviour is met and all assumptions of the code hold."""
    system = of(tmp_path, "  __CPROVER_assume(b < 9);\n  if (b > 3) s->k = s->m + 1;").system
    parts = [c.formula for c in system.assumptions]
    assert [c.where.line for c in system.assumptions if c.where] == [6]
    assert parts
    met = {s.formula for s in system.undefined_behaviour}
    assert system.defined not in (TRUE(), FALSE())
    assert set(system.defined.args()) == {*parts, *(~formula for formula in met)}
