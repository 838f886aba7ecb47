"""The decisions in the code of a model, with how one symbolic step evaluates each."""

from __future__ import annotations

from pysmt.fnode import FNode

from bmc.errors import Location
from bmc.formulas.terms import both, either, negate
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """``&&``, ``||`` or ``!`` over atomic conditions."""

    op: str
    parts: tuple[Tree, ...]


Tree = int | Operation
"""A decision over its atomic conditions: the index of one, or an operation."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation within a step, over the symbols of state before the step and of inputs.

    ``reached``: when it takes place. ``values``: when each atomic condition, if it is evaluated, is true (of a
    ``switch``: when each label is chosen).
    """

    reached: FNode
    values: tuple[FNode, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision in the source; several calls and rounds of a loop give several evaluations, dead code none.

    ``kind`` is ``if``, ``while``, ``do``, ``for``, ``?:``, ``switch``, ``&&`` or ``||``. ``conditions`` are the texts
    of the atomic conditions in source order; of a ``switch`` its labels, at the end ``default`` or ``no-case`` where
    it has none, and ``tree`` is None.
    """

    kind: str
    function: str
    where: Location
    text: str
    conditions: tuple[str, ...]
    tree: Tree | None
    evaluations: tuple[Evaluated, ...]


def holds(tree: Tree, values: tuple[FNode, ...]) -> FNode:
    """When a decision, or a part of it, comes out true."""
    results: list[FNode] = []
    todo: list[tuple[Tree, bool]] = [(tree, False)]
    while todo:
        part, ready = todo.pop()
        if isinstance(part, int):
            results.append(values[part])
        elif not ready:
            todo.append((part, True))
            todo.extend((inner, False) for inner in reversed(part.parts))
        elif part.op == "!":
            results.append(negate(results.pop()))
        else:
            right, left = results.pop(), results.pop()
            results.append(both(left, right) if part.op == "&&" else either(left, right))
    return results[0]
