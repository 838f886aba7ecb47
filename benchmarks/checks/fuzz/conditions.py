"""Conditions of properties, read and evaluated by plain means: a reference for ``properties.text``.

C's integers and doubles with their promotions, ``X(e)`` for the next step, short circuits, and what C leaves undefined.
What a text may have beyond that (members, calls, macros) is ``Unknown``: then there is nothing to compare.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s+|(?:[is]->)?[A-Za-z_]\w*|\d(?:[\w.]|(?<=[eE])[+-])*|'(?:[^'\\\n])'|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:(),]",
    re.S,
)
_LEVELS: tuple[tuple[str, ...], ...] = (
    *(("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>")),
    *(("+", "-"), ("*", "/", "%")),
)
"""Operators with two operands, the ones that bind least first."""


class Unknown(Exception):
    """The text is none of those that the reference can read."""


class Undefined(Exception):
    """C leaves undefined what happens."""


@dataclass(frozen=True)
class CType:
    """An integer type by its bits, or ``double``; ``_Bool`` has one bit. Types are ordered as in C's conversions."""

    bits: int
    signed: bool
    rank: int
    floating: bool = False

    def holds(self, number: float) -> bool:
        """Whether an integer of this value fits."""
        low = -(1 << self.bits - 1) if self.signed else 0
        return low <= number < low + (1 << self.bits)

    def wrapped(self, number: int) -> int:
        """``number`` converted as gcc does: modulo the power of two."""
        number &= (1 << self.bits) - 1
        return number - (1 << self.bits) if self.signed and number >> self.bits - 1 else number


BOOL, SCHAR, UCHAR = CType(1, False, 0), CType(8, True, 1), CType(8, False, 1)
SHORT, USHORT = CType(16, True, 2), CType(16, False, 2)
INT, UINT, LONG, ULONG = CType(32, True, 3), CType(32, False, 3), CType(64, True, 4), CType(64, False, 4)
LONGLONG, ULONGLONG = CType(64, True, 5), CType(64, False, 5)
DOUBLE = CType(64, True, 9, True)
TYPES = {
    "_Bool": BOOL,
    "signed char": SCHAR,
    "unsigned char": UCHAR,
    "short": SHORT,
    "unsigned short": USHORT,
    "int": INT,
    "unsigned": UINT,
    "unsigned int": UINT,
    "long": LONG,
    "unsigned long": ULONG,
    "long long": LONGLONG,
    "unsigned long long": ULONGLONG,
    "double": DOUBLE,
    "u8": UCHAR,
}

Value = tuple[CType, int | float]
Lookup = Callable[[str, int], int | float]
"""The value of a variable at a step."""
Node = Callable[[Lookup, int], Value]
"""An expression: its value at a step."""


@dataclass(frozen=True)
class Names:
    """What a condition may name: variables with their types, those of them that are inputs, and constants."""

    variables: Mapping[str, CType]
    inputs: frozenset[str]
    constants: Mapping[str, int]


class Reader:
    """Reads one condition; ``length`` is J of what has been read."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tokens: list[str] = []
        self._at = 0
        self._step = 0
        self.length = 0

    def read(self, text: str) -> Node:
        """The condition. Unknown if it is none that can be read here."""
        self._tokens, self._at = [], 0
        end = 0
        while end < len(text):
            found = _TOKEN.match(text, end)
            if found is None:
                raise Unknown(text[end:])
            end = found.end()
            if not found[0].isspace():
                self._tokens.append(found[0])
        node = self._comma()
        if self._at < len(self._tokens):
            raise Unknown(self._tokens[self._at])
        return node

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str = "") -> str:
        found = self._next
        if not found or (token and found != token):
            raise Unknown(f"{found} for {token}")
        self._at += 1
        return found

    def _comma(self) -> Node:
        node = self._ternary()
        while self._next == ",":
            self._take()
            node = _second(node, self._ternary())
        return node

    def _ternary(self) -> Node:
        condition = self._binary(0)
        if self._next != "?":
            return condition
        self._take()
        then = self._comma()
        self._take(":")
        return _chosen(condition, then, self._ternary())

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._binary(level + 1)
        while self._next in _LEVELS[level]:
            operator = self._take()
            node = _operation(operator, node, self._binary(level + 1))
        return node

    def _unary(self) -> Node:
        token = self._take()
        if token in ("-", "+", "~", "!"):
            return _unary(token, self._unary())
        if token == "(":
            end = self._at
            while end < len(self._tokens) and re.fullmatch(r"[A-Za-z_]\w*", self._tokens[end]):
                end += 1
            words = " ".join(self._tokens[self._at : end])
            if words in TYPES and self._tokens[end : end + 1] == [")"]:
                self._at = end + 1
                return _cast(TYPES[words], self._unary())
            node = self._comma()
            self._take(")")
            return node
        if token == "X" and self._next == "(":
            return self._later()
        self.length = max(self.length, self._step)
        if token[0].isdigit() or token[0] == "'":
            return _constant(token)
        name = token.rpartition(">")[2]
        if name in self._names.constants:
            number = self._names.constants[name]
            return lambda lookup, step: (INT, number)
        if name not in self._names.variables or self._next == "(":
            raise Unknown(name)
        ctype = self._names.variables[name]
        if name in self._names.inputs:
            self.length = max(self.length, self._step + 1)
        return lambda lookup, step: (ctype, lookup(name, step))

    def _later(self) -> Node:
        self._take("(")
        self._step += 1
        inner = self._ternary()
        self._step -= 1
        self._take(")")
        return lambda lookup, step: inner(lookup, step + 1)


def holds(node: Node, lookup: Lookup) -> bool:
    """Whether the condition holds from step 0 on; where it is not defined it does not."""
    try:
        return bool(node(lookup, 0)[1] != 0)
    except Undefined:
        return False


def _promoted(value: Value) -> Value:
    ctype, number = value
    return (INT, number) if not ctype.floating and ctype.rank < INT.rank else value


def _common(left: Value, right: Value) -> tuple[CType, int | float, int | float]:
    """C's usual arithmetic conversions."""
    (one, a), (two, b) = _promoted(left), _promoted(right)
    if one.floating or two.floating:
        return DOUBLE, float(a), float(b)
    if one.signed == two.signed:
        ctype = max(one, two, key=lambda each: each.rank)
    else:
        signed, unsigned = (one, two) if one.signed else (two, one)
        if unsigned.rank >= signed.rank:
            ctype = unsigned
        elif signed.bits > unsigned.bits:
            ctype = signed
        else:
            ctype = next(each for each in (UINT, ULONG, ULONGLONG) if each.rank == signed.rank)
    return ctype, ctype.wrapped(int(a)), ctype.wrapped(int(b))


def _second(left: Node, right: Node) -> Node:
    def value(lookup: Lookup, step: int) -> Value:
        left(lookup, step)
        return right(lookup, step)

    return value


def _chosen(condition: Node, then: Node, other: Node) -> Node:
    def value(lookup: Lookup, step: int) -> Value:
        holds = condition(lookup, step)[1] != 0
        found = (then if holds else other)(lookup, step)
        zero: Value = (_type_of(other if holds else then), 0)
        ctype = _common((found[0], 0), zero)[0]
        return _converted(ctype, found)

    return value


def _type_of(node: Node) -> CType:
    """The type of an expression, which does not depend on values: one for which it is defined is looked for."""
    for number in (0, 1, 2, 3):
        try:
            return node(lambda name, step, number=number: number, 0)[0]  # type: ignore[misc]
        except Undefined:
            continue
    raise Unknown("type")


def _converted(ctype: CType, value: Value) -> Value:
    number = value[1]
    if ctype.floating:
        return ctype, float(number)
    if ctype == BOOL:
        return ctype, int(number != 0)
    if isinstance(number, float):
        if number != number or abs(number) == float("inf") or not ctype.holds(int(number)):
            raise Undefined
        return ctype, int(number)
    return ctype, ctype.wrapped(number)


def _cast(ctype: CType, inner: Node) -> Node:
    return lambda lookup, step: _converted(ctype, inner(lookup, step))


def _unary(operator: str, inner: Node) -> Node:
    def value(lookup: Lookup, step: int) -> Value:
        ctype, number = inner(lookup, step)
        if operator == "!":
            return INT, int(number == 0)
        ctype, number = _promoted((ctype, number))
        if operator == "+":
            return ctype, number
        if operator == "~":
            if isinstance(number, float):
                raise Unknown("~ of a double")
            return ctype, ctype.wrapped(~number)
        return _fitting(ctype, -number)

    return value


def _fitting(ctype: CType, number: int | float) -> Value:
    """The result of an operation: unsigned ones wrap, signed ones must fit."""
    if ctype.floating:
        return ctype, float(number)
    if ctype.signed and not ctype.holds(number):
        raise Undefined
    return ctype, ctype.wrapped(int(number))


def _operation(operator: str, left: Node, right: Node) -> Node:
    def value(lookup: Lookup, step: int) -> Value:
        one = left(lookup, step)
        if operator in ("&&", "||"):
            if (one[1] != 0) == (operator == "||"):
                return INT, int(operator == "||")
            return INT, int(right(lookup, step)[1] != 0)
        two = right(lookup, step)
        if operator in ("<<", ">>"):
            return _shifted(operator, _promoted(one), _promoted(two))
        ctype, a, b = _common(one, two)
        if operator in _COMPARISONS:
            return INT, int(_COMPARISONS[operator](a, b))
        if ctype.floating:
            return ctype, _floating(operator, float(a), float(b))
        return _fitting(ctype, _integer(operator, int(a), int(b), ctype))

    return value


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}


def _shifted(operator: str, left: Value, right: Value) -> Value:
    (ctype, number), (_, by) = left, right
    if isinstance(number, float) or isinstance(by, float):
        raise Unknown("a shift of a double")
    if not 0 <= by < ctype.bits:
        raise Undefined
    if operator == ">>":
        return ctype, number >> by
    if ctype.signed and (number < 0 or not ctype.holds(number << by)):
        raise Undefined
    return ctype, ctype.wrapped(number << by)


def _integer(operator: str, a: int, b: int, ctype: CType) -> int:
    if operator in ("/", "%"):
        if b == 0:
            raise Undefined
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if operator == "/":
            return quotient
        if not ctype.holds(quotient):
            raise Undefined
        return a - quotient * b
    return {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[operator]


def _floating(operator: str, a: float, b: float) -> float:
    if operator == "/":
        if b != 0:
            return a / b
        raise Unknown("a double divided by zero")
    if operator not in ("+", "-", "*"):
        raise Unknown(f"{operator} of doubles")
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


def _constant(token: str) -> Node:
    if token[0] == "'":
        number = ord(token[1])
        if number > 127:
            raise Unknown(token)
        return lambda lookup, step: (INT, number)
    if re.fullmatch(r"\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+", token):
        real = float(token)
        return lambda lookup, step: (DOUBLE, real)
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)([uU]?)([lL]?)", token)
    if found is None:
        raise Unknown(token)
    digits, unsigned, long = found.groups()
    number = int(digits, 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10)
    decimal = digits[0] != "0"
    rows = [INT, UINT, LONG, ULONG]
    fit = [t for t in rows if (not unsigned or not t.signed) and (not long or t.rank == 4)]
    fit = [t for t in fit if t.signed or unsigned or not decimal]
    ctype = next((t for t in fit if t.holds(number)), None)
    if ctype is None:
        raise Unknown(token)
    return lambda lookup, step: (ctype, number)
