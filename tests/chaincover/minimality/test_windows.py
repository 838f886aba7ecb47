"""Windows of a chain searched again: never longer, always a chain, and short where there is a detour."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from boards import board_of
from chain_tasks import DoubtfulEngine
from machines import Case, Machine, random_machine
from problems import problem_of
from pysmt.shortcuts import BV

from benchmarks.checks.generated.reference import Reference
from benchmarks.checks.generated.systems import generated_case
from bmc.engines import choose as choose_engine
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, StateVariable, Valuation, ValueType
from chaincover.chain import Chain, Hit
from chaincover.limits import Limits
from chaincover.minimality.windows import WindowSearch
from chaincover.pipeline import STAGES
from chaincover.problem import Questions
from chaincover.replaying.judge import Judge
from chaincover.stages import take_turns
from properties.goal import Goal
from properties.monitor import Monitor


class Shortened:
    """What comes of the windows of ``run``: the chains on the way, and the last one, ``result``."""

    def __init__(self, case: Case, run: Run, overlap: str, engine: Engine | None = None, limits: Limits | None = None):
        problem = problem_of(*case, overlap)
        judge = Judge(problem)
        windows = WindowSearch(Questions(problem, engine or choose_engine("z3"), limits or Limits()))
        begun = judge.chain(run)
        assert begun is not None
        self.chains = [begun]
        while (better := windows.shorter(self.result)) is not None:
            chain = judge.chain(better)
            assert chain is not None
            assert chain.goals >= begun.goals
            self.chains.append(chain)

    @property
    def result(self) -> Chain:
        return self.chains[-1]


def random_walk(case: Case, rng: random.Random, length: int) -> Run | None:
    """A run from init that ends in the end condition after ``length`` steps or a few more."""
    system, _, final = case
    simulator = Simulator(system)
    states: list[Valuation] = [simulator.initial()]
    inputs: list[Valuation] = []
    ends = None if final is None else Monitor([Goal("final", at(final, 0), None, 0)])
    names = [var.name for var in system.inputs]
    for _ in range(length + 12):
        here = Run((states[-1],), ())
        if len(inputs) >= length and (ends is None or ends.holds(here, "final", 0)):
            return Run(tuple(states), tuple(inputs))
        choices = [dict.fromkeys(names, value) for value in range(4)]
        allowed = [
            given
            for given in choices
            if _in_range(system.inputs[0].type, given) and simulator.allowed(states[-1], given)
        ]
        if not allowed:
            return None
        inputs.append(rng.choice(allowed))
        states.append(simulator.step(states[-1], inputs[-1]))
    return None


def _in_range(kind: ValueType, given: Valuation) -> bool:
    return all(value <= kind.greatest for value in given.values())


def with_goals_of(case: Case, run: Run, overlap: str) -> Case:
    """``case`` with the goals that ``run`` covers, apart where they must be."""
    chain = Judge(problem_of(*case, overlap)).chain(run)
    assert chain is not None
    return case[0], tuple(goal for goal in case[1] if goal.name in chain.goals), case[2]


def walked_cases(seed: int, overlap: str) -> list[tuple[Case, Run]]:
    """A machine and a generated system, each with a long run and the goals that it covers."""
    made = generated_case(seed, states=16, goals=5, longest=2)
    found = []
    for case in (random_machine(seed), (made.system, made.goals, made.final)):
        rng = random.Random(seed)
        for _ in range(5):
            run = random_walk(case, rng, 12)
            if run is not None:
                found.append((with_goals_of(case, run, overlap), run))
                break
    return found


@pytest.mark.slow
def test_random_chains_stay_chains_and_get_shorter() -> None:
    walks = saved = 0
    for seed in range(10):
        for case, run in walked_cases(seed, "allow"):
            system, goals, final = case
            done = Shortened(case, run, "allow")
            reference = Reference(system, goals, final, "allow")
            lengths = [run.length + 1, *(chain.length for chain in done.chains)]
            assert all(b < a for a, b in pairwise(lengths))
            credited = {hit.goal: hit.step for hit in done.result.hits}
            assert credited.keys() == {goal.name for goal in goals}
            assert not reference.faults(done.result.run.inputs, done.result.run.states, credited)
            least = reference.answer().least[(1 << len(goals)) - 1]
            assert done.result.length >= least
            walks += 1
            saved += run.length - done.result.length
    assert walks >= 12
    assert saved >= 5 * walks


def ring(number: int, length: int = 0, state: tuple[StateVariable, ...] = ()) -> tuple[Case, Run]:
    """Round and round ``number`` places, a short cut from the first to each third one, and goals in three places.

    The run takes the long way through all places, twice. A goal takes ``length`` steps.
    """
    places = [f"p{n}" for n in range(number)]
    steps = [(here, "on", places[(n + 1) % number]) for n, here in enumerate(places)]
    steps += [(places[n], "jump", places[(n + 3) % number]) for n in range(number)]
    machine = Machine(f"ring of windows {number}", places, ["on", "jump"], steps)
    goals = [Goal(f"g{n}", at(machine.at_any(places[n]), 0), None, length) for n in (3, 6, 9)]
    system = machine.system()
    system = replace(system, state=(*system.state, *state))
    simulator = Simulator(system)
    name = system.inputs[0].name
    run = simulator.run(simulator.initial(), tuple({name: 0} for _ in range(2 * number)))
    return (system, tuple(goals), machine.at_any("p0")), run


@pytest.mark.parametrize(
    ("length", "least"),
    [(0, 4), (1, 4)],
)
def test_a_detour_is_left_out(length: int, least: int) -> None:
    """Four jumps of three places; the step of the last goal fits in."""
    case, run = ring(12, length)
    done = Shortened(case, run, "allow")
    assert run.length == 24
    assert done.result.length == least
    assert Simulator(case[0]).run(run.states[0], done.result.run.inputs) == done.result.run


def test_what_no_goal_depends_on_is_free() -> None:
    """A clock that counts every step never has the same value twice, but nothing reads it."""
    byte = ValueType("wi_byte", 8)
    clock = byte.symbol("wi_clock")
    case, run = ring(12, state=(StateVariable("wi_clock", byte, BV(0, 8), clock + 1),))
    done = Shortened(case, run, "allow")
    assert done.result.length == 4
    assert [state["wi_clock"] for state in done.result.run.states] == list(range(5))


def test_a_clock_that_the_end_reads_keeps_its_value() -> None:
    byte = ValueType("wi_byte", 8)
    clock = byte.symbol("wi_clock")
    (system, goals, _), run = ring(12, state=(StateVariable("wi_clock", byte, BV(0, 8), clock + 1),))
    done = Shortened((system, goals, clock.Equals(BV(24, 8))), run, "allow")
    assert done.result.run == run
    assert len(done.chains) == 1


def test_windows_begin_and_end_where_goals_do_and_hold_those_within() -> None:
    case, run = ring(12, 1)
    system, goals, final = case
    steps = {"g3": 3, "g6": 4, "g9": 9}
    hits = tuple(Hit(name, step, None) for name, step in steps.items())
    search = WindowSearch(Questions(problem_of(system, goals, final), choose_engine("z3"), Limits()))
    windows = search.windows(Chain(run, tuple(steps), hits))
    assert {w.first for w in windows} <= {0, 3, 4, 9}
    assert {w.last for w in windows} <= {3, 4, 9, 24}
    for window in windows:
        assert window.ending == (window.last == 24)
        inside = {name for name, step in steps.items() if window.first <= step < window.last}
        assert set(window.goals) == inside


def test_unknown_and_limits_leave_the_chain() -> None:
    case, run = ring(12)
    assert len(Shortened(case, run, "allow", DoubtfulEngine()).chains) == 1

    class Over(Limits):
        """No time is left after some queries."""

        left = 9

        def check(self) -> None:
            self.left -= 1
            if self.left < 0:
                raise LimitReached("over")

    with pytest.raises(LimitReached):
        Shortened(case, run, "allow", limits=Over())


@pytest.mark.parametrize("far", [True, False])
def test_no_solver_is_asked_about_whole_chains_to_goals_that_layers_have_met_far_away(far: bool) -> None:
    case, _ = ring(12)
    board, _ = board_of(case)
    board.tell(graph=replace(board.known.graph, depth=0))
    board.layered = SimpleNamespace(far=far)
    take_turns([stage for stage in STAGES if stage.name == "whole lengths"], board)
    assert (board.engine.cost.queries == 0) == far
    assert board.known.complete != far
