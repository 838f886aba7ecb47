"""Constraints over several steps against a plain search over all runs of the free system, judged afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from constrained_runs import ConstrainedRuns, random_rules
from drawn_seeds import seeds
from pysmt.shortcuts import And, Iff, Not, Or
from random_systems import RandomCase, random_case

from bmc.formulas.unroll import framed
from bmc.system.constraints import Constraint, Dwell, Rule, constrained, remembers
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, TransitionSystem, symbols_of
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.reductions.slicing import sliced

y, z = (BOOLEAN.symbol(f"cs_{name}") for name in "yz")
TIES: tuple[tuple[tuple[Rule, ...], bool], ...] = (
    ((Dwell("cs_y", 3), Constraint("y first", framed(y, 0), first=True)), True),
    ((Constraint("z as y was", Iff(framed(y, 0), framed(z, 1))),), True),
    ((Constraint("y and z in turns", Or(And(framed(y, 0), framed(z, 1)), And(framed(z, 0), framed(y, 1)))),), True),
    ((Constraint("y changes", Not(Iff(framed(y, 0), framed(y, 2)))), Dwell("cs_z", 2)), False),
)
"""Rules for inputs that nothing else reads, and whether some constant values keep them."""


def problem(case: RandomCase, seed: int, overlap: str = "allow") -> Problem:
    return Problem(constrained(case.system, random_rules(seed, case)), tuple(case.goals), case.final, overlap)


def checked(case: RandomCase, rules: Sequence[Rule], run: Run) -> None:
    """``run`` is one of the free system's and breaks no rule."""
    free = Simulator(case.system)
    again = free.run(free.initial(), run.inputs)
    assert all(free.allowed(s, i) for s, i in zip(again.states, again.inputs, strict=False))
    for rule in rules:
        assert list(rule.broken(again)) == []


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_an_input_may_change_after_so_many_steps_and_not_after_fewer(steps: int) -> None:
    """Each value lasts as long as it must, or one step less; the last one may be cut off, and the first one may not."""
    for kept in product((steps, steps - 1), repeat=3):
        column = [value for place, times in enumerate((*kept, 1)) for value in [place % 2] * times]
        changes = [sum(kept[: place + 1]) for place in range(3)]
        early = [step for step, times in zip(changes, kept, strict=True) if times < steps]
        free = TransitionSystem("dwell", (), (InputVariable("cs_y", BOOLEAN),))
        inputs = tuple({"cs_y": value} for value in column)
        assert list(Dwell("cs_y", steps).broken(Run(({},) * (len(column) + 1), inputs))) == early
        simulator = Simulator(constrained(free, [Dwell("cs_y", steps)]))
        run = simulator.run(simulator.initial(), inputs)
        refused = [k for k in range(len(column)) if not simulator.allowed(run.states[k], inputs[k])]
        assert refused[:1] == early[:1]


@pytest.mark.evidence
@pytest.mark.parametrize("engine", ["auto", "sat", "z3"])
@seeds(12)
def test_the_shortest_chain_is_that_of_all_runs_which_keep_the_constraints(seed: int, engine: str) -> None:
    case = random_case(seed, goals=3, longest=2)
    expected = ConstrainedRuns(case, random_rules(seed, case)).least(case.final, [goal.name for goal in case.goals])
    result = generate(problem(case, seed), Options(bound=12, engine=engine))
    assert result.bounds.lower <= (result.bounds.lower if expected is None else expected)
    if result.complete:
        assert result.chain is not None
        checked(case, random_rules(seed, case), result.chain.run)
        assert expected is not None
        assert expected <= result.chain.length
        if engine == "auto" or result.bounds.minimal:
            assert result.chain.length == expected == result.bounds.lower
    elif engine == "auto":
        assert expected is None


@pytest.mark.parametrize("tie", range(len(TIES)))
@seeds(4)
def test_inputs_that_nothing_reads_keep_their_constraints_too(seed: int, tie: int) -> None:
    """They cost the search nothing where a constant value keeps them, and change no length."""
    case = random_case(seed, goals=3, longest=2)
    rules, constant = TIES[tie]
    expected = ConstrainedRuns(case, random_rules(seed, case)).least(case.final, [goal.name for goal in case.goals])
    more = replace(case.system, inputs=(*case.system.inputs, *(InputVariable(f"cs_{n}", BOOLEAN) for n in "yz")))
    wide = replace(case, system=more)
    whole = constrained(wide.system, (*random_rules(seed, case), *rules))
    part = sliced(whole, case.goals, case.final)
    reads = {symbol.symbol_name() for var in part.state if remembers(var.name) for symbol in symbols_of(var.next)}
    assert bool(reads & {"cs_y", "cs_z"}) != constant
    result = generate(Problem(whole, tuple(case.goals), case.final), Options(bound=12))
    assert result.complete == (expected is not None)
    if result.complete:
        assert result.chain is not None
        assert result.chain.length == expected
        checked(wide, (*random_rules(seed, case), *rules), result.chain.run)
