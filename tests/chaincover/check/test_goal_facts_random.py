"""Facts about goals on small random systems, against enumeration of all runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import pytest
from explicit import Explicit, State
from pysmt.fnode import FNode
from random_systems import RandomCase, random_case

from bmc.engines.z3 import Z3Engine
from bmc.formulas.unroll import at, plain
from bmc.system.transition import conjunction, equal, symbols_of
from chaincover.check.goal_facts import GoalFacts, Sharing, find_facts
from chaincover.graph.enumerated import enumerated_within
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from properties.goal import Goal

SEEDS = range(25)


def facts(case: RandomCase, explore: bool = True) -> GoalFacts:
    problem = Problem(case.system, tuple(case.goals), case.final)
    graph = enumerated_within(problem, Limits()) if explore else None
    return find_facts(Questions(problem, Z3Engine(), Limits()), graph)


@dataclass
class Reference:
    """All runs from ``starts``, with states seen on the variables that matter."""

    case: RandomCase
    explicit: Explicit
    starts: Sequence[State]

    def __post_init__(self) -> None:
        formulas = [g.antecedent for g in self.case.goals]
        formulas += [] if self.case.final is None else [at(self.case.final, 0)]
        cone = self.case.system.cone(plain(s) for f in formulas for s in symbols_of(f))
        self.kept = [self.explicit.state_names.index(var.name) for var in cone]

    def seen(self, states: Collection[State]) -> set[State]:
        return {tuple(state[n] for n in self.kept) for state in states}

    def trigger(self, goal: Goal) -> set[State]:
        return self.seen(self.explicit.triggers(goal) & set(self.starts))

    def where(self, formula: FNode) -> set[State]:
        return self.seen([s for s in self.starts if self.explicit.holds(at(formula, 0), [s], [])])

    def connected(self, states: set[State]) -> bool:
        """Whether each of ``states`` is found by a walk from each."""
        arrows: dict[State, set[State]] = {}
        for start in self.starts:
            here = arrows.setdefault(next(iter(self.seen([start]))), set())
            here |= self.seen([after for _, after in self.explicit.steps[start]])
        return all(states <= _reached(arrows, state) for state in states)

    def shares(self, a: Goal, b: Goal) -> int | None:
        return self.explicit.weight(a, b, self.starts, max(a.length, 1) - 1)

    def implies(self, a: Goal, b: Goal) -> bool:
        runs = [
            run
            for start in self.starts
            for run in self.explicit.runs(start, a.length)
            if self.explicit.holds(a.antecedent, *run)
        ]
        return bool(runs) and all(
            any(self.explicit.holds(b.antecedent, s[d:], i[d:]) for d in range(a.length - b.length + 1))
            for s, i in runs
        )


def _reached(arrows: dict[State, set[State]], start: State) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        for after in arrows.get(todo.pop(), ()):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def relation(states: set[State], place: set[State]) -> str:
    if not states & place:
        return "apart"
    return "equal" if states == place else "inside" if states < place else "meets"


def expected_sharing(reference: Reference) -> list[Sharing]:
    found = []
    for a, b in combinations(reference.case.goals, 2):
        there, back = reference.shares(a, b), reference.shares(b, a)
        if there == 0:
            assert back == 0
            found.append(Sharing(a.name, b.name, 0))
            continue
        found += [Sharing(a.name, b.name, there)] if there is not None else []
        found += [Sharing(b.name, a.name, back)] if back is not None else []
    return found


def reachable_reference(case: RandomCase) -> Reference:
    explicit = Explicit(case.system)
    return Reference(case, explicit, explicit.reachable())


def init_formula(case: RandomCase, reference: Reference) -> FNode:
    names = [reference.explicit.state_names[n] for n in reference.kept]
    return conjunction(equal(v.symbol, v.init) for v in case.system.state if v.name in names and v.init is not None)


@pytest.mark.parametrize("seed", SEEDS)
def test_facts_of_listed_states_equal_enumeration(seed: int) -> None:
    case = random_case(seed, goals=3, longest=2)
    reference, found = reachable_reference(case), facts(case)
    assert found.exact
    assert found.reachable == len(reference.seen(reference.starts))
    for goal, told in zip(case.goals, found.triggers, strict=True):
        states = reference.trigger(goal)
        assert told.states == len(states)
        assert told.kind == ("none", "single", "several")[min(len(states), 2)]
        assert told.connected == reference.connected(states)
        assert told.init == relation(states, reference.where(init_formula(case, reference)))
        assert told.final == ("" if case.final is None else relation(states, reference.where(case.final)))
    assert list(found.sharing) == expected_sharing(reference)
    pairs = [(a, b) for a in case.goals for b in case.goals if a is not b and b.length <= a.length]
    assert list(found.implied) == [(a.name, b.name) for a, b in pairs if reference.implies(a, b)]
    assert found.sharing_undecided == found.implied_undecided == ()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_queries_alone_never_say_more_than_enumeration(seed: int) -> None:
    """Without listed states the facts are about all states; only what is shown by runs from init is about runs."""
    case = random_case(seed, goals=3, longest=2)
    found, runs = facts(case, explore=False), reachable_reference(case)
    everywhere = Reference(case, runs.explicit, runs.explicit.states)
    assert (found.exact, found.reachable) == (False, None)
    for goal, told in zip(case.goals, found.triggers, strict=True):
        states = everywhere.trigger(goal)
        assert (told.kind == "none") == (not states)
        assert (told.kind == "single") == (len(states) == 1)
        assert told.kind != "several" or len(runs.trigger(goal)) > 1
        assert told.connected is (True if len(states) < 2 else None)
        for lies, place in ((told.init, init_formula(case, everywhere)), (told.final, case.final)):
            expected = "" if place is None else relation(states, everywhere.where(place))
            hidden = expected == "equal" and goal.length and len(states) > 1
            assert lies == ("inside" if hidden else expected)
    assert list(found.sharing) == expected_sharing(everywhere)
    assert found.sharing_undecided == ()
    assert found.lemma_3.applies != "yes" or all(len(runs.trigger(goal)) < 2 for goal in case.goals)


@pytest.mark.evidence
def test_the_random_cases_show_every_kind_of_fact() -> None:
    listed = [facts(random_case(seed, goals=3, longest=2)) for seed in SEEDS]
    asked = [facts(random_case(seed, goals=3, longest=2), explore=False) for seed in SEEDS]
    triggers = [t for found in listed for t in found.triggers]
    assert {t.kind for t in triggers} == {"none", "single", "several"}
    assert {t.connected for t in triggers} == {True, False}
    assert {t.init for t in triggers} >= {"apart", "meets", "equal"}
    assert {t.final for t in triggers} >= {"", "apart", "meets", "inside", "equal"}
    assert {s.distance for found in listed for s in found.sharing} == {0, 1}
    assert any(found.implied for found in listed)
    assert {t.kind for found in asked for t in found.triggers} == {"none", "single", "several", "unknown"}
    for claims in ([f.lemma_3.applies for f in listed], [f.theorem_2.applies for f in listed]):
        assert set(claims) == {"yes", "no"}
