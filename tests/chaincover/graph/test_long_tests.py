"""Goals whose own tests have more steps than are stored, against walks through all states; what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from boards import board_of
from drawn_seeds import seeds
from problems import problem_of
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, TRUE, And, Ite

from benchmarks.checks.accelerated.programs import random_program
from bmc.engines.sat import SatEngine
from bmc.formulas.unroll import framed
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover import options
from chaincover.chain import COVERED, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, LongTest
from chaincover.formats.document import Document, read_document
from chaincover.formats.output import to_json
from chaincover.formats.writer import chain_document
from chaincover.graph.enumerated import enumerated_graph, enumerated_within, exact_graph
from chaincover.limits import Limits
from chaincover.minimality.acceleration import accelerate
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.stages import Stage, take_turns
from chaincover.verification.checks import Checks, Listener
from chaincover.verification.limits import Clock
from chaincover.verification.limits import Limits as VerifyLimits
from chaincover.verification.long_tests import line
from chaincover.verification.report import HOLDS, WRONG, Line
from chaincover.verification.verification import statement_of
from chaincover.weights import INIT
from properties.goal import Goal
from properties.monitor import Monitor

PROGRAM = """
#include <stdint.h>
static uint32_t total;
static uint8_t m;
void init(void) { total = 0; m = 0; }
void compute(_Bool go) {
  total++;
  if (m == 0) { if (go) m = 1; }
  else if (m == 1) { if (go) m = 2; }
  if (total > 4000000000u) m = 0;
}
"""


def run_of(problem: Problem, test: LongTest) -> Run:
    """The test, step by step."""
    simulator = Simulator(problem.system)
    inputs = [each for sequence, times in test.parts for each in sequence * times]
    run = simulator.run(simulator.initial(), inputs)
    assert all(simulator.allowed(*each) for each in zip(run.states, run.inputs, strict=False))
    return run


def far_goals(problem: Problem, stored: int) -> dict[str, int]:
    """The goals that no run of up to ``stored`` steps covers, but a longer one does, with the steps of the shortest."""
    states = enumerated_within(problem, Limits())
    assert states is not None
    graph = enumerated_graph(problem, states, Limits())
    steps = {goal: weight + problem.over(goal, 0) for (a, goal), weight in graph.weights.items() if a == INIT}
    return {goal: far for goal, far in steps.items() if far > stored and goal in problem.names}


def counting(seed: int) -> Problem:
    """Three modes, which follow each other at drawn values of a counter; it runs freely, or while an input holds."""
    random = Random(seed)
    kind, modes = ValueType("counter", 10), ValueType("mode", 2)
    now, mode, go = kind.symbol("long_count"), modes.symbol("long_mode"), BOOLEAN.symbol("long_go")
    first, last = (BV(random.randrange(10, 300), 10) for _ in range(2))
    freely, anew, onward = (random.random() < 0.5 for _ in range(3))
    is_on = [mode.Equals(BV(number, 2)) for number in range(3)]
    ready = And(is_on[1], now.BVUGE(first), go if onward else TRUE())
    back = And(is_on[2], now.Equals(last) if random.random() < 0.5 else now.BVUGT(last))
    counted = Ite(TRUE() if freely else go, now.BVAdd(BV(1, 10)), now)
    moved = Ite(And(is_on[0], go), BV(1, 2), Ite(ready, BV(2, 2), Ite(back, BV(0, 2), mode)))
    state = (
        StateVariable("long_mode", modes, BV(0, 2), moved),
        StateVariable("long_count", kind, BV(0, 10), Ite(ready, BV(0, 10), counted) if anew else counted),
    )
    system = TransitionSystem("counting", state, (InputVariable("long_go", BOOLEAN),))

    def on(number: int, step: int) -> FNode:
        return framed(mode, step).Equals(BV(number, 2))

    pairs = ((0, 1), (1, 2), (2, 0))
    return problem_of(system, [Goal(f"{a}->{b}", And(on(a, 0), on(b, 1)), None, 1) for a, b in pairs], None)


@pytest.mark.slow
@seeds(4)
def test_jumps_set_aside_just_what_is_too_far(seed: int) -> None:
    """What is set aside has a run as it is told, and none that could be stored."""
    problem, stored = counting(seed), 60
    board, _ = board_of((problem.system, problem.goals, problem.final), Options(), engine=SatEngine())
    with patch.object(options, "STORED", stored):
        take_turns([Stage("accelerate", accelerate)], board)
    far = far_goals(problem, stored)
    assert board.known.beyond.keys() == far.keys()
    for goal, test in board.known.beyond.items():
        run = run_of(problem, test)
        assert run.length == test.length >= far[goal]
        assert Monitor(problem.goals).holds(run, goal, run.length - 1)
    assert board.known.chain is None or board.known.chain.length <= stored


@seeds(4)
def test_states_set_aside_just_what_is_too_far(seed: int) -> None:
    drawn, stored = random_program(seed).problem, 5
    problem, _ = drawn.in_one_step(drawn.names)
    board, _ = board_of((problem.system, problem.goals, problem.final), Options(), engine=SatEngine())
    board.tell(enumerated=enumerated_within(problem, Limits()))
    with patch.object(options, "STORED", stored):
        exact_graph(board)
    far = far_goals(problem, stored)
    beyond = {goal: test.length for goal, test in board.known.beyond.items()}
    assert beyond == {goal: steps for goal, steps in far.items() if goal in beyond}
    assert far.keys() - beyond.keys() <= board.known.uncoverable.keys()  # reached, but no way to an end


def test_nothing_is_set_aside_where_the_user_says_how_long_a_chain_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "STORED", 3)
    problem = random_program(2).problem
    case = problem.system, problem.goals, problem.final
    board, _ = board_of(case, Options(max_length=4), engine=SatEngine())
    accelerate(board)
    assert board.known.beyond == {}


@dataclass(frozen=True)
class Written:
    """What was found for a program with goals four billion steps away, as it is written and read again."""

    document: Document
    checks: Checks

    def changed(self, goal: str, **fields: object) -> Document:
        """The document, with something else said of one goal."""
        goals = (replace(each, **fields) if each.name.endswith(goal) else each for each in self.document.goals)
        return replace(self.document, goals=tuple(goals))

    def line(self, document: Document) -> Line:
        """What ``verify`` says of the long tests of ``document``."""
        found = line(self.checks.setting, document, self.checks.jumps)
        assert found is not None
        return found


@pytest.fixture(scope="module", params=["allow", "forbid"])
def written(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Written:
    folder = tmp_path_factory.mktemp("long")
    (folder / "total.c").write_text(PROGRAM)
    subject = load_request(Request(str(folder / "total.c"), cover=("transitions(m, 0..2)",)))
    options = Options(overlap=request.param)
    result = generate(subject.problem, options, stages=[Stage("accelerate", accelerate)])
    assert result.chain is not None
    assert (result.chain.length, result.bounds.minimal) == (2, True)
    (folder / "chain.json").write_text(to_json(chain_document(subject, result)))
    document = read_document(folder / "chain.json")
    return Written(document, Checks(statement_of(subject, document), Clock(VerifyLimits.of(0.01, None)), Listener()))


def test_a_goal_that_is_four_billion_steps_away(written: Written) -> None:
    """It is undecided, and the bound of the others is as if it was not there."""
    goals = {goal.name.partition("=")[2]: goal for goal in written.document.goals}
    assert {name: goal.verdict for name, goal in goals.items()} == {
        **{"0->1": COVERED, "1->2": COVERED, "0->2": UNREACHABLE, "2->1": UNREACHABLE},
        **{"1->0": UNDECIDED, "2->0": UNDECIDED},
    }
    for name in ("1->0", "2->0"):
        test = goals[name].long_test
        assert test is not None
        assert test["length"] == sum(len(part["inputs"]) * part["times"] for part in test["parts"]) == 4_000_000_001
        assert goals[name].detail.startswith("reachable: a test of its own has 4,000,000,001 steps")


def test_a_test_is_no_longer_than_its_goal_needs(tmp_path: Path) -> None:
    """A jump leads to the last value of a cell, 2^32 - 1, and the goal holds from the first value on."""
    (tmp_path / "total.c").write_text(PROGRAM)
    subject = load_request(Request(str(tmp_path / "total.c"), cover=("branches()",)))
    result = generate(subject.problem, Options(), stages=[Stage("accelerate", accelerate)])
    assert [verdict.detail for verdict in result.verdicts if verdict.status == UNDECIDED] == [
        "reachable: a test of its own has 4,000,000,001 steps, more than are stored: a chain has at most 1,000,000"
    ]


def test_verify_makes_the_jumps_again(written: Written) -> None:
    assert written.line(written.document).verdict == HOLDS


def test_a_long_test_is_only_told_where_it_could_not_be_stored(written: Written) -> None:
    settings = {**written.document.data["settings"], "max_length": 5_000_000_000}
    longer = replace(written.document, data={**written.document.data, "settings": settings})
    assert written.line(longer).verdict == WRONG
    assert written.line(written.changed("2->0", verdict=NOT_WITHIN_BOUND)).verdict == WRONG


FORGED = {
    "one step less": lambda test: test["parts"][0].update(times=test["parts"][0]["times"] - 1),
    "one step less, told": lambda test: (
        test.update(length=test["length"] - 1),
        max(test["parts"], key=lambda part: part["times"]).update(times=max(p["times"] for p in test["parts"]) - 1),
    ),
    "another length": lambda test: test.update(length=4_000_000_002),
    "another input": lambda test: test["parts"][-2]["inputs"][0].update(go=0),
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_forged_long_test_is_wrong(written: Written, change: Callable[[dict[str, Any]], object]) -> None:
    goal = next(goal for goal in written.document.goals if goal.name.endswith("2->0"))
    forged = deepcopy(goal.long_test)
    assert forged is not None
    change(forged)
    assert written.line(written.changed("2->0", long_test=forged)).verdict == WRONG
