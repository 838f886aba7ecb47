"""Whether a condition of the code can hold at all, where unrolling alone would not end.

It is decided case by case: a search such as bisection ends, although its loop condition is no constant. Variables that
take part are choices between constants (where the search stands), by conditions that also tell the path. What cases do
not settle is asked of the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import Solver

from bmc.formulas.evaluate import operation
from bmc.system.transition import conjuncts

MOST_CASES = 4096
"""More cases than this are not tried."""
MOST_FAILURES = 8
"""After so many conditions with more cases than that, all further ones are left undecided."""

Values = dict[FNode, int]
"""What is known in one case: values of atoms, and of what they settle."""


class Cases:
    """Conditions are taken apart into atoms: Boolean symbols, and comparisons of what is no choice of constants."""

    def __init__(self) -> None:
        self._free: dict[FNode, bool] = {}
        self._kinds: dict[FNode, Kind] = {}
        self._found: dict[tuple[FNode, FNode], bool] = {}
        self._failures = 0

    def impossible(self, condition: FNode, path: FNode) -> bool:
        """Whether ``condition`` is shown not to hold where ``path`` does, whatever values the atoms have."""
        if condition.is_constant():
            return bool(condition.is_false())
        if self._is_free(condition) or self._failures > MOST_FAILURES:
            return False
        if (condition, path) not in self._found:
            self._found[condition, path] = self._tried(condition, conjuncts(path))
        return self._found[condition, path]

    def _tried(self, condition: FNode, path: list[FNode]) -> bool:
        todo: list[Values] = [dict(literal for part in path for literal in self._literal(part))]
        for _ in range(MOST_CASES):
            if not todo:
                return True
            values = todo.pop()
            if any(self._unknown(part, values) is None and not values[part] for part in path):
                continue
            atom = self._unknown(condition, values)
            if atom is not None:
                todo += [{**values, atom: 0}, {**values, atom: 1}]
            elif values[condition]:
                return False
        self._failures += 1
        return False

    def _literal(self, part: FNode) -> Iterator[tuple[FNode, int]]:
        atom = part.arg(0) if part.is_not() else part
        if self._is_atom(atom):
            yield atom, 0 if part.is_not() else 1

    def _unknown(self, wanted: FNode, values: Values) -> FNode | None:
        """An atom without a value on which the value of ``wanted`` depends; None if that is in ``values`` now."""
        stack = [wanted]
        while stack:
            node = stack[-1]
            if node not in values:
                kind = self._kinds.get(node) or self._kind(node)
                if kind is ATOM:
                    return node
                missing = kind(node.args(), values)
                if isinstance(missing, FNode):
                    stack.append(missing)
                    continue
                values[node] = missing
            stack.pop()
        return None

    def _kind(self, node: FNode) -> Kind:
        kind: Kind
        if self._is_atom(node):
            kind = ATOM
        elif node.is_constant():
            number = int(node.constant_value())
            kind = lambda parts, values: number  # noqa: E731
        elif node.is_ite():
            kind = _choice
        elif node.is_and() or node.is_or():
            kind = _settled(0 if node.is_and() else 1)
        else:
            kind = _computed(operation(node))
        self._kinds[node] = kind
        return kind

    def _is_atom(self, node: FNode) -> bool:
        if node.is_and() or node.is_not() or not node.get_type().is_bool_type():
            return False
        return self._is_free(node)

    def _is_free(self, wanted: FNode) -> bool:
        """Whether no choice between constants settles a term, or any part of a Boolean formula."""
        stack = [wanted]
        while stack:
            node = stack[-1]
            relation, boolean = node.is_theory_relation(), node.get_type().is_bool_type()
            parts = node.args()[1:] if node.is_ite() and not boolean else node.args()
            enough = not boolean or relation  # one free part makes a term free, one that is not a formula not free
            if not any(self._free.get(part) is enough for part in parts):
                missing = next((part for part in parts if part not in self._free), None)
                if missing is not None:
                    stack.append(missing)
                    continue
            known = any(self._free.get(part) is enough for part in parts)
            self._free[node] = bool(node.is_symbol()) or (bool(parts) and known is enough)
            stack.pop()
        return self._free[wanted]


Kind = Callable[[Sequence[FNode], Values], FNode | int]
"""The value of a node from those of its parts, or the next part whose value is needed."""


def ATOM(parts: Sequence[FNode], values: Values) -> FNode | int:  # noqa: N802
    """Marks a node whose value is given or open."""
    raise AssertionError("an atom is not computed")


def _choice(parts: Sequence[FNode], values: Values) -> FNode | int:
    if parts[0] not in values:
        return parts[0]
    branch = parts[1] if values[parts[0]] else parts[2]
    return values.get(branch, branch)


def _settled(by: int) -> Kind:
    """And (settled by 0) and Or (by 1)."""

    def kind(parts: Sequence[FNode], values: Values) -> FNode | int:
        for part in parts:
            value = values.get(part)
            if value is None:
                return part
            if value == by:
                return by
        return 1 - by

    return kind


def _computed(work: Callable[[Sequence[int]], int]) -> Kind:
    def kind(parts: Sequence[FNode], values: Values) -> FNode | int:
        for part in parts:
            if part not in values:
                return part
        return work([values[part] for part in parts])

    return kind


EFFORT = 20_000_000
"""z3's resource limit of one question: work counted, not time, so that reading is repeatable."""


def impossible(condition: FNode) -> bool:
    """Whether ``condition`` is proved to hold for no values of its symbols; False also where the effort is used up."""
    if condition.is_constant():
        return bool(condition.is_false())
    with Solver(name="z3", logic=QF_BV, solver_options={"rlimit": EFFORT}) as solver:
        try:
            return not solver.is_sat(condition)
        except SolverReturnedUnknownResultError:
            return False
