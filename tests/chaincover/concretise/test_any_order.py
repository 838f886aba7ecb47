"""Goals at any steps in any order: the formulas against all runs, the credited steps against all choices."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from chaincover.minimality.shorten import Shortener
from explicit import Explicit
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import random_machine
from random_systems import random_case

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Status
from bmc.formulas.unroll import at
from bmc.system.run import Run
from bmc.system.transition import BOOLEAN
from chaincover.concretise.any_order import AnyOrder
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.questions import Questions
from properties.goal import Goal
from properties.monitor import Monitor

MOST = 4
"""The longest runs listed."""


def apart(spans: list[tuple[int, int]]) -> bool:
    """Whether no two spans of steps (first, and first after) meet; one of no steps may lie on a border."""
    return all(a[1] <= b[0] for a, b in pairwise(sorted(spans)))


def lengths_by_all_runs(reference: Explicit, goals: list[Goal], final: object, overlap: str) -> set[int]:
    """The lengths up to ``MOST`` of the runs from init to the end that cover all ``goals``."""
    found = set()
    for length in range(MOST + 1):
        for states, inputs in reference.runs(reference.init, length):
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
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(24))
def test_formulas_can_be_satisfied_where_a_run_covers_the_goals(seed: int, overlap: str) -> None:
    case = random_case(seed, goals=3, inputs=1)
    reference = Explicit(case.system)
    questions = Questions(Problem(case.system, tuple(case.goals), case.final), choose_engine("z3"), Limits())
    any_order = AnyOrder(questions.problem.by_name, overlap)
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
                    check_credits(run, chosen, any_order.credited(run, names), overlap)
            assert found == lengths_by_all_runs(reference, list(chosen), case.final, overlap)


def check_credits(run: Run, goals: tuple[Goal, ...], credited: dict[str, int], overlap: str) -> None:
    monitor = Monitor(goals)
    assert credited.keys() == {goal.name for goal in goals}
    assert all(monitor.holds(run, name, step) for name, step in credited.items())
    assert list(credited.values()) == sorted(credited.values())
    lengths = {goal.name: goal.length for goal in goals}
    if overlap == "forbid":
        assert apart([(step, step + lengths[name]) for name, step in credited.items()])


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
@pytest.mark.parametrize("seed", range(12))
def test_whole_chains_of_every_length(seed: int, overlap: str) -> None:
    """What the search over whole chains refutes and finds, on machines with dead ends."""
    system, goals, final = random_machine(seed)
    questions = Questions(Problem(system, tuple(goals), final), choose_engine("z3"), Limits())
    reference = Explicit(system)
    chosen = list(goals)[:2]
    found: list[Run] = []
    any_order = AnyOrder(questions.problem.by_name, overlap)
    whole = Shortener(questions, any_order, [goal.name for goal in chosen], 0, MOST + 1, 5, found.append)
    whole.work()
    least = min(lengths_by_all_runs(reference, chosen, final, overlap), default=MOST + 1)
    assert whole.first == 0
    assert whole.lower == whole.length == least
    assert bool(found) == (least <= MOST)
    for run in found:
        check_credits(run, tuple(chosen), any_order.credited(run, [goal.name for goal in chosen]), overlap)


def flag_goals(lengths: list[int]) -> list[Goal]:
    """A goal per flag of the state, which asks for its flag, and then for nothing in its other steps."""
    flags = [BOOLEAN.symbol(f"ao_flag{number}") for number in range(len(lengths))]
    return [
        Goal(f"g{n:02}", at(flag, 0), None, length) for n, (flag, length) in enumerate(zip(flags, lengths, strict=True))
    ]


def run_with(held: list[set[int]], length: int) -> Run:
    """A run whose states have the flags where the goals are to hold."""
    states = tuple({f"ao_flag{n}": int(k in steps) for n, steps in enumerate(held)} for k in range(length + 1))
    return Run(states, tuple({} for _ in range(length)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_credited_steps_against_all_choices(data: st.DataObject) -> None:
    length = data.draw(st.integers(0, 7))
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    held = [data.draw(st.sets(st.integers(0, length), max_size=4)) for _ in lengths]
    goals, run = flag_goals(lengths), run_with(held, length)
    names = [goal.name for goal in goals]
    spans = [[(k, k + j) for k in sorted(steps) if k + j <= length] for j, steps in zip(lengths, held, strict=True)]
    for overlap in ("allow", "forbid"):
        any_order = AnyOrder({goal.name: goal for goal in goals}, overlap)
        if not all(spans):
            with pytest.raises(KeyError):
                any_order.credited(run, names)
        elif overlap == "allow":
            credited = any_order.credited(run, names)
            assert credited == {name: span[0][0] for name, span in zip(names, spans, strict=True)}
        elif any(apart(list(chosen)) for chosen in product(*spans)):
            check_credits(run, tuple(goals), any_order.credited(run, names), overlap)
        else:
            with pytest.raises(ValueError, match="not at disjoint steps"):
                any_order.credited(run, names)


@pytest.mark.parametrize("times", [1, 3])
def test_many_goals_are_credited_apart(times: int) -> None:
    """Thirty goals, each ``times`` times in the run: far more sets of goals than can be gone through."""
    number = 30
    goals = flag_goals([1] * number)
    held = [{n + turn * number for turn in range(times)} for n in range(number)]
    any_order = AnyOrder({goal.name: goal for goal in goals}, "forbid")
    run = run_with(held, number * times)
    credited = any_order.credited(run, [goal.name for goal in goals])
    check_credits(run, tuple(goals), credited, "forbid")


def test_only_the_goals_asked_for_count() -> None:
    goals = flag_goals([2, 2, 2])
    any_order = AnyOrder({goal.name: goal for goal in goals}, "forbid")
    run = run_with([{0}, {1, 2}, set()], 4)
    assert any_order.credited(run, ["g00", "g01"]) == {"g00": 0, "g01": 2}
    with pytest.raises(KeyError, match="g02"):
        any_order.credited(run, ["g00", "g02"])
