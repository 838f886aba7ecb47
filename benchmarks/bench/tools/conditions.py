"""Formulas as C conditions that a person could have written: over a program's own variables, with logical operators.

What is more than a comparison of variables and constants is translated as for the compiled kernels of the search.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.formulas.terms import number
from bmc.native.kernel import arguments_of, bits_of, expression, word_of

UNSIGNED = {8: "unsigned char", 16: "unsigned short", 32: "unsigned int", 64: "unsigned long long"}
SIGNED = {8: "signed char", 16: "short", 32: "int", 64: "long long"}

_COMPARED = {
    op.EQUALS: "==",
    op.BV_ULT: "<",
    op.BV_ULE: "<=",
    op.BV_SLT: "<",
    op.BV_SLE: "<=",
}


class Conditions:
    """Translates formulas; temporary values are called ``cc_tN``, each N once."""

    def __init__(self) -> None:
        self._made = 0

    def translated(self, formulas: Sequence[FNode], leaf: Callable[[FNode], str]) -> tuple[list[str], list[str]]:
        """Declarations that compute ``formulas``, and their values. ``leaf`` gives the C of a symbol: 0 or 1 for a
        Boolean, an integer of its width, or ``p32(x)`` or ``p64(x)`` for a floating x."""
        nodes = _in_order(formulas)
        names: dict[FNode, str] = {}
        leaves = {node: leaf(node) for node in nodes if node.is_symbol()}
        readers = Counter(argument for node in nodes for argument in arguments_of(node))
        lines: list[str] = []
        for node in nodes:
            if node.is_symbol():
                names[node] = leaves[node] if _whole(node, leaves[node]) else f"((u64){_unsigned(node, leaves)})"
                continue
            text = _condition(node, names, leaves) if not bits_of(node) else ""
            text = text or _with_numbers(expression(node, names), node, leaves)
            if text in names.values():
                names[node] = text
            elif node.is_constant() or (not bits_of(node) and readers[node] <= 1):
                names[node] = f"({text})"
            else:
                self._made += 1
                names[node] = f"cc_t{self._made}"
                lines.append(f"{word_of(node) if bits_of(node) else '_Bool'} {names[node]} = {text};")
        values = [_bare(names[formula]) for formula in formulas]
        return _read(lines, values), values


def _read(lines: Sequence[str], values: Sequence[str]) -> list[str]:
    """Those of ``lines`` that ``values`` read, directly or not."""
    kept: list[str] = []
    used = set(_TEMPORARY.findall(" ".join(values)))
    for line in reversed(lines):
        name, *read = _TEMPORARY.findall(line)
        if name in used:
            kept.append(line)
            used.update(read)
    return kept[::-1]


_TEMPORARY = re.compile(r"\bcc_t\d+\b")


def _in_order(formulas: Sequence[FNode]) -> list[FNode]:
    """All terms that the translation of ``formulas`` reads, each after those that it reads itself."""
    found: dict[FNode, None] = {}
    todo = [(formula, False) for formula in reversed(formulas)]
    while todo:
        node, ready = todo.pop()
        if node in found:
            continue
        if ready or not arguments_of(node):
            found[node] = None
        else:
            todo.append((node, True))
            todo += [(argument, False) for argument in reversed(arguments_of(node))]
    return list(found)


def _whole(symbol: FNode, text: str) -> bool:
    """Whether the C of a symbol is a value of the translation as it is."""
    return not bits_of(symbol) or text.startswith(("p32(", "p64("))


def _bare(text: str) -> str:
    """``text`` without parentheses around all of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if not depth:
            return text[1:-1] if text.startswith("(") and place == len(text) - 1 else text
    return text


def _condition(node: FNode, names: Mapping[FNode, str], leaves: Mapping[FNode, str]) -> str:
    """The C of a Boolean term of logical operators, or of a comparison of variables and constants; '' for others."""
    if arguments_of(node) != tuple(node.args()):
        return ""
    kind = node.node_type()
    if kind == op.AND:
        return " && ".join(names[argument] for argument in node.args())
    if kind == op.OR:
        return " || ".join(names[argument] for argument in node.args())
    if kind == op.NOT:
        return f"!{names[node.arg(0)]}"
    if kind not in _COMPARED:
        return ""
    signs = kind in (op.BV_SLT, op.BV_SLE) or (kind == op.EQUALS and any(arg.is_bv_sext() for arg in node.args()))
    side = _signed if signs else _unsigned
    left, right = (side(argument, leaves) for argument in node.args())
    return f"{left} {_COMPARED[kind]} {right}" if left and right else ""


def _unsigned(node: FNode, leaves: Mapping[FNode, str]) -> str:
    """The C of a variable, extended or not, or of a constant, where its value is not negative; '' for others."""
    if node.is_constant():
        return f"{node.constant_value()}{'u' if bits_of(node) <= 32 else 'ull'}" if bits_of(node) <= 64 else ""
    symbol = node.arg(0) if node.is_bv_zext() else node
    if symbol not in leaves or _whole(symbol, leaves[symbol]):
        return ""
    return f"({UNSIGNED.get(bits_of(symbol), 'u64')}){leaves[symbol]}"


def _signed(node: FNode, leaves: Mapping[FNode, str]) -> str:
    """The C of a variable, extended or not, or of a constant, with its sign; '' for others."""
    if node.is_constant():
        value = number(node, True)
        return str(value) if -(1 << 31) < value < 1 << 31 else ""
    if node.is_bv_zext():
        text = _unsigned(node, leaves)
        return f"(long long){text}" if text and bits_of(node.arg(0)) < 64 else ""
    symbol = node.arg(0) if node.is_bv_sext() else node
    if symbol not in leaves or bits_of(symbol) not in SIGNED or _whole(symbol, leaves[symbol]):
        return ""
    return f"({SIGNED[bits_of(symbol)]}){leaves[symbol]}"


def _with_numbers(text: str, node: FNode, leaves: Mapping[FNode, str]) -> str:
    """``text``, the C of ``node``, with floating variables and constants as such in place of conversions from bits."""
    for argument in arguments_of(node):
        for bits in (32, 64):
            if argument in leaves and leaves[argument].startswith(f"p{bits}("):
                text = text.replace(f"f{bits}({leaves[argument]})", leaves[argument][3:])
            elif argument.is_constant() and bits_of(argument) == bits:
                raw = int(argument.constant_value())
                (value,) = struct.unpack("<f" if bits == 32 else "<d", raw.to_bytes(bits // 8, "little"))
                if isfinite(value):
                    text = text.replace(f"f{bits}(({raw}ull))", f"{value!r}{'f' if bits == 32 else ''}")
    return text
