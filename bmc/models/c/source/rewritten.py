"""Syntax of gcc and of C11 that the parser does not know, written as syntax that it knows; what it means is read later.

``typeof(x)`` becomes a struct with an array of ``sizeof(x)`` elements, for this may stand wherever a type may. A
type among the arguments of a built-in function becomes its ``sizeof``. ``a ?: b`` and the range ``a ... b`` become a
``?:`` with a name of its own in the middle. Behind each change a line marker puts what follows at its line and column.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any

from pycparser import c_ast

TYPEOF = "__chaincover_typeof__"
AUTO = "__chaincover_auto__"
GENERIC = "__chaincover_generic__"
COMPATIBLE = "__builtin_types_compatible_p"
CHOOSE = "__builtin_choose_expr"
CONSTANT = "__builtin_constant_p"
_SAME = "__chaincover_same__"
_RANGE = "__chaincover_to__"

_WORDS = ("typeof", "__auto_type", "_Generic", COMPATIBLE)
_SIGNS = (re.compile(r"\?\s*:"), re.compile(r"\.\.\.\s*[^)\s]"))
_TOKEN = re.compile(
    r'^#[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\.\.\.|\S', re.M
)
COLUMNS = 1000
"""Behind this column of a line, which macros may make very long, a change moves the columns of what follows."""
_LINE = re.compile(r'^#line (\d+) ("[^\n]*")', re.M)
_TYPEOF = ("typeof", "__typeof", "__typeof__")


def rewritten(text: str) -> str:
    """Preprocessed ``text`` in syntax that the parser knows."""
    wanted = any(word in text for word in _WORDS) or any(sign.search(text) for sign in _SIGNS)
    return _Writer(text).written() if wanted else text


class _Writer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [found for found in _TOKEN.finditer(text) if found[0][0] != "#"]
        self.partners = self._partners()
        self.edits: list[tuple[int, int, str]] = []

    def written(self) -> str:
        handlers: dict[str, Callable[[int], None]] = dict.fromkeys(_TYPEOF, self._typeof)
        handlers |= {"__auto_type": self._auto, "_Generic": self._generic, COMPATIBLE: self._compatible}
        handlers |= {"?": self._conditional, "...": self._range}
        for number, token in enumerate(self.tokens):
            if token[0] in handlers:
                handlers[token[0]](number)
        return self._edited()

    def _word(self, number: int) -> str:
        return self.tokens[number][0] if 0 <= number < len(self.tokens) else ""

    def _replace(self, number: int, new: str) -> None:
        self.edits.append((self.tokens[number].start(), self.tokens[number].end(), new))

    def _partners(self) -> dict[int, int]:
        """The closing bracket of each opening one, by their numbers."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for number, token in enumerate(self.tokens):
            if token[0] in ("(", "[", "{"):
                opened.append(number)
            elif token[0] in (")", "]", "}") and opened:
                found[opened.pop()] = number
        return found

    def _arguments(self, number: int) -> list[tuple[int, int]]:
        """The arguments in the brackets that open at a token: the first token of each, and the one behind it."""
        end = self.partners.get(number) if self._word(number) == "(" else None
        found: list[tuple[int, int]] = []
        start = at = number + 1
        while end is not None and at < end:
            if self._word(at) == ",":
                found.append((start, at))
                start = at + 1
            at = self.partners.get(at, at) + 1
        return [] if end is None else [*found, (start, end)]

    def _typeof(self, number: int) -> None:
        arguments = self._arguments(number + 1)
        if arguments:
            self.edits.append(
                (self.tokens[number].start(), self.tokens[number + 1].end(), f"struct {{ int {TYPEOF}[sizeof(")
            )
            self._replace(arguments[-1][1], ")]; }")

    def _auto(self, number: int) -> None:
        self._replace(number, f"struct {{ int {AUTO}; }}")

    def _as_size(self, start: int, end: int) -> None:
        """Write the type from one token up to another as its size."""
        self.edits.append((self.tokens[start].start(), self.tokens[start].start(), "sizeof("))
        self.edits.append((self.tokens[end - 1].end(), self.tokens[end - 1].end(), ")"))

    def _generic(self, number: int) -> None:
        arguments = self._arguments(number + 1)
        colons = [self._colon(*each) for each in arguments[1:]]
        if not arguments or None in colons:
            return
        self._replace(number, GENERIC)
        for (start, _), colon in zip(arguments[1:], colons, strict=True):
            assert colon is not None
            if self._word(start) == "default":
                self._replace(start, "0")
            else:
                self._as_size(start, colon)
            self._replace(colon, ",")

    def _colon(self, start: int, end: int) -> int | None:
        return next((number for number in range(start + 1, end) if self._word(number) == ":"), None)

    def _compatible(self, number: int) -> None:
        for start, end in self._arguments(number + 1):
            if start < end:
                self._as_size(start, end)

    def _conditional(self, number: int) -> None:
        if self._word(number + 1) == ":":
            end = self.tokens[number].end()
            self.edits.append((end, end, f" {_SAME} "))

    def _range(self, number: int) -> None:
        if self._word(number - 1) not in (",", "(") and self._word(number + 1) != ")":
            self._replace(number, f"? {_RANGE} :")

    def _edited(self) -> str:
        markers = [(found.start(), int(found[1]), found[2]) for found in _LINE.finditer(self.text)]
        starts = [marker[0] for marker in markers]
        ends = [found.start() for found in re.finditer("\n", self.text)]
        parts, position = [], 0
        for start, end, new in sorted(self.edits):
            parts += [self.text[position:start], new]
            position = end
            index = bisect_right(starts, end) - 1
            column = end - self.text.rfind("\n", max(end - COLUMNS, 0), end) - 1
            if index >= 0 and len(new) != end - start and column < COLUMNS:
                at, line, file = markers[index]
                number = line + bisect_left(ends, end) - bisect_left(ends, at) - 1
                parts.append(f"\n#line {number} {file}\n{' ' * column}")
        return "".join([*parts, self.text[position:]])


def type_marker(node: Any) -> tuple[str, Any]:
    """What a struct that was written for a type stands for, ``TYPEOF`` or ``AUTO``, and the ``sizeof`` of its operand.

    '' for any other struct.
    """
    first = node.decls[0] if isinstance(node, c_ast.Struct) and node.name is None and node.decls else None
    name = str(first.name) if isinstance(first, c_ast.Decl) else ""
    return (name, getattr(first.type, "dim", None)) if first is not None and name in (TYPEOF, AUTO) else ("", None)


def is_elvis(node: Any) -> bool:
    """Whether a ``?:`` was written without its middle operand."""
    return isinstance(node, c_ast.TernaryOp) and isinstance(node.iftrue, c_ast.ID) and node.iftrue.name == _SAME


def range_of(node: Any) -> tuple[Any, Any] | None:
    """The two ends of a range ``a ... b``; None for anything else."""
    if isinstance(node, c_ast.TernaryOp) and isinstance(node.iftrue, c_ast.ID) and node.iftrue.name == _RANGE:
        return node.cond, node.iffalse
    return None


def pairs_of(node: Any) -> Iterator[tuple[Any, Any]]:
    """The types of a ``_Generic`` selection with their expressions; for ``default`` the type is None."""
    items = node.args.exprs[1:]
    for named, expression in zip(items[::2], items[1::2], strict=True):
        yield (None if isinstance(named, c_ast.Constant) else named.expr), expression


def is_selection(node: Any) -> bool:
    """Whether a call evaluates its operands only in part, or not at all."""
    named = isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    return named and node.name.name in (GENERIC, CHOOSE, CONSTANT)
