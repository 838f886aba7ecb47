"""Operands whose order C leaves open: evaluated one after the other, refused where the order would matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from bmc.c.execute.access import MemoryAccess, Watch
from bmc.c.execute.memory import Key, Place
from bmc.c.source.program import unsupported
from bmc.c.source.variables import variable_name
from bmc.errors import UnsupportedConstruct

STEPS = {"p++": "+", "p--": "-", "++": "+", "--": "-"}
"""Increment and decrement operators with what they do."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its syntax and how to evaluate it."""

    node: Any
    work: Callable[[], Any]


class Elements:
    """What the elements of one initialiser list read and write, as far as they are evaluated (C11 6.7.9p23)."""

    def __init__(self) -> None:
        self._reads: set[Key] = set()
        self._writes: set[Key] = set()

    def add(self, watch: Watch, node: Any) -> None:
        """Enter one element; refuse it where its order with an earlier one would matter."""
        clash = (watch.writes & (self._reads | self._writes)) | (self._writes & watch.reads)
        if clash:
            raise _in_no_order(clash, "initialiser list", node)
        self._reads |= watch.reads
        self._writes |= watch.writes


class Sequencing(MemoryAccess):
    """Finds unsequenced side effects (C11 6.5p2)."""

    def __init__(self) -> None:
        super().__init__()
        self._effects: dict[int, tuple[bool, Any]] = {}

    def unsequenced(self, node: Any, left: Operand, right: Operand, assigns: str = "") -> tuple[Any, Any]:
        """Evaluate two operands; refuse where their order would matter.

        ``assigns`` is the operator of an assignment to the place that ``left`` yields.
        """
        if not (self.has_effects(left.node) or self.has_effects(right.node)):
            return left.work(), right.work()
        first, a = self.watched(left.work)
        second, b = self.watched(right.work)
        clash = (a.writes & (b.reads | b.writes)) | (b.writes & a.reads)
        if assigns and isinstance(first, Place):
            targets = {(t.object, t.path) for t in first.targets}
            clash |= {key for key in (b.direct if assigns == "=" else b.writes) if key in targets}
        if clash:
            raise _in_no_order(clash, "expression", node)
        return first, second

    def watched(self, work: Callable[[], Any]) -> tuple[Any, Watch]:
        """The result of ``work`` and what it reads and writes."""
        watch = Watch(self.depth)
        self.watches.append(watch)
        try:
            return work(), watch
        finally:
            self.watches.remove(watch)

    def has_effects(self, node: Any) -> bool:
        """Whether evaluating ``node`` may change memory (it assigns, steps or calls)."""
        todo = [node]
        while todo:
            item = todo[-1]
            children = _evaluated(item) if id(item) not in self._effects else []
            missing = [child for child in children if id(child) not in self._effects]
            if missing and not _changes(item):
                todo += missing
                continue
            if id(item) not in self._effects:
                self._effects[id(item)] = _changes(item) or any(self._effects[id(c)][0] for c in children), item
            todo.pop()
        return self._effects[id(node)][0]


def _in_no_order(keys: Iterable[Key], what: str, node: Any) -> UnsupportedConstruct:
    name = min(variable_name(*key) for key in keys)
    return unsupported(f"'{name}' is changed and used in one {what} in no given order", node)


def _evaluated(node: Any) -> list[Any]:
    """The parts of a syntax node that are evaluated with it: not those of ``sizeof``."""
    unevaluated = isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof")
    return [] if unevaluated else [child for _, child in node.children()]


def _changes(node: Any) -> bool:
    """Whether a syntax node by itself, not counting its parts, changes memory."""
    changing = isinstance(node, c_ast.Assignment | c_ast.FuncCall | c_ast.CompoundLiteral)
    return changing or (isinstance(node, c_ast.UnaryOp) and node.op in STEPS)
