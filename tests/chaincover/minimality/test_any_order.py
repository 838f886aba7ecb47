"""Goals at any steps in any order: the formulas, and what is refuted with them, against all runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, pairwise, product

import pytest
from boards import Kept, board_of, run_by
from explicit import Explicit, State
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from machines import fork, random_machine
from problems import problem_of
from random_systems import random_case

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.errors import counted
from bmc.formulas.unroll import at
from bmc.system.ties import boundary, hold
from bmc.system.transition import Run
from chaincover.chain import UNREACHABLE
from chaincover.known import NOTHING, Board, Reason
from chaincover.limits import Limits
from chaincover.minimality.windows import LEAST, AnyOrder, _WholeChains, refute_lengths
from chaincover.options import Options
from chaincover.problem import Questions
from properties.goal import Goal
from properties.monitor import Monitor

MOST = 4
"""The longest runs listed."""


def apart(spans: list[tuple[int, int]]) -> bool:
    """Whether no two spans of steps (first, and first after) meet; one of no steps may lie on a border."""
    return all(a[1] <= b[0] for a, b in pairwise(sorted(spans)))


def lengths_by_all_runs(
    reference: Explicit, goals: Sequence[Goal], final: object, overlap: str, starts: object = None, held: int = 1
) -> set[int]:
    """The lengths up to ``MOST`` of the runs from ``starts`` (init) to the end that cover all ``goals``.

    Inputs are ``held`` for so many steps, and a run ends only where they may change.
    """
    found = set()
    every = [(start, length) for start in starts or [reference.init] for length in range(0, MOST + 1, held)]
    for start, length in every:
        for states, inputs in reference.runs(start, length):
            if any(inputs[k] != inputs[k - k % held] for k in range(length)):
                continue
            if length in found or (final is not None and not reference.holds(at(final, 0), states[-1:], [])):
                continue
            spans = [
                [
                    (k, k + goal.length)
                    for k in range(length - goal.length + 1)
                    if reference.holds(goal.antecedent, states[k:], inputs[k:])
                ]
                for goal in goals
            ]
            if any(overlap == "allow" or apart(list(chosen)) for chosen in product(*spans)):
                found.add(length)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_formulas_can_be_satisfied_where_a_run_covers_the_goals(seed: int) -> None:
    case = random_case(seed, goals=3, inputs=1)
    reference = Explicit(case.system)
    questions = Questions(problem_of(case.system, case.goals, case.final, "allow"), choose_engine("z3"), Limits())
    any_order = AnyOrder(questions.problem.by_name)
    for size in range(1, len(case.goals) + 1):
        for chosen in combinations(case.goals, size):
            names = [goal.name for goal in chosen]
            found = set()
            for length in range(MOST + 1):
                formulas = [*any_order.formulas(names, length), *questions.problem.end_formulas(length)]
                answer = questions.from_init.check(formulas, length)
                assert answer.status in (Status.SAT, Status.UNSAT)
                if answer.status is Status.SAT:
                    found.add(length)
                    run = questions.from_init.run()
                    check_covered(run, chosen, "allow")
            assert found == lengths_by_all_runs(reference, list(chosen), case.final, "allow")


def check_covered(run: Run, goals: Sequence[Goal], overlap: str) -> None:
    covered = Monitor(goals).covered(run)
    spans = [[(step, step + goal.length) for step in covered[goal.name]] for goal in goals]
    assert all(spans)
    assert overlap == "allow" or any(apart(list(chosen)) for chosen in product(*spans))


class Short(Kept):
    """Ends the search above the lengths that are listed."""

    def __call__(self, text: str) -> None:
        if text == f"whole lengths: is there a chain of {counted(MOST + 1, 'step')}?":
            raise KeyboardInterrupt


def refuted_until_found(board: Board) -> None:
    """``refute_lengths``, which begins at once, up to ``MOST`` steps."""
    board.listener = Short()
    board.tell(graph=replace(NOTHING, goals=board.problem.names, end=board.problem.end, depth=0))
    with suppress(KeyboardInterrupt):
        refute_lengths(board)


@pytest.mark.parametrize("seed", range(12))
def test_whole_chains_of_every_length(seed: int) -> None:
    """What the search over whole chains refutes and finds, on machines with dead ends."""
    system, goals, final = random_machine(seed)
    chosen = goals[:2]
    board, _ = board_of((system, chosen, final), Options(engine="z3", overlap="allow"))
    refuted_until_found(board)
    least = min(lengths_by_all_runs(Explicit(system), list(chosen), final, "allow"), default=MOST + 1)
    assert board.known.lower == least
    assert board.known.length == (least if least <= MOST else None)
    if board.known.chain is not None and board.known.complete:
        check_covered(board.known.chain.run, chosen, "allow")


@pytest.mark.slow
@given(st.integers(0, 1 << 30), st.integers(1, 3), st.booleans())
@settings(max_examples=20, deadline=None)
def test_whole_chains_with_held_inputs_and_open_starts(seed: int, ticks: int, is_open: bool) -> None:
    """Goals of 0 to 3 steps; those that no run covers take no part.

    With an open start value a refuted length is one that no start has; a chain is one from its own start.
    """
    case = random_case(seed, goals=3, inputs=1)
    reference = Explicit(case.system)
    first, *others = case.system.state
    plain = case.system if not is_open else replace(case.system, state=(replace(first, init=None), *others))
    starts = {reference.init, *([(value, *reference.init[1:]) for value in (0, 1)] if is_open else [])}
    never = {goal.name for goal in case.goals if not reference.triggers(goal) & after(reference, starts)}
    assume(len(never) < len(case.goals))
    system = hold(plain, ticks)
    made = (system, case.goals, boundary(system, case.final))
    board, _ = board_of(made, Options(engine="sat", overlap="allow"), engine=choose_engine("sat"))
    board.rule_out({name: Reason(UNREACHABLE, "no run starts it") for name in sorted(never)})
    goals = [goal for goal in case.goals if goal.name not in never]
    refuted_until_found(board)
    least = min(lengths_by_all_runs(reference, goals, case.final, "allow", starts, ticks), default=MOST + 1)
    assert board.known.lower == least
    if not is_open:
        assert board.known.length == (least if least <= MOST else None)
    if board.known.complete and board.known.chain is not None:
        assert board.known.chain.length >= least
        check_covered(board.known.chain.run, goals, "allow")


def after(reference: Explicit, starts: set[State]) -> set[State]:
    """All states that runs from ``starts`` get to."""
    seen, todo = set(starts), [*starts]
    while todo:
        fresh = {state for _, state in reference.steps[todo.pop()]} - seen
        seen |= fresh
        todo += fresh
    return seen


def test_a_length_on_which_the_solver_gave_up_is_asked_again_with_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    ask, asked = _WholeChains.ask, []

    def hard(whole: _WholeChains, length: int, units: float) -> Status:
        asked.append((length, units))
        if units > 2 * LEAST:
            return ask(whole, length, units)
        board.limits.spend(units)
        return Status.UNKNOWN

    monkeypatch.setattr(_WholeChains, "ask", hard)
    system, goals, final = fork(stuck=False)
    board, _ = board_of((system, goals, final), Options(engine="z3"))
    board.tell(graph=replace(NOTHING, goals=board.problem.names, end=board.problem.end, depth=0))
    assert board.offer(run_by(system, *(1, 1, 0), *(0, 1), *(0, 1)))
    assert board.known.length == 5
    refute_lengths(board)
    assert board.known.lower == board.known.length == 5
    assert [pair for pair in asked if pair[0] == 0] == [(0, LEAST), (0, 2 * LEAST), (0, 4 * LEAST)]
    assert asked[-1] == (4, 4 * LEAST), "what was needed once is given to the next length at once"


def test_a_solver_that_gives_up_before_its_work_is_done_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def hopeless(whole: _WholeChains, length: int, units: float) -> Status:
        asked.append(length)
        return Status.UNKNOWN

    monkeypatch.setattr(_WholeChains, "ask", hopeless)
    board, _ = board_of(fork(stuck=False), Options(engine="z3", effort=None))
    board.tell(graph=replace(NOTHING, goals=board.problem.names, end=board.problem.end, depth=0))
    refute_lengths(board)
    assert asked == [0]
