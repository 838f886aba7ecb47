"""The means of ``verify`` against slow, obviously right ones: all runs, all orders, all positions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations, product

import pytest
from command_line import MODELS, fresh_names
from explicit import Explicit, Input, State
from pysmt.shortcuts import BV, BVULE, FALSE, TRUE, And, Not, Or
from random_systems import RandomCase, random_case

from bmc.formulas.unroll import at, framed
from bmc.system.transition import Condition, InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.certificate import PathFact
from chaincover.formats.chain_file import Stimulus
from chaincover.limits import Limits
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.verify.facts import Prover
from chaincover.verify.invariants import Assumed, assumed
from chaincover.verify.lengths import lengths, overlap
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.open_starts import open_starts
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG
from chaincover.verify.search import Outcome, covers, search
from chaincover.verify.setting import Setting
from chaincover.verify.states import MODEL, Confirmation, Table, confirm, tabulate
from chaincover.weights import INIT
from properties.goal import Goal

FREE = Assumed(TRUE(), TRUE(), True)
BOUND = 4
"""Weights are looked for below this many steps."""


def setting_of(case: RandomCase, overlap: str = "allow") -> Setting:
    return Setting(case.system, {goal.name: goal for goal in case.goals}, case.final, overlap)


def table_of(setting: Setting, **limits: int) -> Table | None:
    return tabulate(setting.system, setting.formulas, Clock(Limits(**limits)))


class Reference:
    """All runs of a random system up to a length, with all places of its goals."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.explicit = Explicit(setting.system)

    def places(self, states: Sequence[State], inputs: Sequence[Input]) -> dict[str, list[int]]:
        return {
            name: [
                k
                for k in range(len(inputs) - goal.length + 1)
                if self.explicit.holds(goal.antecedent, states[k:], inputs[k:])
            ]
            for name, goal in self.setting.goals.items()
        }

    def ends(self, state: State) -> bool:
        return self.setting.final is None or self.explicit.holds(at(self.setting.final, 0), [state], [])

    def least(self, path: Sequence[str]) -> int:
        """The least step of the last node of ``path``, its first at 0; ``BOUND`` if there is none below."""
        starts = [self.explicit.init] if path[0] == INIT else self.explicit.states
        best = BOUND
        for length in range(BOUND + 2):
            for start in starts:
                for states, inputs in self.explicit.runs(start, length):
                    best = min([best, *self._totals(path, states, inputs)])
        return best

    def _totals(self, path: Sequence[str], states: Sequence[State], inputs: Sequence[Input]) -> Iterator[int]:
        to_end = path[-1] == self.setting.end
        if to_end and not self.ends(states[-1]):
            return
        found = {**self.places(states, inputs), INIT: [0], self.setting.end: [len(inputs)]}
        for steps in product(*(found[node] for node in path)):
            pairs = zip(pairwise(path), pairwise(steps), strict=True)
            if steps[0] == 0 and all(t >= s + self.setting.gap(a) for (a, _), (s, t) in pairs):
                yield steps[-1]

    def chain(self, length: int) -> bool:
        """Whether a chain of exactly so many steps covers all goals."""
        for states, inputs in self.explicit.runs(self.explicit.init, length):
            if not self.ends(states[-1]):
                continue
            found = self.places(states, inputs)
            for steps in product(*found.values()):
                if self.setting.overlap == "allow" or self._apart(dict(zip(found, steps, strict=True))):
                    return True
        return False

    def _apart(self, steps: dict[str, int]) -> bool:
        """Whether some order of the goals has each start no earlier than the one before ends."""
        return any(
            all(steps[b] >= steps[a] + self.setting.length(a) for a, b in pairwise(order))
            for order in permutations(steps)
        )


def small_case(seed: int) -> RandomCase:
    return random_case(seed, goals=3, longest=2, inputs=1)


@pytest.mark.parametrize("seed", range(14))
def test_facts_hold_up_to_the_least_distance_and_no_further(seed: int) -> None:
    rng = random.Random(seed)
    setting = setting_of(small_case(seed), rng.choice(["allow", "forbid"]))
    reference = Reference(setting)
    prover = Prover.of(setting, FREE, Clock(Limits()))
    names = list(setting.goals)
    for _ in range(4):
        inner = rng.sample(names, rng.randint(1, min(2, len(names))))
        path = rng.choice([(INIT, *inner), (*inner, setting.end), (INIT, *inner, setting.end)])
        least = reference.least(path)
        assert prover.verdict(PathFact(path, least))[0] == HOLDS, path
        if least < BOUND:
            verdict, why = prover.verdict(PathFact(path, least + 1))
            assert verdict == WRONG, path
            assert f"a run takes {least} (" in why
    assert prover.verdict(PathFact((INIT, setting.end), reference.least((INIT, setting.end))))[0] == HOLDS


@pytest.mark.parametrize("seed", range(30))
def test_the_shortest_chain_of_all_runs(seed: int) -> None:
    """The search over the table and the questions about whole chains agree with all runs."""
    setting = setting_of(small_case(seed), ("allow", "forbid")[seed % 2])
    reference = Reference(setting)
    longest = 5
    least = next((n for n in range(longest) if reference.chain(n)), longest)
    table = table_of(setting)
    assert table is not None
    goals = list(setting.goals)
    found = search(table, setting, goals, True, longest, Clock(Limits()))
    assert found.complete
    assert found.length == (None if least == longest else least)
    assert len(found.inputs) == (found.length or 0)
    clock = Clock(Limits())
    assert lengths(setting, goals, (0, least), clock).verdict == (HOLDS if least else UNCLAIMED)
    if least < longest:
        line = lengths(setting, goals, (0, least + 1), clock)
        assert line.verdict == WRONG
        assert f"a chain of {least} steps" in line.text


def pattern_case(rng: random.Random) -> RandomCase:
    """Goals are patterns of one input, or of the state, which is the last input: many share steps."""
    kind = ValueType("bit", 1)
    last, given = kind.symbol("tvp_last"), kind.symbol("tvp_given")
    system = TransitionSystem(
        "patterns", (StateVariable("tvp_last", kind, BV(0, 1), given),), (InputVariable("tvp_given", kind),)
    )
    goals = []
    for number in range(3):
        length = rng.randint(0, 3)
        symbols = [framed(given, step) for step in range(length)] or [framed(last, 0)]
        pattern = And([symbol.Equals(BV(rng.randint(0, 1), 1)) for symbol in symbols])
        goals.append(Goal(f"g{number}", pattern, None, length))
    return RandomCase(system, tuple(goals), rng.choice([None, last.Equals(BV(0, 1))]))


@pytest.mark.parametrize("seed", range(15))
def test_the_shortest_chain_of_patterns_that_may_not_share_steps(seed: int) -> None:
    case = pattern_case(random.Random(seed))
    setting = setting_of(case, "forbid")
    reference = Reference(setting)
    least = next(n for n in range(20) if reference.chain(n))
    table, clock = table_of(setting), Clock(Limits())
    assert table is not None
    goals = list(setting.goals)
    assert search(table, setting, goals, True, None, clock).length == least
    assert lengths(setting, goals, (0, least), clock).verdict == (HOLDS if least else UNCLAIMED)
    assert f"a chain of {least} steps" in lengths(setting, goals, (0, least + 1), clock).text
    found = covers(table, setting, goals, clock)
    assert found is not None
    assert found[frozenset(goals)] == least


def test_a_search_that_is_too_large_says_so() -> None:
    setting = setting_of(random_case(3, goals=4))
    table = table_of(setting)
    assert table is not None
    found = search(table, setting, list(setting.goals), True, 50, Clock(Limits(nodes=1)))
    assert found == Outcome(False, found.nodes)
    assert table_of(setting, explored=1) is None


def test_goals_share_steps_where_none_ends_before_the_other_starts() -> None:
    case = random_case(1, goals=4)
    lengths_of = {"zero": 0, "none": 0, "two": 2, "three": 3}
    goal = case.goals[0]
    setting = Setting(case.system, {n: replace(goal, name=n, length=j) for n, j in lengths_of.items()}, None, "forbid")
    for (a, j), (b, k) in product(lengths_of.items(), repeat=2):
        for s, t in product(range(5), repeat=2):
            assert overlap(setting, (a, s), (b, t)) == (not (s + j <= t or t + k <= s)), (a, s, b, t)


@pytest.mark.parametrize("seed", range(12))
def test_all_sets_of_goals_that_one_run_covers(seed: int) -> None:
    """Each set that the sweep lists has its least length by a search of its own, and no other set is covered."""
    setting = setting_of(small_case(seed), ("allow", "forbid")[seed % 2])
    table, clock = table_of(setting), Clock(Limits())
    assert table is not None
    names = list(setting.goals)
    found = covers(table, setting, names, clock)
    assert found is not None
    for size in range(len(names) + 1):
        for chosen in combinations(names, size):
            fitting = [length for goals, length in found.items() if goals >= set(chosen)]
            assert search(table, setting, chosen, True, None, clock).length == min(fitting, default=None)
    assert covers(table, setting, names, Clock(Limits(nodes=0))) is None


# invariants


def stated(setting: Setting, *conditions: Condition) -> Setting:
    return replace(setting, system=replace(setting.system, invariants=conditions))


@pytest.mark.parametrize("seed", range(8))
def test_reachable_states_are_those_of_all_runs(seed: int) -> None:
    setting = setting_of(random_case(seed))
    table = table_of(setting)
    assert table is not None
    explicit = Explicit(setting.system)
    names = [var.name for var in table.variables]
    columns = [explicit.state_names.index(name) for name in names]
    seen = {tuple(state[n] for n in columns) for state in explicit.reachable()}
    assert {tuple(state[name] for name in names) for state in table.states} == seen
    confirmed, clock = Confirmation(MODEL), Clock(Limits())
    known, line = assumed(setting, [f"one of {len(seen)} reachable states"], table, confirmed, clock)
    assert (line.verdict, known.complete) == (HOLDS, True)
    assert assumed(setting, [f"one of {len(seen) + 1} reachable states"], table, confirmed, clock)[1].verdict == WRONG
    unlisted, line = assumed(setting, [f"one of {len(seen)} reachable states"], None, None, clock)
    assert (line.verdict, unlisted.complete) == (OPEN, False)


def test_stated_invariants_are_proved_again_or_found_out() -> None:
    """Without the list of states by induction, with it in each of them."""
    setting = setting_of(random_case(5))
    flag = setting.system.state[0].symbol
    fine, wrong = Condition("fine", Or(flag, Not(flag))), Condition("wrong", FALSE())
    setting = stated(setting, fine, wrong)
    table, clock = table_of(setting), Clock(Limits())
    for listed in (table, None):
        confirmed = None if listed is None else Confirmation(MODEL)
        assert assumed(setting, ["fine"], listed, confirmed, clock)[1].verdict == HOLDS
        assert assumed(setting, ["wrong"], listed, confirmed, clock)[1].verdict == WRONG
        assert assumed(setting, ["missing"], listed, confirmed, clock)[1].verdict == WRONG
    assert assumed(setting, [], table, Confirmation(MODEL), clock)[1].verdict == UNCLAIMED


def test_an_unfinished_proof_is_none() -> None:
    setting = setting_of(random_case(5))
    weak = Clock(Limits(effort=1e-9))
    prover = Prover.of(setting, FREE, weak)
    goal = next(iter(setting.goals))
    assert prover.verdict(PathFact((INIT, goal), 30)) == (OPEN, "the solver did not finish")
    assert prover.verdict(PathFact((INIT, goal), 1 << 40))[0] == OPEN
    over = Prover.of(setting, FREE, Clock(Limits(seconds=0.0)))
    assert over.verdict(PathFact((INIT, goal), 1))[0] == OPEN


# start values


def open_system(chosen: tuple[str, ...] = ()) -> Setting:
    """A level that stays as it began, and goals that hold for some levels, and for all."""
    byte = ValueType("uint8", 8)
    level = byte.symbol("tvp_level")
    system = TransitionSystem("open", (StateVariable("tvp_level", byte, None, level),), (), chosen=chosen)
    some = Goal("some", at(level.Equals(BV(3, 8)), 0), None, 0)
    every = Goal("every", at(BVULE(level, BV(255, 8)), 0), None, 0)
    return Setting(system, {"some": some, "every": every}, None, "allow")


@pytest.mark.parametrize(
    ("goal", "relies", "verdict"),
    [("every", False, HOLDS), ("some", False, WRONG), ("some", True, UNCLAIMED)],
)
def test_start_values_that_init_leaves_open(goal: str, relies: bool, verdict: str) -> None:
    stimulus = Stimulus("", ({}, {}), {}, {goal: 1}, ())
    line = open_starts(open_system(), stimulus, relies, Clock(Limits()))
    assert line is not None
    assert line.verdict == verdict
    if verdict == WRONG:
        assert line.details[0].startswith("tvp_level=")
    assert open_starts(open_system(("tvp_level",)), stimulus, relies, Clock(Limits())) is None


# the compiled original


@pytest.mark.needs_compiler
def test_each_step_of_the_table_is_run_on_the_original() -> None:
    with fresh_names():
        controller = load(read_project(str(MODELS / "cruise")))
        goals = {goal.name: goal for goal in controller.goals}
        setting = Setting(controller.system, goals, controller.final, "allow")
        clock = Clock(Limits())
        table = table_of(setting)
        assert table is not None
        assert confirm(table, controller.native, clock).differences == ()
        (choice, target), *others = table.moves[2]
        moves = (*table.moves[:2], ((choice, (target + 1) % 8), *others), *table.moves[3:])
        found = confirm(replace(table, moves=moves), controller.native, clock)
        assert found.differences
        assert all(f"from {dict(table.states[2])}" in text for text in found.differences)
        few = confirm(table, controller.native, Clock(Limits(original=39)))
        assert few == Confirmation(MODEL, "more than 39 steps")
