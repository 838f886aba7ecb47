"""Random integer expressions of C over what may be read at a place."""

from __future__ import annotations

import random
from collections.abc import Callable

from benchmarks.checks.fuzz.reals import Reals

TYPES = {
    "signed char": (8, True),
    "unsigned char": (8, False),
    "char": (8, True),
    "short": (16, True),
    "unsigned short": (16, False),
    "int": (32, True),
    "unsigned": (32, False),
    "long": (64, True),
    "unsigned long": (64, False),
    "long long": (64, True),
    "unsigned long long int": (64, False),
    "_Bool": (8, False),
    "t_mode": (32, False),
    "t_level": (32, True),
    "u8": (8, False),
    "i16": (16, True),
}
NARROW = ["signed char", "unsigned char", "char", "short", "unsigned short", "u8", "i16", "_Bool"]
CONSTANTS = [
    "0", "1", "2", "3", "7", "10", "-1", "-5", "0x7f", "0xFF", "0200", "255u", "1U", "3L", "5ul", "9LL", "0xFULL",
    "'a'", r"'\n'", r"'\xff'", r"'\0'", r"'\''", "32767", "-32768", "65535", "2147483647", "0x80000000", "4294967295",
    "2147483648", "-2147483647 - 1", "0xFFFFFFFFFFFFFFFF", "9223372036854775807", "1000000007u", "ON", "LOW", "HIGH",
    "MODE_MAX", "sizeof(int)", "sizeof(struct pair)", "sizeof s->pair.b", "sizeof(t_state)", "(-7)", "~0", "~0u",
]  # fmt: skip


class Expressions(Reals):
    """Expressions over ``reads``; ``scratch`` variables may be changed, each once; ``helpers`` write calls."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.reads: list[str] = []
        self.scratch: list[str] = []
        self.helpers: list[Callable[[int], str]] = []

    def type(self) -> str:
        return str(self.pick(list(TYPES)))

    def constant(self) -> str:
        text = str(self.pick(CONSTANTS))
        return f"({text})" if " " in text or text[0] == "-" else text

    def atom(self) -> str:
        if self.reads and self.chance(0.7):
            return str(self.pick(self.reads))
        return self.constant()

    def small(self, depth: int) -> str:
        """An expression that is unlikely to overflow what it goes into."""
        how = self.random.randrange(5)
        inner = self.expression(depth - 1)
        if how == 0:
            return f"({self.pick(NARROW)})({inner})"
        if how == 1:
            return f"(({inner}) % {self.random.randint(2, 900)})"
        if how == 2:
            return f"(({inner}) & {self.pick(['0xFF', '0x3Fu', '1023L', '127'])})"
        if how == 3:
            return f"(unsigned{self.pick(['', ' long', ' char'])})({inner})"
        return f"(({inner}) >> {self.random.randint(1, 7)})"

    def operand(self, depth: int) -> str:
        return self.small(depth) if self.chance(0.75) else f"({self.expression(depth - 1)})"

    def expression(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.12):
            return self.atom()
        if self.real_reads and self.chance(0.25):
            return self.from_real(depth)
        kind = self.random.randrange(15)
        if kind <= 3:
            return f"{self.operand(depth)} {self.pick(['+', '-', '*', '+', '-'])} {self.operand(depth)}"
        if kind == 4:
            divisor = self.expression(depth - 1)
            divisor = f"(({divisor}) | 1)" if self.chance(0.85) else f"({divisor})"
            return f"({self.expression(depth - 1)}) {self.pick(['/', '%'])} {divisor}"
        if kind == 5:
            amount = self.expression(depth - 1)
            amount = f"(({amount}) & {self.pick(['7', '3u', '15'])})" if self.chance(0.9) else f"({amount})"
            left = self.expression(depth - 1)
            if self.chance(0.5):
                return f"({left}) >> {amount}"
            return f"({self.pick(['unsigned', 'u8', 'unsigned long', 'unsigned char'])})({left}) << {amount}"
        if kind == 6:
            return f"({self.expression(depth - 1)}) {self.pick(['&', '|', '^'])} ({self.expression(depth - 1)})"
        if kind <= 8:
            return self.condition(depth)
        if kind == 9:
            sides = [self.expression(depth - 1) for _ in range(3)]
            return f"(({sides[0]}) ? ({sides[1]}) : ({sides[2]}))"
        if kind == 10:
            return f"({self.type()})({self.expression(depth - 1)})"
        if kind == 11:
            operator = str(self.pick(["-", "~", "!", "+", "~"]))
            return f"{operator}{self.small(depth) if operator == '-' else self.bracketed(depth)}"
        if kind == 12 and self.scratch:
            return self.effect(depth)
        if kind == 13 and self.helpers:
            helper: Callable[[int], str] = self.pick(self.helpers)
            return helper(depth)
        return f"MIN({self.atom()}, {self.atom()})"

    def bracketed(self, depth: int) -> str:
        return f"({self.expression(depth - 1)})"

    def effect(self, depth: int) -> str:
        """An expression that changes a scratch variable, used once in a full expression."""
        name = self.scratch.pop(self.random.randrange(len(self.scratch)))
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{name}++" if self.chance(0.5) else f"--{name}"
        if kind == 1:
            return f"({name} = {self.expression(depth - 1)})"
        if kind == 2:
            return f"({name} {self.pick(['+=', '^=', '|='])} {self.small(depth)})"
        return f"({name} = {self.expression(depth - 1)}, {name})"

    def condition(self, depth: int) -> str:
        if self.chance(0.6):
            sign = self.pick(["==", "!=", "<", ">", "<=", ">="])
            return f"(({self.expression(depth - 1)}) {sign} ({self.expression(depth - 1)}))"
        return f"(({self.expression(depth - 1)}) {self.pick(['&&', '||'])} ({self.expression(depth - 1)}))"

    def full(self, depth: int = 3) -> str:
        """A full expression: every scratch variable is changed at most once."""
        saved = list(self.scratch)
        self.random.shuffle(self.scratch)
        text = self.expression(depth)
        self.scratch[:] = saved
        return text
