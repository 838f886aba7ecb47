"""How far framed formulas reach: the steps that they need, and the state variables in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode

from bmc.formulas.unroll import unframed
from bmc.system.transition import TransitionSystem, symbols_of

Reach = tuple[int, tuple[FNode, ...], tuple[FNode, ...]]
"""How many steps a framed formula needs; the plain symbols of its state variables, and of those at steps after 0."""


class Reaches:
    """Looks at each formula once. An input at step j needs j + 1 steps, a state at step j needs j, others none."""

    def __init__(self, system: TransitionSystem) -> None:
        self._states = {var.name: var.symbol for var in system.state}
        self._inputs = frozenset(var.name for var in system.inputs)
        self._known: dict[FNode, Reach] = {}
        self._same: dict[tuple[FNode, ...], tuple[FNode, ...]] = {}

    def span(self, formula: FNode) -> int:
        """The steps that a framed formula needs."""
        return self._of(formula)[0]

    def states(self, formulas: Iterable[FNode]) -> Iterable[FNode]:
        """The plain symbols of the state variables in framed formulas."""
        return dict.fromkeys(symbol for formula in formulas for symbol in self._of(formula)[1])

    def moved(self, formulas: Iterable[FNode]) -> Iterable[FNode]:
        """The plain symbols of the state variables that framed formulas read after step 0."""
        return dict.fromkeys(symbol for formula in formulas for symbol in self._of(formula)[2])

    def _of(self, formula: FNode) -> Reach:
        """The parts of conjunctions and disjunctions are looked at once each: they are asked together in ever new ways.

        Validity until one step is part of that until the next, thousands deep: so no recursion, and nothing twice.
        """
        stack = [formula]
        while stack:
            node = stack[-1]
            if node not in self._known:
                parts = node.args() if node.is_or() or node.is_and() else ()
                unknown = [part for part in parts if part not in self._known]
                if unknown:
                    stack.extend(unknown)
                    continue
                self._known[node] = self._joined([self._known[part] for part in parts]) if parts else self._single(node)
            stack.pop()
        return self._known[formula]

    def _joined(self, parts: Sequence[Reach]) -> Reach:
        """The reach of formulas together; their symbols in one object where these are the same, to save memory."""
        states = dict.fromkeys(symbol for _, symbols, _ in parts for symbol in symbols)
        moved = dict.fromkeys(symbol for _, _, symbols in parts for symbol in symbols)
        span = max(span for span, _, _ in parts)
        return (
            span,
            self._same.setdefault(tuple(states), tuple(states)),
            self._same.setdefault(tuple(moved), tuple(moved)),
        )

    def _single(self, formula: FNode) -> Reach:
        span, states, moved = 0, dict[FNode, None](), dict[FNode, None]()
        for symbol in symbols_of(formula):
            name, step = unframed(symbol)
            if name in self._states:
                span, states[self._states[name]] = max(span, step), None
                if step:
                    moved[self._states[name]] = None
            elif name in self._inputs:
                span = max(span, step + 1)
        return span, tuple(states), tuple(moved)
