"""What is left of a goal's antecedent while a run goes on: formulas over future steps, simplified by what was read.

A run is read in slots: slot 2k is the state at step k, slot 2k + 1 the input at step k, counted from the goal's start.
A residual is a number that stands for a Boolean formula; equal numbers are equal formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import FreshSymbol

from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import plain, unframed
from bmc.system.transition import symbols_of

FALSE, TRUE = 0, 1
Values = tuple[int, ...]
Key = tuple[Any, ...]

_CONSTANT, _MIXED = -1, -2
_CONNECTIVES = (op.AND, op.OR, op.NOT, op.IMPLIES, op.IFF, op.ITE)


class Terms:
    """Terms over plain symbols of one kind (state or input), numbered, and their values in a valuation."""

    def __init__(self) -> None:
        self._numbers: dict[FNode, int] = {}
        self._compiled: Callable[[Any], Values] | None = None

    def number(self, framed_term: FNode) -> int:
        """The number of a term all of whose symbols are at one step."""
        term = framed_term.substitute({s: plain(s) for s in symbols_of(framed_term)})
        self._compiled = None
        return self._numbers.setdefault(term, len(self._numbers))

    def values(self, valuation: Any) -> Values:
        """The values of all terms, by number."""
        if self._compiled is None:
            self._compiled = compile_formulas(list(self._numbers))
        return self._compiled(valuation)


class Residuals:
    """Makes residuals and reads slots into them. ``states`` and ``inputs`` say which terms' values a slot gives."""

    def __init__(self, input_names: Collection[str]) -> None:
        self.states, self.inputs = Terms(), Terms()
        self._input_names = frozenset(input_names)
        self._keys: list[Key] = [("false",), ("true",)]
        self._numbers: dict[Key, int] = {("false",): FALSE, ("true",): TRUE}
        self._atoms: list[_Atom] = []

    def of(self, formula: FNode) -> int:
        """The residual of a whole antecedent, of which nothing was read yet."""
        slots = self._slots(formula)
        made: dict[FNode, int] = {}
        for node in _post_order(formula, lambda node: self._parts(node, slots)):
            made[node] = self._made(node, slots, made)
        return made[formula]

    def read(self, residual: int, slot: int, values: Values) -> int:
        """``residual`` once the terms of ``slot`` are known to have ``values``."""
        needed = {residual}
        todo = [residual]
        while todo:
            for child in self._children(todo.pop()):
                if child not in needed:
                    needed.add(child)
                    todo.append(child)
        done: dict[int, int] = {}
        for number in sorted(needed):  # children have lower numbers
            done[number] = self._read_one(number, slot, values, done)
        return done[residual]

    def _read_one(self, number: int, slot: int, values: Values, done: dict[int, int]) -> int:
        kind, *rest = self._keys[number]
        if number in (FALSE, TRUE):
            return number
        if kind == "term":
            return number if rest[0] != slot else TRUE if values[rest[1]] else FALSE
        if kind == "atom":
            return self._atom(rest[0], self._atoms[rest[0]].known(rest[1], slot, values))
        return self._node(kind, [done[child] for child in rest])

    def _children(self, number: int) -> Sequence[int]:
        kind, *rest = self._keys[number]
        return () if kind in ("term", "atom") else rest

    def _slots(self, formula: FNode) -> dict[FNode, int]:
        """For each node the one slot that it reads, or that there is none or more than one."""
        slots: dict[FNode, int] = {}
        for node in _post_order(formula, lambda node: node.args()):
            if node.is_symbol():
                name, step = unframed(node)
                slots[node] = 2 * step + (name in self._input_names)
            else:
                below = {slots[a] for a in node.args()} - {_CONSTANT}
                slots[node] = _CONSTANT if not below else _MIXED if len(below) > 1 else below.pop()
        return slots

    def _parts(self, node: FNode, slots: dict[FNode, int]) -> Sequence[FNode]:
        """The arguments that become residuals of their own."""
        return node.args() if slots[node] == _MIXED and _is_connective(node) else ()

    def _made(self, node: FNode, slots: dict[FNode, int], made: dict[FNode, int]) -> int:
        slot = slots[node]
        if slot == _CONSTANT:
            return TRUE if compile_formulas([node])({})[0] else FALSE
        if slot != _MIXED:
            return self._number(("term", slot, self._terms(slot).number(node)))
        if not _is_connective(node):
            self._atoms.append(_Atom(self._pieces(node, slots), node))
            return self._atom(len(self._atoms) - 1, (None,) * len(self._atoms[-1].places))
        arguments = [made[a] for a in node.args()]
        if node.is_implies():
            return self._node("or", [self._node("not", arguments[:1]), arguments[1]])
        return self._node(op.op_to_str(node.node_type()).lower(), arguments)

    def _pieces(self, atom: FNode, slots: dict[FNode, int]) -> dict[FNode, tuple[int, int]]:
        """The largest parts of ``atom`` that read one slot each: their slots and term numbers."""
        inner = list(_post_order(atom, lambda node: node.args() if slots[node] == _MIXED else ()))
        pure = [node for node in inner if slots[node] >= 0]
        return {node: (slots[node], self._terms(slots[node]).number(node)) for node in pure}

    def _terms(self, slot: int) -> Terms:
        return self.inputs if slot % 2 else self.states

    def _atom(self, atom: int, known: tuple[int | None, ...]) -> int:
        if None in known:
            return self._number(("atom", atom, known))
        return TRUE if self._atoms[atom].holds(known) else FALSE

    def _node(self, kind: str, arguments: Sequence[int]) -> int:
        """The simplified residual of a connective."""
        if kind == "not":
            return self._negation(arguments[0])
        if kind in ("and", "or"):
            neutral, final = (TRUE, FALSE) if kind == "and" else (FALSE, TRUE)
            left = sorted(set(arguments) - {neutral})
            if final in left or not left:
                return final if left else neutral
            return left[0] if len(left) == 1 else self._number((kind, *left))
        if kind == "iff":
            first, second = sorted(arguments)
            if first == second:
                return TRUE
            if first in (FALSE, TRUE):
                return second if first == TRUE else self._negation(second)
            return self._number((kind, first, second))
        condition, yes, no = arguments
        if condition in (FALSE, TRUE):
            return yes if condition == TRUE else no
        return yes if yes == no else self._number((kind, condition, yes, no))

    def _negation(self, number: int) -> int:
        if number in (FALSE, TRUE):
            return TRUE - number
        key = self._keys[number]
        return int(key[1]) if key[0] == "not" else self._number(("not", number))

    def _number(self, key: Key) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return self._numbers[key]


class _Atom:
    """A relation between values of several slots: ``pieces`` are its parts that read one slot each."""

    def __init__(self, pieces: dict[FNode, tuple[int, int]], formula: FNode) -> None:
        self.places = tuple(pieces.values())
        symbols = {part: FreshSymbol(part.get_type()) for part in pieces}
        self._names = [symbol.symbol_name() for symbol in symbols.values()]
        self._holds = compile_formulas([formula.substitute(symbols)])

    def known(self, before: tuple[int | None, ...], slot: int, values: Values) -> tuple[int | None, ...]:
        """The pieces' values, None where not known, once ``slot`` was read."""
        fresh = zip(before, self.places, strict=True)
        return tuple(values[term] if place == slot else old for old, (place, term) in fresh)

    def holds(self, values: Sequence[int | None]) -> bool:
        return bool(self._holds(dict(zip(self._names, values, strict=True)))[0])  # type: ignore[arg-type]


def _is_connective(node: FNode) -> bool:
    """A connective of Booleans, and not an if-then-else of numbers."""
    return node.node_type() in _CONNECTIVES and (not node.is_ite() or node.arg(1).get_type().is_bool_type())


def _post_order(formula: FNode, arguments: Callable[[FNode], Iterable[FNode]]) -> Iterable[FNode]:
    """Every node under ``formula`` once, its ``arguments`` before it."""
    order: dict[FNode, None] = {}
    stack = [(formula, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order[node] = None
        elif node not in order:
            stack.append((node, True))
            stack.extend((a, False) for a in arguments(node) if a not in order)
    return order
