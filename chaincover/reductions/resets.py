"""Several chains as one chain with resets in it: its length, without the resets, is the total length of the chains.

A reset is a step of its own, by an input that the reduction adds. It leads from where a chain may end back to the state
after init, and no goal goes on across it. The shortest such run with ``chains - 1`` resets through all goals is so many
chains of the least total length, and every proof that no run is shorter is one of the chains' total length.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode
from pysmt.shortcuts import BVULT, TRUE

from bmc.formulas.terms import choose, either, negate
from bmc.formulas.unroll import at
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    ValueType,
    conjunction,
    equal,
)
from chaincover.problem import Problem
from properties.goal import Goal

RESET, NUMBER = "reset#", "reset#number"
"""Names of the input that resets, and of the state variable that counts the resets; that has its bits behind it."""


def has_resets(system: TransitionSystem) -> bool:
    """Whether a reset of ``system`` leads to one state: init sets every variable."""
    return all(var.init is not None for var in system.state)


def with_resets(problem: Problem, chains: int, placed: Mapping[str, int]) -> Problem:
    """``problem`` with up to ``chains - 1`` resets; the goals of ``placed`` count only in the chain of that number.

    Chains are numbered from 0. Consequents are left out. ValueError where ``has_resets`` does not hold.
    """
    system = problem.system
    if not has_resets(system):
        raise ValueError("init leaves a variable open")
    if chains < 2:
        return replace(problem, goals=tuple(replace(goal, consequent=None) for goal in problem.goals))
    kind = ValueType("resets", (chains - 1).bit_length())
    name = f"{NUMBER}:{kind.bits}"
    reset, number = BOOLEAN.symbol(RESET), kind.symbol(name)
    last = kind.constant(chains - 1)
    state = [replace(var, next=_reset_to(var.init, reset, var.next)) for var in system.state]
    counted = choose(reset, number + kind.constant(1), number)
    state.append(StateVariable(name, kind, kind.constant(0), counted, "internal", 0, chains - 1))
    may_end = TRUE() if problem.final is None else problem.final
    plain = [equal(var.symbol, var.type.constant(var.values[0][0] if var.values else 0)) for var in system.inputs]
    made = TransitionSystem(
        name=system.name,
        state=tuple(state),
        inputs=(InputVariable(RESET, BOOLEAN), *system.inputs),
        input_constraint=choose(reset, conjunction([BVULT(number, last), may_end, *plain]), system.input_constraint),
        defined=either(reset, system.defined),
    )

    def within(goal: Goal) -> Goal:
        rules = [at(negate(reset), step) for step in range(goal.length)]
        if goal.name in placed:
            rules.append(at(number.Equals(kind.constant(placed[goal.name])), 0))
        return replace(goal, antecedent=conjunction([goal.antecedent, *rules]), consequent=None)

    return replace(problem, system=made, goals=tuple(within(goal) for goal in problem.goals))


def _reset_to(start: FNode | None, reset: FNode, following: FNode) -> FNode:
    assert start is not None
    return choose(reset, start, following)


def parts(system: TransitionSystem, run: Run) -> list[Run]:
    """The runs of ``system`` between the resets of ``run``, which ``with_resets`` made possible."""
    simulator, inputs = Simulator(system), list[list[Mapping[str, int]]]([[]])
    names = [var.name for var in system.inputs]
    for values in run.inputs:
        if values.get(RESET, 0):
            inputs.append([])
        else:
            inputs[-1].append({name: values[name] for name in names})
    return [simulator.run(simulator.initial(), part) for part in inputs]


def _clique(ordered: Sequence[str], apart: Mapping[str, set[str]], most: int) -> list[str]:
    """Goals, each of which excludes all others: a large set of them, ``most`` at most. Each goal in turn is the first
    one, and takes those that come next."""
    largest: list[str] = []
    for first in ordered:
        found = [first]
        for goal in ordered:
            if apart[goal].issuperset(found):
                found.append(goal)
        largest = found if len(found) > len(largest) else largest
        if len(largest) >= most:
            break
    return largest[:most]


def placed_apart(goals: Sequence[str], pairs: Collection[frozenset[str]], chains: int) -> dict[str, int]:
    """A chain for each of some goals, without loss: no run covers both goals of one of ``pairs``.

    Goals that exclude each other are in different chains, which may be numbered by them; with as many of them as there
    are ``chains``, a goal that all but one of them exclude is in the chain of that one.
    """
    apart: dict[str, set[str]] = {goal: set() for goal in goals}
    for one, other in map(sorted, pairs):
        apart[one].add(other)
        apart[other].add(one)
    ordered = sorted(goals, key=lambda goal: (-len(apart[goal]), goals.index(goal)))
    own = {goal: number for number, goal in enumerate(_clique(ordered, apart, chains))}
    placed = dict(own)
    for goal in goals if len(own) == chains else ():
        left = [number for other, number in own.items() if other not in apart[goal]]
        if goal not in own and len(left) == 1:
            placed[goal] = left[0]
    return placed
