"""The value of the condition of ``#if`` (C11 6.10.1), as gcc computes it: in 64 bits, signed or unsigned."""

from __future__ import annotations

import re
from collections.abc import Callable

from bmc.limits import whole_number
from bmc.models.c.source.compiler_macros import TESTS, has
from bmc.models.c.source.macros import Expansion
from bmc.models.c.source.tokens import CHARACTER, END, MARK, NUMBER, PADDING, WORD, Token, character
from bmc.records import dataclass

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)([uU]?(?:l|L|ll|LL)?|(?:l|L|ll|LL)[uU])")
_ALL = (1 << 64) - 1
_GREATEST = _ALL >> 1
_LEVELS = {
    **{",": 1, "?": 2, "||": 3, "&&": 4, "|": 5, "^": 6, "&": 7, "==": 8, "!=": 8},
    **{"<": 9, ">": 9, "<=": 9, ">=": 9, "<<": 10, ">>": 10, "+": 11, "-": 11, "*": 12, "/": 12, "%": 12},
}
"""How strongly the binary operators bind."""
_UNARY = {"!", "~", "-", "+"}


@dataclass(frozen=True, slots=True)
class _Number:
    value: int
    """Between -2^63 and 2^63 - 1, or up to 2^64 - 1 where it is unsigned."""
    unsigned: bool = False


def _cut(value: int, unsigned: bool) -> _Number:
    value &= _ALL
    return _Number(value if unsigned or value <= _GREATEST else value - _ALL - 1, unsigned)


class Condition:
    """One condition, whose tokens are read from an expansion; ``refuse_test``: called for each test whose answer only
    the compiler knows. ValueError with what is wrong in it."""

    def __init__(self, expansion: Expansion, char_signed: bool, refuse_test: Callable[[Token], None]) -> None:
        self.expansion, self.char_signed, self.refuse_test = expansion, char_signed, refuse_test
        self.skipped = 0
        """Above 0, the value of what is read does not count: it is behind ``0 &&`` or the like."""
        self.token = self._next()

    def value(self) -> bool:
        """Whether it holds."""
        result = self._binary(1)
        if self.token.kind != END:
            raise ValueError(f"'{self.token.text}' stands where an operator is expected")
        return result.value != 0

    def _next(self) -> Token:
        while (token := self.expansion.get()).kind == PADDING:
            pass
        self.token = token
        return token

    def _binary(self, level: int) -> _Number:
        left = self._operand()
        while self.token.kind == MARK and _LEVELS.get(self.token.text, 0) >= level:
            operator = self.token.text
            self._next()
            if operator == "?":
                left = self._choice(left)
                continue
            decided = (operator == "&&" and not left.value) or (operator == "||" and left.value != 0)
            self.skipped += decided
            right = self._binary(_LEVELS[operator] + 1)
            self.skipped -= decided
            left = self._operated(operator, left, right)
        return left

    def _choice(self, condition: _Number) -> _Number:
        self.skipped += not condition.value
        then = self._binary(1)
        self.skipped -= not condition.value
        if self.token.text != ":":
            raise ValueError("'?' without ':'")
        self._next()
        self.skipped += condition.value != 0
        other = self._binary(2)
        self.skipped -= condition.value != 0
        return _cut((then if condition.value else other).value, then.unsigned or other.unsigned)

    def _operand(self) -> _Number:
        token = self.token
        if token.kind == MARK and token.text in _UNARY:
            self._next()
            inner = self._operand()
            if token.text == "!":
                return _Number(int(not inner.value))
            number = {"~": ~inner.value, "-": -inner.value, "+": inner.value}[token.text]
            return _cut(number, inner.unsigned)
        if token.text == "(" and token.kind == MARK:
            self._next()
            inner = self._binary(1)
            if self.token.text != ")":
                raise ValueError("a ')' is missing")
            self._next()
            return inner
        result = self._primary(token)
        self._next()
        return result

    def _primary(self, token: Token) -> _Number:
        if token.kind == NUMBER:
            found = _INTEGER.fullmatch(token.text)
            if found is None:
                raise ValueError(f"'{token.text}' is no integer")
            digits = found[1]
            base = 8 if digits.startswith("0") and digits.isdigit() else 0
            number = whole_number(digits, base)
            if number > _ALL:
                raise ValueError(f"'{token.text}' is too large")
            return _Number(number, "u" in found[2].lower() or number > _GREATEST)
        if token.kind == CHARACTER:
            try:
                return _Number(character(token.text, self.char_signed))
            except SyntaxError:
                raise ValueError(f"the character constant {token.text} has no value here") from None
        if token.kind == WORD and token.text in TESTS:
            return _Number(int(self._has(token)))
        if token.kind == WORD:
            return _Number(int(self._defined())) if token.text == "defined" else _Number(0)
        what = "it ends too early" if token.kind == END else f"'{token.text}' is no value"
        raise ValueError(what)

    def _defined(self) -> bool:
        """What ``defined`` says of the name behind it."""
        self.expansion.literal += 1
        try:
            name = self._next()
            brackets = name.text == "("
            if brackets:
                name = self._next()
            if name.kind != WORD:
                raise ValueError("'defined' is not followed by a name")
            if brackets and self._next().text != ")":
                raise ValueError("a ')' is missing after 'defined'")
        finally:
            self.expansion.literal -= 1
        return name.text in self.expansion.macros or name.text in TESTS

    def _has(self, test: Token) -> bool:
        """What the compiler says of the name in brackets behind a test."""
        self.expansion.literal += 1
        try:
            words = [self._next().text for _ in range(3)]
        finally:
            self.expansion.literal -= 1
        found = has(test.text, words[1]) if (words[0], words[2]) == ("(", ")") else None
        if found is None:
            self.refuse_test(test)
        return bool(found)

    def _operated(self, operator: str, left: _Number, right: _Number) -> _Number:
        unsigned = left.unsigned or right.unsigned
        if operator in ("<<", ">>"):
            by = right.value if right.unsigned or right.value <= _GREATEST else 0
            by = max(-64, min(by if operator == "<<" else -by, 64))
            return _cut(left.value << by if by >= 0 else left.value >> -by, left.unsigned)
        a, b = (_cut(each.value, unsigned).value for each in (left, right))
        if operator in _TRUTHS:
            return _Number(int(_TRUTHS[operator](a, b)))
        if operator in ("/", "%"):
            if b == 0:
                if not self.skipped:
                    raise ValueError("it divides by zero")
                return _Number(0, unsigned)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return _cut(quotient if operator == "/" else a - b * quotient, unsigned)
        return right if operator == "," else _cut(_NUMBERS[operator](a, b), unsigned)


_TRUTHS: dict[str, Callable[[int, int], bool]] = {
    "&&": lambda a, b: a != 0 and b != 0,
    "||": lambda a, b: a != 0 or b != 0,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
