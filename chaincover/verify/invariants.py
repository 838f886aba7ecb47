"""The invariants that a certificate rests on: proved again, or read off the list of reachable states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not, Or

from bmc.analysis.slice import CONSTANTS
from bmc.engines.protocol import Status
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at
from bmc.invariants.facts import stated as suggestion
from bmc.system.transition import Condition, StateVariable, Valuation, conjunction, equal
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line
from chaincover.verify.setting import Setting
from chaincover.verify.states import Confirmation, Table, told
from chaincover.verify.unrolling import Unrolling

MOST_STATES = 1000
"""Above this number the reachable states are described by the values of each variable, as where they were claimed."""

LOOKED_AT = 5
"""Steps from init within which an invariant that is not kept by every step is sought to fail."""

CHECK = "invariants"
_REACHABLE = re.compile(r"one of (\d+) reachable states")


@dataclass(frozen=True)
class Assumed:
    """What may be taken for known of a run's first state (``start``) and of every one (``always``); plain symbols.

    ``complete``: whether all invariants of the certificate are in it.
    """

    start: FNode
    always: FNode
    complete: bool


def assumed(
    setting: Setting, names: Sequence[str], table: Table | None, confirmation: Confirmation | None, clock: Clock
) -> tuple[Assumed, Line]:
    """Prove the invariants ``names`` again."""
    if not names:
        return Assumed(TRUE(), TRUE(), True), Line(CHECK, UNCLAIMED, "the certificate rests on no invariant")
    verdicts: dict[str, tuple[str, str]] = {}
    start, always = TRUE(), TRUE()
    stated = {condition.name: condition for condition in setting.system.invariants}
    stated.update((name, condition) for name in names if (condition := _constants(setting, name)) is not None)
    known = {var.name: var for var in setting.system.state}
    others = [name for name in names if name not in stated]
    stated.update((name, condition) for name in others if (condition := suggestion(name, known)) is not None)
    for name in names:
        counted = _REACHABLE.fullmatch(name)
        if counted:
            verdicts[name] = _count_again(int(counted[1]), table, setting.least_cone, confirmation)
            start, always = _reachable(table) if table is not None else (start, always)
        elif name not in stated:
            verdicts[name] = WRONG, "the program states no such invariant"
    own = [stated[name] for name in names if name in stated]
    found = {} if table is None else _on_states([c for c in own if table.knows(c.formula)], table)
    found |= _by_induction(setting, [c for c in own if c.name not in found], clock)
    verdicts.update(found)
    proved = conjunction(c.formula for c in own if found[c.name][0] == HOLDS)
    complete = table is not None or not any(_REACHABLE.fullmatch(name) for name in names)
    complete = complete and all(verdict == HOLDS for verdict, _ in found.values())
    return Assumed(start, And(always, proved), complete), _line(verdicts)


def _line(verdicts: dict[str, tuple[str, str]]) -> Line:
    kinds = [verdict for verdict, _ in verdicts.values()]
    verdict = WRONG if WRONG in kinds else OPEN if OPEN in kinds else HOLDS
    return Line(CHECK, verdict, "; ".join(f"{name}: {text}" for name, (_, text) in verdicts.items()))


def _constants(setting: Setting, name: str) -> Condition | None:
    """What an invariant says that lists variables which never change; None if it is none, or names others."""
    if not name.startswith(CONSTANTS):
        return None
    known = {var.name: var for var in setting.system.state}
    listed = [known.get(listed) for listed in name.removeprefix(CONSTANTS).split(", ")]
    parts = [equal(var.symbol, var.init) for var in listed if var is not None and var.init is not None]
    return Condition(name, conjunction(parts)) if len(parts) == len(listed) else None


def _count_again(
    claimed: int, table: Table | None, least: Sequence[StateVariable], confirmation: Confirmation | None
) -> tuple[str, str]:
    """The claim of so many reachable states, against the list of them."""
    if table is None or confirmation is None:
        return OPEN, "too many states to list them again"
    if not table.counts(claimed, least):
        return WRONG, f"there are {len(table.states)}"
    if confirmation.differences:
        return WRONG, "the compiled original takes other steps than the model"
    why = f" ({confirmation.why})" if confirmation.why else ""
    return HOLDS, f"listed again, all {table.steps} steps run on {confirmation.on}{why}"


def _on_states(conditions: Sequence[Condition], table: Table) -> dict[str, tuple[str, str]]:
    """Look at each condition in every reachable state."""
    states = table.states
    holds = compile_formulas([condition.formula for condition in conditions])
    verdicts = {c.name: (HOLDS, f"true in all {len(states)} reachable states") for c in conditions}
    for state in states:
        for condition, value in zip(conditions, holds(state), strict=True):
            if not value:
                verdicts[condition.name] = WRONG, f"false in the reachable state {told(table.variables, state)}"
    return verdicts


def _by_induction(setting: Setting, conditions: Sequence[Condition], clock: Clock) -> dict[str, tuple[str, str]]:
    """True in every start state; all true before a step, true after it."""
    if not conditions:
        return {}
    together = conjunction(c.formula for c in conditions)
    formulas = [at(together, 0)]
    first = Unrolling(setting.system, formulas, setting.system.init_formula, TRUE(), clock)
    before = Unrolling(setting.system, formulas, together, TRUE(), clock)
    kept = HOLDS, "true at the start, and kept by every step"
    queries = ((first, at(Not(together), 0), 0), (before, And(before.valid(1), at(Not(together), 1)), 1))
    if all(unrolling.ask(formula, steps).status is Status.UNSAT for unrolling, formula, steps in queries):
        return {condition.name: kept for condition in conditions}
    verdicts = {}
    for condition in conditions:
        failing = Not(condition.formula)
        base = first.ask(at(failing, 0), 0)
        if base.status is Status.SAT and base.run is not None and compile_formulas([failing])(base.run.states[0])[0]:
            verdicts[condition.name] = WRONG, "false in a start state"
            continue
        step = before.ask(And(before.valid(1), at(failing, 1)), 1)
        broken = None if step.status is not Status.SAT else _broken_after(first, failing)
        if broken is not None:
            verdicts[condition.name] = WRONG, f"false after {broken} step(s) from a start state"
        elif {base.status, step.status} == {Status.UNSAT}:
            verdicts[condition.name] = kept
        else:
            given_up = Status.UNKNOWN in (base.status, step.status)
            verdicts[condition.name] = OPEN, "the solver did not finish" if given_up else "not kept by every step"
    if any(verdict != HOLDS for verdict, _ in verdicts.values()):  # each proof used all of them
        rest = OPEN, "proved only together with the others"
        verdicts = {name: rest if found[0] == HOLDS else found for name, found in verdicts.items()}
    return verdicts


def _broken_after(first: Unrolling, failing: FNode) -> int | None:
    """The least number of steps, up to ``LOOKED_AT``, after which a run satisfies ``failing``; None if none does."""
    holds = compile_formulas([failing])
    for steps in range(1, LOOKED_AT + 1):
        found = first.ask(And(first.valid(steps), at(failing, steps)), steps)
        if found.status is Status.SAT and found.run is not None and holds(found.run.states[steps])[0]:
            return steps
    return None


def _reachable(table: Table) -> tuple[FNode, FNode]:
    """What is known of a first state, and of every state."""
    if len(table.states) <= MOST_STATES:
        return Or([_cube(table.variables, state) for state in table.states]), TRUE()
    columns = {var: sorted({state[var.name] for state in table.states}) for var in table.variables}
    return TRUE(), conjunction(_among(var, values) for var, values in columns.items())


def _cube(variables: Sequence[StateVariable], state: Valuation) -> FNode:
    return And([equal(var.symbol, var.type.constant(state[var.name])) for var in variables])


def _among(var: StateVariable, values: Sequence[int]) -> FNode:
    """The formula: ``var`` has one of the rising ``values``, as few ranges."""
    if not var.type.bits:
        return Or([equal(var.symbol, var.type.constant(value)) for value in values])
    ranges: list[list[int]] = []
    for value in values:
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    ends = [(var.type.constant(low), var.type.constant(high)) for low, high in ranges]
    return Or([And(low.BVULE(var.symbol), var.symbol.BVULE(high)) for low, high in ends])
