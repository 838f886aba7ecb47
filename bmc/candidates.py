"""Facts about states that random runs suggest: what no run has contradicted may be an invariant.

Constants, few values, what one variable says of another one, equalities. Nothing here is proved: ``bmc.invariants``
keeps those that are inductive together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import Or

from bmc.batch import Batch
from bmc.engines.protocol import Engine
from bmc.explicit.vectors import Column
from bmc.invariants import inductive
from bmc.system import Condition, StateVariable, TransitionSystem, equal
from bmc.terms import implies

LANES, STEPS, ROUNDS = 64, 48, 4
"""Runs at once, their steps, and how often they go on from states reached."""

FEW = 6
"""A variable of up to so many values seen says something about others by each of them."""

_IMPLIES = " implies "

MOST = 300
"""Candidates made at most, the plainest first."""


def candidates(system: TransitionSystem, formulas: Sequence[FNode] = (), work: int = 50_000_000) -> list[Condition]:
    """Conditions on ``system``'s states that hold in every state seen; ``formulas`` tell which values matter.

    ``work`` limits the runs, in operations on single values. Repeatable.
    """
    seen = _seen(system, formulas, work)
    if seen is None:
        return []
    variables = [var for var in system.state if not var.type.floating and var.role != "internal"]
    found: dict[FNode, Condition] = {}
    for name, formula in _facts(variables, seen):
        if not formula.is_true() and formula not in found:
            found[formula] = Condition(name, formula)
        if len(found) >= MOST:
            break
    return list(found.values())


def suggested(
    system: TransitionSystem,
    formulas: Sequence[FNode],
    engine: Engine,
    seconds: Callable[[], float | None] = lambda: None,
    effort: int | None = None,
) -> tuple[Condition, ...]:
    """The candidates that are inductive together, as proved; ``seconds`` and ``effort`` are limits per query."""
    return inductive(system, candidates(system, formulas), engine, seconds, effort)


def stated(name: str, variables: Mapping[str, StateVariable]) -> Condition | None:
    """The condition that ``candidates`` gives this name; None if it gives it to none over ``variables``."""
    parts = [_stated_part(part, variables) for part in name.split(_IMPLIES)]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts) or len(parts) > 2:
        return None
    return Condition(name, implies(*known) if len(known) == 2 else known[0])


def _stated_part(text: str, variables: Mapping[str, StateVariable]) -> FNode | None:
    left, among, listed = text.partition(" in {")
    if not among:
        left, _, right = text.partition(" = ")
        listed = f"{right}}}"
    var = variables.get(left)
    if var is None:
        return None
    if not among and right in variables:
        other = variables[right]
        return equal(var.symbol, other.symbol) if var.type.bits == other.type.bits else None
    shown = {_shown(var, raw): raw for raw in _raws_like(listed.removesuffix("}").split(", "), var)}
    if set(shown) != set(listed.removesuffix("}").split(", ")):
        return None
    return Or([_is(var, raw) for raw in shown.values()]) if among else _is(var, next(iter(shown.values())))


def _raws_like(texts: Sequence[str], var: StateVariable) -> Iterator[int]:
    """The raw values that ``texts`` show: enumeration labels or whole numbers."""
    labels = dict(var.type.labels)
    for text in texts:
        if text in labels or text.lstrip("-").isdigit():
            yield labels.get(text, int(text) if text not in labels else 0) % (1 << max(var.type.bits, 1))


def _seen(system: TransitionSystem, formulas: Sequence[FNode], work: int) -> dict[str, Column] | None:
    """The states met, a column per variable; None if not even one round of runs is affordable."""
    batch = Batch(system, formulas)
    rounds = min(ROUNDS, work // (LANES * STEPS * max(batch.nodes, 1)))
    if rounds < 1 or not system.state:
        return None
    state, parts = batch.initial(), []
    for _ in range(rounds):
        lanes = batch.lanes(state, LANES, STEPS)
        valid = np.arange(STEPS + 1)[:, None] <= lanes.valid[None, :]
        parts.append({name: rows[valid] for name, rows in lanes.states.items()})
        lane = int(np.argmax(lanes.valid))
        state = {name: int(rows[lanes.valid[lane], lane]) for name, rows in lanes.states.items()}
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    _, places = np.unique(
        np.stack([column.astype(np.uint64) for column in columns.values()]), axis=1, return_index=True
    )
    return {name: column[np.sort(places)] for name, column in columns.items()}


def _facts(variables: Sequence[StateVariable], seen: Mapping[str, Column]) -> Iterator[tuple[str, FNode]]:
    values = {var.name: [int(value) for value in np.unique(seen[var.name])] for var in variables}
    constant = [var for var in variables if len(values[var.name]) == 1]
    for var in constant:
        yield f"{var.name} = {_shown(var, values[var.name][0])}", _is(var, values[var.name][0])
    varying = [var for var in variables if len(values[var.name]) > 1]
    for var in varying:
        if var.type.bits and len(values[var.name]) <= FEW:
            listed = ", ".join(_shown(var, value) for value in values[var.name])
            yield f"{var.name} in {{{listed}}}", Or([_is(var, value) for value in values[var.name]])
    for one, other in combinations(varying, 2):
        if one.type.bits == other.type.bits and (seen[one.name] == seen[other.name]).all():
            yield f"{one.name} = {other.name}", equal(one.symbol, other.symbol)
    for var in varying:
        if len(values[var.name]) <= FEW:
            for value in values[var.name]:
                yield from _said_by(var, value, [v for v in varying if v is not var], seen)


def _said_by(
    var: StateVariable, value: int, others: Sequence[StateVariable], seen: Mapping[str, Column]
) -> Iterator[tuple[str, FNode]]:
    """What ``var`` having ``value`` says about the others."""
    rows = seen[var.name] == value
    for other in others:
        left = np.unique(seen[other.name][rows])
        if len(left) == 1 and len(np.unique(seen[other.name])) > 1:
            only = int(left[0])
            name = f"{var.name} = {_shown(var, value)}{_IMPLIES}{other.name} = {_shown(other, only)}"
            yield name, implies(_is(var, value), _is(other, only))


def _is(var: StateVariable, raw: int) -> FNode:
    return equal(var.symbol, var.type.constant(raw))


def _shown(var: StateVariable, raw: int) -> str:
    return var.type.show(var.type.value(raw))
