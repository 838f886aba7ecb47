"""C99 text: strings that hold any name, tables of numbers, and formulas of bit-vectors as unsigned arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.errors import printable
from bmc.formulas.evaluate import post_order
from bmc.records import dataclass

LONGEST = 200
"""Characters of a name or a text that a harness holds; twice as many take twice the memory for texts."""
MOST_BITS = 64
"""The widest word of C99."""
LONG_EXPRESSION = 200
"""Characters of an expression that becomes a part of another one; a longer one has a variable."""


def c_string(text: str) -> str:
    """``text`` as a C string literal: neither its quotes nor its trigraphs mean anything in C."""
    return '"' + "".join(_character(byte) for byte in text.encode("utf-8")) + '"'


def _character(byte: int) -> str:
    if byte in b'"\\?':
        return f"\\{chr(byte)}"
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def tap_text(text: str) -> str:
    """``text`` as the description of a test in TAP 14, on one line: no part of it is a directive."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return printable(shown).replace("\\", "\\\\").replace("#", "\\#")


def c_comment(text: str) -> str:
    """``text`` as a part of a C comment, which it does not end."""
    return re.sub(r"[^ -~]", "?", printable(text)).replace("*/", "* /").replace("??/", "?? /").replace("\\", "/")


def identifiers(names: Sequence[str], prefix: str) -> dict[str, str]:
    """A C identifier for each of ``names``, which begins with ``prefix``; no two are the same."""
    found: dict[str, str] = {}
    for name in names:
        plain = prefix + re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        number, chosen = 2, plain
        while chosen in found.values():
            number, chosen = number + 1, f"{plain}_{number}"
        found[name] = chosen
    return found


# tables


def table(values: Sequence[int], bits: int) -> bytes:
    """``values`` (raw, of ``bits`` bits) as bytes: pieces in which each value follows the one before by one difference.

    A piece is: twice its number of values, plus 1 if the difference is not 0; its first value less the last one before;
    the difference, if it is not 0. Numbers have 7 bits a byte, the lowest first; of a difference n they are 2n, or
    -2n - 1.
    """
    found, place, last = bytearray(), 0, 0
    while place < len(values):
        length, difference = _piece(values, place, bits)
        found += _number(2 * length + (difference != 0))
        found += _number(_folded(values[place] - last, bits))
        if difference:
            found += _number(_folded(difference, bits))
        place += length
        last = values[place - 1]
    return bytes(found)


def _piece(values: Sequence[int], place: int, bits: int) -> tuple[int, int]:
    """How many values from ``place`` on have one difference, and which."""
    if place + 1 == len(values):
        return 1, 0
    size = 1 << bits
    difference = (values[place + 1] - values[place]) % size
    end = place + 1
    while end < len(values) and (values[end] - values[end - 1]) % size == difference:
        end += 1
    length = end - place
    return (1, 0) if difference and length == 2 else (length, difference)


def _folded(difference: int, bits: int) -> int:
    size = 1 << bits
    near = (difference + size // 2) % size - size // 2
    return 2 * near if near >= 0 else -2 * near - 1


def _number(value: int) -> bytes:
    found = bytearray()
    while value >= 128:
        found.append(value % 128 + 128)
        value //= 128
    return bytes([*found, value])


# formulas


class NotInC(Exception):
    """A formula has a term that is wider than the words of C99."""


def width(node: FNode) -> int:
    """The bits of a term, 0 for a Boolean."""
    kind = node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


def widest(formulas: Sequence[FNode]) -> int:
    """The bits of the widest term."""
    return max((width(node) for node in post_order(formulas)), default=0)


@dataclass(frozen=True, slots=True)
class CWord:
    """The unsigned type ``cc_word``, of 32 or 64 ``bits``, in which a harness computes."""

    bits: int

    def literal(self, value: int) -> str:
        """A constant of the type."""
        return f"UINT{self.bits}_C({value})"

    def mask(self, bits: int) -> str:
        """The greatest number of so many bits."""
        return self.literal((1 << bits) - 1)


def computed(
    formulas: Sequence[FNode], symbol: Callable[[FNode], str], word: CWord
) -> tuple[Sequence[str], Sequence[str]]:
    """The C statements that compute ``formulas``, and the expressions of their values. ``symbol`` reads a symbol.

    NotInC for a term that no word holds.
    """
    if widest(formulas) > word.bits:
        raise NotInC(f"a term has {widest(formulas)} bits")
    order = post_order(formulas)
    shared = _read_twice(order)
    statements: list[str] = []
    texts: dict[FNode, str] = {}
    for node in order:
        text = _text(node, [texts[each] for each in node.args()], symbol, word)
        if node.args() and (node in shared or len(text) > LONG_EXPRESSION):
            name = f"t{len(statements)}"
            statements.append(f"const {'int' if not width(node) else 'cc_word'} {name} = {text};")
            text = name
        texts[node] = text
    return statements, [texts[formula] for formula in formulas]


def _read_twice(order: Sequence[FNode]) -> set[FNode]:
    """The nodes that more than one place reads, or one whose text repeats them."""
    seen, found = set[FNode](), set[FNode]()
    for node in order:
        repeats = node.node_type() in _REPEATING
        for argument in node.args():
            if argument in seen or repeats:
                found.add(argument)
            seen.add(argument)
    return found


def _text(node: FNode, given: Sequence[str], symbol: Callable[[FNode], str], word: CWord) -> str:
    kind = node.node_type()
    if node.is_symbol():
        return symbol(node)
    if kind == op.BOOL_CONSTANT:
        return str(int(node.constant_value()))
    if kind == op.BV_CONSTANT:
        return word.literal(int(node.constant_value()))
    if kind in _JOINS:
        return f"({f' {_JOINS[kind]} '.join(given)})"
    pattern = _PATTERNS.get(kind, "")
    if not pattern and kind not in (op.BV_ROL, op.BV_ROR):
        raise NotInC(f"the operator {op.op_to_str(kind)} is neither Boolean nor of bit-vectors")
    bits, first = width(node), width(node.args()[0])
    sizes = {
        "bits": word.literal(bits),
        "mask": word.mask(bits),
        "top": word.literal(1 << max(first - 1, 0)),
        "last": width(node.args()[-1]),
        "start": int(node.bv_extract_start()) if node.is_bv_extract() else 0,
    }
    if kind in (op.BV_ROL, op.BV_ROR):
        by = int(node.bv_rotation_step()) * (1 if kind == op.BV_ROL else -1) % bits
        turned = f"((({given[0]} << {by}) | ({given[0]} >> {bits - by})) & {sizes['mask']})"
        return turned if by else given[0]
    if kind == op.BV_CONCAT and sizes["last"] == word.bits:
        raise NotInC("a term has too many bits")
    return pattern.format(*given, **sizes)


_JOINS: Mapping[int, str] = {op.AND: "&&", op.OR: "||", op.BV_AND: "&", op.BV_OR: "|", op.BV_XOR: "^"}
_PATTERNS: Mapping[int, str] = {
    op.NOT: "(!{0})",
    op.IMPLIES: "(!{0} || {1})",
    op.IFF: "({0} == {1})",
    op.EQUALS: "({0} == {1})",
    op.ITE: "({0} ? {1} : {2})",
    op.BV_COMP: "(cc_word)({0} == {1})",
    op.BV_ULT: "cc_less({0}, {1})",
    op.BV_ULE: "(!cc_less({1}, {0}))",
    op.BV_SLT: "cc_less({0} ^ {top}, {1} ^ {top})",
    op.BV_SLE: "(!cc_less({1} ^ {top}, {0} ^ {top}))",
    op.BV_NOT: "({0} ^ {mask})",
    op.BV_NEG: "((0u - {0}) & {mask})",
    op.BV_ADD: "(({0} + {1}) & {mask})",
    op.BV_SUB: "(({0} - {1}) & {mask})",
    op.BV_MUL: "(({0} * {1}) & {mask})",
    op.BV_UDIV: "cc_divided({0}, {1}, {mask})",
    op.BV_UREM: "cc_rest({0}, {1})",
    op.BV_SDIV: "cc_quotient({0}, {1}, {top}, {mask})",
    op.BV_SREM: "cc_remainder({0}, {1}, {top}, {mask})",
    op.BV_LSHL: "cc_left({0}, {1}, {mask}, {bits})",
    op.BV_LSHR: "cc_right({0}, {1}, {bits})",
    op.BV_ASHR: "cc_shifted({0}, {1}, {top}, {mask}, {bits})",
    op.BV_CONCAT: "(({0} << {last}) | {1})",
    op.BV_EXTRACT: "(({0} >> {start}) & {mask})",
    op.BV_ZEXT: "{0}",
    op.BV_SEXT: "((({0} ^ {top}) - {top}) & {mask})",
}
"""Operators whose expression depends on sizes. Those that compare, divide and shift are calls, so that no compiler
warns of constants: that a comparison is always true, a divisor 0, a shift too wide."""
_REPEATING = frozenset({op.BV_ROL, op.BV_ROR})


HELPERS = {
    "cc_divided": """\
static cc_word cc_divided(cc_word a, cc_word b, cc_word mask) {
  return b ? a / b : mask;
}
""",
    "cc_rest": """\
static cc_word cc_rest(cc_word a, cc_word b) {
  return b ? a % b : a;
}
""",
    "cc_left": """\
static cc_word cc_left(cc_word a, cc_word by, cc_word mask, cc_word bits) {
  return by < bits ? (a << by) & mask : 0u;
}
""",
    "cc_right": """\
static cc_word cc_right(cc_word a, cc_word by, cc_word bits) {
  return by < bits ? a >> by : 0u;
}
""",
    "cc_quotient": """\
static cc_word cc_quotient(cc_word a, cc_word b, cc_word top, cc_word mask) {
  const cc_word x = (a & top) ? (0u - a) & mask : a, y = (b & top) ? (0u - b) & mask : b;
  if (!b) return (a & top) ? 1u : mask;
  return ((a ^ b) & top) ? (0u - x / y) & mask : x / y;
}
""",
    "cc_remainder": """\
static cc_word cc_remainder(cc_word a, cc_word b, cc_word top, cc_word mask) {
  const cc_word x = (a & top) ? (0u - a) & mask : a, y = (b & top) ? (0u - b) & mask : b;
  if (!b) return a;
  return (a & top) ? (0u - x % y) & mask : x % y;
}
""",
    "cc_shifted": """\
static cc_word cc_shifted(cc_word a, cc_word by, cc_word top, cc_word mask, cc_word bits) {
  if (by >= bits) return (a & top) ? mask : 0u;
  return (a & top) ? ((a >> by) | (mask ^ (mask >> by))) : a >> by;
}
""",
}
"""What formulas call, by its name."""


def helpers(text: str) -> Iterator[str]:
    """The helpers that ``text`` calls."""
    yield from (body for name, body in HELPERS.items() if f"{name}(" in text)
