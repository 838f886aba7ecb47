"""Undefined behaviour: cheap evidence and the solver say what an exhaustive search over all states says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Not
from random_systems import random_case

from bmc.engines import choose
from bmc.engines.protocol import Session
from bmc.engines.z3 import Z3Engine
from bmc.formulas.evaluate import compile_formulas
from bmc.system.simulation import Simulator
from bmc.system.transition import Condition, TransitionSystem, Valuation
from chaincover.check import undefined_behaviour
from chaincover.check.undefined_behaviour import SUSPECT_DEPTH, UndefinedBehaviour, UndefinedBehaviourSearch
from chaincover.limits import Limits

LAYERS = 60
"""More steps than a simulated run has."""


def perhaps_undefined(seed: int) -> TransitionSystem:
    """A random system with three places of undefined behaviour: conditions that are met often to rarely."""
    system = random_case(seed, inputs=1).system
    parts = [random_case(1000 + 10 * seed + k, inputs=1).system.state[0].next for k in range(6)]
    formulas = [parts[0], And(parts[1:3]), And(parts[3:6])]
    named = tuple(Condition(f"s{number}", formula) for number, formula in enumerate(formulas))
    return replace(system, defined=And([Not(f) for f in formulas]), undefined_behaviour=named)


def searched(system: TransitionSystem, seconds: float | None = None) -> dict[str, UndefinedBehaviour]:
    search = UndefinedBehaviourSearch(system, choose("z3"))
    search.run(Limits(seconds, 10.0))
    return {one.kind: one for one in search.found()}


def every(variables: tuple) -> Iterator[Valuation]:
    for values in product(*(range(max(2, 1 << v.type.bits)) for v in variables)):
        yield dict(zip((v.name for v in variables), values, strict=True))


class Exhaustive:
    """All states after exactly k steps, and in which of them a formula can be met."""

    def __init__(self, system: TransitionSystem) -> None:
        self.simulator = Simulator(system)
        self.inputs = list(every(system.inputs))
        self.constraint = compile_formulas([system.input_constraint])
        self.states = list(every(system.state))
        layer = {tuple(self.simulator.initial().items())}
        self.layers = []
        for _ in range(LAYERS):
            self.layers.append([dict(state) for state in layer])
            layer = {
                tuple(self.simulator.step(state, values).items())
                for state in self.layers[-1]
                for values in self.inputs
                if self.simulator.allowed(state, values)
            }

    def met(self, formula: FNode, states: list[Valuation]) -> bool:
        holds = compile_formulas([formula])
        pairs = [{**state, **values} for state in states for values in self.inputs]
        return any(holds(pair)[0] and self.constraint(pair)[0] for pair in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("explored", [undefined_behaviour.ENUMERATING, 0])
@pytest.mark.parametrize("simulated", [undefined_behaviour.SIMULATED_STEPS // 10, 0])
@pytest.mark.parametrize("seed", range(4))
def test_verdicts_are_those_of_an_exhaustive_search(
    seed: int, simulated: int, explored: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without the list of reachable states, with and without simulation."""
    monkeypatch.setattr(undefined_behaviour, "ENUMERATING", explored)
    monkeypatch.setattr(undefined_behaviour, "SIMULATED_STEPS", simulated)
    monkeypatch.setattr(undefined_behaviour, "RANDOM_STATES", simulated)
    system = perhaps_undefined(seed)
    truth = Exhaustive(system)
    found = searched(system)
    for condition in system.undefined_behaviour:
        told = found.get(condition.name)
        depths = [k for k, states in enumerate(truth.layers) if truth.met(condition.formula, states)]
        if told is None:
            assert not depths
            continue
        assert not told.undecided
        assert told.searched
        assert truth.met(condition.formula, truth.states)
        if depths and depths[0] <= SUSPECT_DEPTH:
            assert told.steps == depths[0]
        else:
            assert told.steps is None or told.steps in depths
        if explored:
            assert depths


@pytest.mark.evidence
def test_the_samples_have_undefined_behaviour_of_all_kinds() -> None:
    verdicts = [searched(perhaps_undefined(seed)) for seed in range(15)]
    named = [len(perhaps_undefined(seed).undefined_behaviour) for seed in range(15)]
    steps = [one.steps for found in verdicts for one in found.values()]
    assert 0 in steps
    assert any(k for k in steps)
    assert sum(named) > len(steps)


def test_without_time_nothing_is_called_impossible_but_what_needs_no_solver() -> None:
    for seed in range(15):
        system = perhaps_undefined(seed)
        truth = Exhaustive(system)
        found = searched(system, 0.0)
        for condition in system.undefined_behaviour:
            if any(truth.met(condition.formula, states) for states in truth.layers):
                assert condition.name in found


def test_what_an_interrupt_leaves_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    system = next(s for s in map(perhaps_undefined, range(25)) if 0 in {one.steps for one in searched(s).values()})
    monkeypatch.setattr(undefined_behaviour, "ENUMERATING", 0)
    monkeypatch.setattr(undefined_behaviour, "SIMULATED_STEPS", 0)
    monkeypatch.setattr(undefined_behaviour, "RANDOM_STATES", 0)

    def interrupted(*given: object) -> Session:
        raise KeyboardInterrupt

    monkeypatch.setattr(Z3Engine, "session", interrupted)
    search = UndefinedBehaviourSearch(system, choose("z3"))
    with pytest.raises(KeyboardInterrupt):
        search.run(Limits(None, 10.0))
    left = search.found()
    assert left
    assert all(one.undecided and one.steps is None and not one.searched for one in left)
