"""Sub-paths with free positions: every answer against all runs and all positions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product

import pytest
from chain_tasks import DoubtfulEngine
from explicit import Explicit
from machines import Case, random_machine
from paper_examples import figure_5, three_to_four
from path_lengths import PathLengths
from problems import problem_of
from random_systems import random_case

from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine, Status
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from chaincover.limits import Limits
from chaincover.minimality.sub_path_lengths import KnownLength, SubPath, SubPathSearch, windows
from chaincover.problem import Questions
from chaincover.weights import END, FINAL, INIT
from properties.monitor import Monitor

MOST = 3
"""The longest sub-path asked for."""

Path = tuple[str, ...]


def search(case: Case, overlap: str, engine: Engine | None = None, effort: float | None = None) -> SubPathSearch:
    questions = Questions(problem_of(*case, overlap), engine or choose_engine("z3"), Limits(effort=effort))
    return SubPathSearch(questions)


def paths_of(case: Case, seed: int, number: int) -> list[Path]:
    """Some paths of each kind: from init and from goals, to goals and to the end."""
    names = [goal.name for goal in case[1]]
    end = END if case[2] is None else FINAL
    orders = [order for size in range(1, min(len(names), 3) + 1) for order in permutations(names, size)]
    kinds = [(INIT, *order) for order in orders] + [(*order, end) for order in orders]
    kinds += [(INIT, *order, end) for order in orders] + [order for order in orders if len(order) > 1]
    rng = random.Random(seed)
    return rng.sample(kinds, min(number, len(kinds)))


def small_case(seed: int) -> Case:
    made = random_case(seed, goals=3, inputs=1)
    return made.system, made.goals, made.final


def by_all_runs(case: Case, overlap: str, wanted: list[Path]) -> dict[Path, set[int]]:
    """The distances up to ``MOST`` at which each path can be run, by listing runs and positions."""
    system, goals, final = case
    reference = Explicit(system)
    lengths = {goal.name: goal.length for goal in goals}
    shown = set()
    for start in reference.states:
        for length in range(MOST + max(lengths.values()) + 1):
            for states, inputs in reference.runs(start, length):
                held = tuple(
                    tuple(
                        k
                        for k in range(length - goal.length + 1)
                        if reference.holds(goal.antecedent, states[k:], inputs[k:])
                    )
                    for goal in goals
                )
                ends = final is None or reference.holds(at(final, 0), states[-1:], [])
                shown.add((start == reference.init, length, held, ends))
    found: dict[Path, set[int]] = {path: set() for path in wanted}
    for from_init, length, held, ends in shown:
        where = dict(zip(lengths, held, strict=True))
        for path in wanted:
            if path[0] == INIT and not from_init:
                continue
            found[path].update(distances(path, length, where, ends, lengths, overlap))
    return found


def distances(
    path: Path, length: int, where: dict[str, tuple[int, ...]], ends: bool, lengths: dict[str, int], overlap: str
) -> Iterator[int]:
    """The distances at which the nodes of ``path`` lie in one run."""
    choices = [where.get(node, (0,) if node == INIT else (length,) if ends else ()) for node in path]
    for steps in product(*choices):
        gaps = [lengths.get(node, 0) if overlap == "forbid" else 0 for node in path]
        in_order = all(b - a >= gap for a, b, gap in zip(steps, steps[1:], gaps, strict=False))
        if steps[0] == 0 and in_order and steps[-1] <= MOST:
            yield steps[-1]


def answers(asked: SubPathSearch, path: Path) -> set[int]:
    return {steps for steps in range(MOST + 1) if asked.ask(path, steps)[0] is Status.SAT}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_answers_equal_those_of_all_runs_and_positions(seed: int) -> None:
    case = small_case(seed)
    wanted = paths_of(case, seed, 6)
    expected = by_all_runs(case, "allow", wanted)
    asked = search(case, "allow")
    layers = PathLengths(Explicit(case[0]), case[1], case[2], "allow")
    for path in wanted:
        assert layers.possible(path, MOST) == expected[path], path
        assert answers(asked, path) == expected[path], path


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_least_lengths_on_machines_with_dead_ends(seed: int) -> None:
    case = random_machine(seed)
    asked, lengths = search(case, "allow"), PathLengths(Explicit(case[0]), case[1], case[2], "allow")
    for path in paths_of(case, seed, 8):
        possible = lengths.possible(path, 7)
        found = asked.least(SubPath(path, 0, 7))
        assert found == (KnownLength(min(possible), True) if possible else KnownLength(8, False)), path
        assert asked.known(path) == found
        before = asked.queries
        assert asked.least(SubPath(path, 0, 7)) == found
        assert asked.queries == before, "what is known is not asked again"


@pytest.mark.parametrize("seed", range(4))
def test_runs_show_what_was_asked(seed: int) -> None:
    """From init to the end: the run can be replayed, ends there, and credits the goals in order."""
    system, goals, final = case = random_machine(seed)
    end = END if final is None else FINAL
    simulator, monitor = Simulator(system), Monitor(goals)
    asked = search(case, "allow")
    gaps = {goal.name: goal.length if "allow" == "forbid" else 0 for goal in goals}
    for order in permutations([goal.name for goal in goals][:3]):
        for steps in range(8):
            status, run = asked.ask((INIT, *order, end), steps)
            assert (status is Status.SAT) == (run is not None)
            if run is None:
                continue
            assert simulator.run(simulator.initial(), run.inputs).states == run.states
            assert run.length == steps
            starts = in_order(order, monitor.covered(run), gaps)
            assert starts[-1] + {goal.name: goal.length for goal in goals}[order[-1]] <= steps
            if final is not None:
                assert Explicit(system).holds(at(final, 0), [tuple(run.states[-1].values())], [])


def test_the_examples_of_the_design() -> None:
    asked = search(three_to_four(), "allow")
    assert [asked.least(SubPath(edge, 0, 9)).at_least for edge in ((INIT, "v"), ("v", "w"), ("w", FINAL))] == [1, 1, 1]
    assert asked.least(SubPath((INIT, "v", "w"), 2, 9)) == KnownLength(3, True)
    assert asked.least(SubPath(("v", "w", FINAL), 2, 9)) == KnownLength(3, True)
    assert asked.least(SubPath((INIT, "v", "w", FINAL), 3, 9)) == KnownLength(4, True)
    figure = search(figure_5(), "allow")
    assert figure.least(SubPath((INIT, "p2", "p1", FINAL), 0, 9)) == KnownLength(6, True)
    assert figure.least(SubPath((INIT, "p1", "p2", FINAL), 0, 9)) == KnownLength(10, False)
    assert figure.least(SubPath((INIT, "p1", "p2", FINAL), 0, 40)) == KnownLength(12, True)


def test_the_caller_s_bound_and_the_greatest_length_are_kept() -> None:
    asked = search(three_to_four(), "allow")
    path = (INIT, "v", "w", FINAL)
    assert asked.least(SubPath(path, 0, 1)) == KnownLength(2, False)
    assert asked.least(SubPath(path, 3, 2)) == KnownLength(3, False), "proved by the caller"
    assert asked.least(SubPath(path, 0, 9)) == KnownLength(4, True)
    assert asked.least(SubPath(path, 0, 1)) == KnownLength(4, True)


def test_unknown_is_not_taken_for_impossible() -> None:
    asked = search(three_to_four(), "allow", DoubtfulEngine(), effort=1)
    path = (INIT, "v", "w", FINAL)
    assert asked.ask(path, 3) == (Status.UNKNOWN, None)
    assert asked.least(SubPath(path, 1, 9)) == KnownLength(1, False, gave_up=True)
    assert asked.least(SubPath(path, 1, 9)).at_least == 1


def test_what_was_proved_when_the_time_was_over_stays_known(monkeypatch: pytest.MonkeyPatch) -> None:
    case = three_to_four()
    asked = search(case, "allow")
    path = (INIT, "v", "w", FINAL)
    ask = asked.ask

    def limited(path: Path, steps: int) -> tuple[Status, object]:
        if steps == 2:
            raise LimitReached("over")
        return ask(path, steps)

    with monkeypatch.context() as patch:
        patch.setattr(asked, "ask", limited)
        with pytest.raises(LimitReached):
            asked.least(SubPath(path, 0, 9))
    assert asked.known(path) == KnownLength(2, False)
    assert asked.least(SubPath(path, 0, 9)) == KnownLength(4, True)


def in_order(order: Sequence[str], covered: Mapping[str, Sequence[int]], gaps: Mapping[str, int]) -> list[int]:
    """The first steps at which the goals hold one after the other, each ``gaps`` after the one before."""
    starts, free = list[int](), 0
    for name in order:
        starts.append(next(step for step in covered[name] if step >= free))
        free = starts[-1] + gaps[name]
    return starts


def test_windows_are_the_contiguous_sub_paths() -> None:
    assert windows(("init", "a", "b", "end"), 2) == [("init", "a"), ("a", "b"), ("b", "end")]
    assert windows(("init", "a", "b", "end"), 4) == [("init", "a", "b", "end")]
    assert windows(("init", "a"), 3) == []
