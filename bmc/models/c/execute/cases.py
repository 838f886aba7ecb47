"""Whether a condition of the code can hold at all, where unrolling alone would not end.

It is decided case by case: a search such as bisection ends, although its loop condition is no constant. Variables that
take part are choices between constants (where the search stands), by conditions that also tell the path. What cases do
not settle is asked of the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pysmt.exceptions import SolverReturnedUnknownResultError
from pysmt.fnode import FNode
from pysmt.logics import QF_BV
from pysmt.shortcuts import Solver

from bmc.formulas.evaluate import operation
from bmc.formulas.terms import is_false
from bmc.records import dataclass
from bmc.system.transition import conjuncts

MOST_CASES = 4096
"""More cases than this are not tried."""
MOST_LISTED_CASES = 64
"""The same where only a list of what is wrong is made, which follows a path too many rather than to be late."""
MOST_FAILURES = 8
"""After so many conditions with more cases than that, all further ones are left undecided."""

Values = dict[int, int]
"""What is known in one case: values of atoms, and of what they settle, by their ``id``, which needs no hash."""


@dataclass(frozen=True, slots=True)
class _Case:
    """What is known in a case, and the parts of the path that are open, by the atom that each waits for."""

    values: Values
    waiting: dict[int, tuple[FNode, ...]]

    def where(self, atom: FNode, value: int) -> _Case:
        """The case within this one in which ``atom`` has this value."""
        waiting = {key: parts for key, parts in self.waiting.items() if key != id(atom)}
        return _Case({**self.values, id(atom): value}, waiting)


class Cases:
    """Conditions are taken apart into atoms: Boolean symbols, and comparisons of what is no choice of constants."""

    def __init__(self) -> None:
        self._free: dict[FNode, bool] = {}
        self._kinds: dict[int, tuple[Kind, Sequence[FNode], FNode]] = {}
        """By the ``id`` of a node: how its value is computed, its parts, and the node."""
        self._found: dict[tuple[FNode, FNode], bool] = {}
        self._failures = 0
        self.most = MOST_CASES
        """How many cases are tried of one condition."""

    def impossible(self, condition: FNode, path: FNode) -> bool:
        """Whether ``condition`` is shown not to hold where ``path`` does, whatever values the atoms have."""
        if condition.is_constant():
            return is_false(condition)
        if self._is_free(condition) or self._failures > MOST_FAILURES:
            return False
        if (condition, path) not in self._found:
            self._found[condition, path] = self._tried(condition, conjuncts(path))
        return self._found[condition, path]

    def _tried(self, condition: FNode, path: list[FNode]) -> bool:
        known = dict(literal for part in path for literal in self._literal(part))
        todo: list[tuple[_Case, Sequence[FNode]]] = [(_Case(known, {}), path)]
        for _ in range(self.most):
            if not todo:
                return True
            case, new = todo.pop()
            if not self._keeps(case, new):
                continue
            atom = self._unknown(condition, case.values)
            if atom is not None:
                todo += [(case.where(atom, value), case.waiting.get(id(atom), ())) for value in (0, 1)]
            elif case.values[id(condition)]:
                return False
        self._failures += 1
        return False

    def _keeps(self, case: _Case, path: Iterable[FNode]) -> bool:
        """Whether no part of a path is known not to hold in a case; a part that is open waits for its next atom."""
        for part in path:
            atom = self._unknown(part, case.values)
            if atom is not None:
                case.waiting[id(atom)] = (*case.waiting.get(id(atom), ()), part)
            elif not case.values[id(part)]:
                return False
        return True

    def _literal(self, part: FNode) -> Iterator[tuple[int, int]]:
        atom = part.arg(0) if part.is_not() else part
        if self._is_atom(atom):
            yield id(atom), 0 if part.is_not() else 1

    def _unknown(self, wanted: FNode, values: Values) -> FNode | None:
        """An atom without a value on which the value of ``wanted`` depends; None if that is in ``values`` now."""
        stack = [wanted]
        while stack:
            node = stack[-1]
            if id(node) not in values:
                kind, parts, _ = self._kinds.get(id(node)) or self._kind(node)
                if kind is ATOM:
                    return node
                missing = kind(parts, values)
                if isinstance(missing, FNode):
                    stack.append(missing)
                    continue
                values[id(node)] = missing
            stack.pop()
        return None

    def _kind(self, node: FNode) -> tuple[Kind, Sequence[FNode], FNode]:
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
        self._kinds[id(node)] = kind, node.args(), node
        return self._kinds[id(node)]

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
    chooses = values.get(id(parts[0]))
    if chooses is None:
        return parts[0]
    branch = parts[1] if chooses else parts[2]
    return values.get(id(branch), branch)


def _settled(by: int) -> Kind:
    """And (settled by 0) and Or (by 1)."""

    def kind(parts: Sequence[FNode], values: Values) -> FNode | int:
        for part in parts:
            value = values.get(id(part))
            if value is None:
                return part
            if value == by:
                return by
        return 1 - by

    return kind


def _computed(work: Callable[[Sequence[int]], int]) -> Kind:
    def kind(parts: Sequence[FNode], values: Values) -> FNode | int:
        for part in parts:
            if id(part) not in values:
                return part
        return work([values[id(part)] for part in parts])

    return kind


EFFORT = 20_000_000
"""z3's resource limit of one question: work counted, not time, so that reading is repeatable."""


def impossible(condition: FNode) -> bool:
    """Whether ``condition`` is proved to hold for no values of its symbols; False also where the effort is used up."""
    if condition.is_constant():
        return is_false(condition)
    with Solver(name="z3", logic=QF_BV, solver_options={"rlimit": EFFORT}) as solver:
        try:
            return not solver.is_sat(condition)
        except SolverReturnedUnknownResultError:
            return False
