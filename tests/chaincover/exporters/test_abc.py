"""What Debian's ABC says of exported questions, where it is installed, and how its answers are read."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS
from drawn_seeds import seeds
from problems import problem_of
from pysmt.shortcuts import TRUE, And, Not
from question_runs import first_bad
from random_systems import random_case

from benchmarks.checks.foreign.abc import Answer, decide, read
from bmc.formulas.unroll import at
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem
from chaincover.certificate import PathFact
from chaincover.exporters.aiger import Aiger
from chaincover.exporters.protocol import Question, Statement
from chaincover.exporters.questions import chain_question, invariant_question, path_question
from chaincover.project.load import Request, load_request
from properties.goal import Goal

NO = Statement("claim", "title", "text")
LIMIT = 60.0


def asked(question: Question, folder: Path, frames: int | None) -> Answer:
    file = folder / "question.aig"
    file.write_bytes(Aiger().write(question))
    return decide(file, frames, LIMIT)


@pytest.mark.needs_abc
@pytest.mark.parametrize(("model", "length"), [("latch", 6), ("cruise", 9), ("pump", 10), ("elevator", 32)])
def test_the_shortest_chain_and_none_that_is_shorter(model: str, length: int, tmp_path: Path) -> None:
    question = chain_question(load_request(Request(str(MODELS / model))).problem, NO)
    assert asked(question, tmp_path, length).reached is False
    found = asked(question, tmp_path, length + 1)
    assert (found.reached, found.frame) == (True, length)


def door(allowed: bool) -> TransitionSystem:
    """Button and lock are never on together where that is assumed; then neither are what they set."""
    button, lock = BOOLEAN.symbol("a_button"), BOOLEAN.symbol("a_lock")
    return TransitionSystem(
        "door",
        (
            StateVariable("a_open", BOOLEAN, BOOLEAN.constant(0), button),
            StateVariable("a_locked", BOOLEAN, BOOLEAN.constant(0), lock),
        ),
        (InputVariable("a_button", BOOLEAN), InputVariable("a_lock", BOOLEAN)),
        input_constraint=Not(And(button, lock)) if allowed else TRUE(),
    )


@pytest.mark.needs_abc
@pytest.mark.parametrize("allowed", [True, False])
def test_what_only_an_assumption_makes_true_or_unreachable(allowed: bool, tmp_path: Path) -> None:
    """ABC answers wrongly, or not at all, where such an assumption is a constraint of AIGER."""
    together = And(BOOLEAN.symbol("a_open"), BOOLEAN.symbol("a_locked"))
    problem = problem_of(door(allowed), [Goal("both", at(together, 0), None, 0)], None)
    for question in (chain_question(problem, NO), invariant_question(problem, NO, Not(together))):
        for frames in (None, 5):
            answer = asked(question, tmp_path, frames)
            assert (answer.reached, answer.frame) == ((False, None) if allowed else (True, 1))


@pytest.mark.needs_abc
@pytest.mark.slow
@seeds(4)
def test_drawn_systems(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """As a search over all states, with open starts, constraints, goals of up to three steps, forbidden overlap."""
    folder, rng = tmp_path_factory.mktemp("abc"), random.Random(seed)
    case = random_case(seed, goals=3)
    state = tuple(replace(v, init=None) if rng.random() < 0.3 else v for v in case.system.state)
    system = replace(case.system, state=state)
    problem = problem_of(system, case.goals, case.final, rng.choice(["allow", "forbid"]))
    path = PathFact((problem.names[0], problem.end), rng.randint(1, 4))
    small, _ = problem.in_one_step(problem.names)
    for question in (chain_question(problem, NO), path_question(small, path, NO, TRUE())):
        least = first_bad(question)
        answer = asked(question, folder, None)
        assert answer.reached == (least is not None)
        if least is not None:
            assert not least or asked(question, folder, least).reached is False
            assert asked(question, folder, least + 1).frame == least


ASSERTED = 'Output 0 of miter "x" was asserted in frame 7. Time =     0.02 sec\n'
LOOKED = "No output asserted in 6 frames. Resource limit reached (conf limit 0). Time =     0.02 sec\n"


@pytest.mark.parametrize(
    ("output", "frames", "told"),
    [
        (ASSERTED, 8, (True, 7)),
        (ASSERTED, None, (True, 7)),
        (LOOKED, 6, (False, None)),
        (LOOKED, 7, (None, None)),
        (LOOKED, None, (None, None)),
        ("Invariant F[1] : 1 clauses\nProperty proved.  Time = 0.02 sec\n", None, (False, None)),
        ("Explored all reachable states after completing 2 frames.  Time = 0.02 sec\n", 9, (False, None)),
        ("Property UNDECIDED.  Time = 60.00 sec\n", None, (None, None)),
        ("Error: Does not work for combinational networks.\n", 3, (None, None)),
        ("", 3, (None, None)),
    ],
)
def test_answers_as_they_are_read(output: str, frames: int | None, told: tuple[bool | None, int | None]) -> None:
    assert read(output, frames) == told
