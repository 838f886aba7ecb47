"""Floating point in random programs: expressions, conversions and assignments of float and double."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

FLOAT_CONSTANTS = [
    "0.0", "-0.0", "1.0", "2.0", "0.5", "0.1", "0.1f", "-1.5", "3.25f", "1e3", "1e-3f", "0x1.8p3", "1e30f", "1e300",
    "1e-40f", "5e-324", "100.0", "16777217.0", "2147483648.0", "3.0", "-7.0", "INFINITY", "-INFINITY", "NAN", "FLT_MAX",
    "DBL_MIN", "FLT_EPSILON",
]  # fmt: skip
ROUNDING = ["floor", "ceil", "trunc", "round", "fabs", "floorf", "ceilf", "truncf", "roundf", "fabsf"]
FLOAT_HEAD = """\
#include <float.h>
#include <math.h>
struct reals { float a; double b; };
static struct reals g_reals = {1.5f, -2.0};
static const double curve[4] = {0.0, 1.5, -2.25, 1e6};
static int whole(double x) { if (x > 1000.0) return 1000; if (x >= -1000.0) return (int)x; return -1000; }
static float blend(float a, double b, short n) { return n > 0 ? a + (float)b : (float)(a * b) - n; }
static double limit(double x, double low, double high) { return x > high ? high : x < low ? low : x; }
"""


class Reals:
    """The floating-point part of a program's grammar; the integer part builds on it.

    ``real_reads`` are expressions that may be read, ``real_writes`` (lvalue, type) pairs; both are empty in integer
    programs.
    """

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.real_reads: list[str] = []
        self.real_writes: list[tuple[str, str]] = []
        self.names = 0

    @abstractmethod
    def expression(self, depth: int) -> str:
        """An integer expression."""

    # small choices

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[self.random.randrange(len(items))]

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def from_real(self, depth: int) -> str:
        """An integer expression over reals: a comparison, a test, a conversion (a few of them out of range)."""
        kind = self.random.randrange(8)
        if kind <= 3:
            sign = self.pick(["==", "!=", "<", ">", "<=", ">="])
            other = self.real(depth - 1) if self.chance(0.7) else self.expression(depth - 1)
            return f"(({self.real(depth - 1)}) {sign} ({other}))"
        if kind == 4:
            return str(self.pick([f"(!({self.real(depth - 1)}))", f"(({self.real(depth - 1)}) ? 3 : 4)"]))
        if kind == 5:
            return f"({self.pick(['isnan', 'isinf', 'isfinite'])}({self.real(depth - 1)}) != 0)"
        if kind == 6:
            return f"((_Bool)({self.real(depth - 1)}))"
        if self.chance(0.1):
            return f"(({self.pick(['int', 'unsigned char', 'long', 'short'])})({self.real(depth - 1)}))"
        return f"whole({self.real(depth - 1)})"

    def real(self, depth: int) -> str:
        """An expression of type float or double."""
        if depth <= 0 or self.chance(0.15):
            text = self.pick(self.real_reads) if self.real_reads and self.chance(0.7) else self.pick(FLOAT_CONSTANTS)
            return f"({text})" if text[0] == "-" else text
        first = self.real(depth - 1)
        kind = self.random.randrange(16)
        if kind <= 5:
            other = self.real(depth - 1) if self.chance(0.8) else f"({self.expression(depth - 1)})"
            return f"(({first}) {self.pick(['+', '-', '*', '+', '-', '/'])} ({other}))"
        if kind == 6:
            return f"(-({first}))"
        if kind == 7:
            return f"(({self.pick(['float', 'double'])})({self.pick([first, self.expression(depth - 1)])}))"
        if kind == 8:
            return f"(({self.expression(depth - 1)}) ? ({first}) : ({self.real(depth - 1)}))"
        if kind == 9:
            return f"{self.pick(['fmin', 'fmax', 'fminf', 'fmaxf'])}({first}, {self.real(depth - 1)})"
        if kind <= 12:
            return f"{self.pick(ROUNDING)}({first})"
        if kind == 13:
            return f"blend({first}, {self.real(depth - 1)}, (short)({self.expression(depth - 1)}))"
        if kind == 14:
            return f"limit({first}, -50.0, {self.pick(['50.0', '1e6', 'FLT_MAX'])})"
        if self.chance(0.2):
            return f"sqrt({first})" if self.chance(0.7) else f"fmod({first}, {self.pick(['2.0', '0.3', '360.0'])})"
        return f"MIN({first}, {self.pick(self.real_reads or FLOAT_CONSTANTS)})"

    def real_statement(self) -> str:
        """An assignment to a real, or a declaration of one."""
        kind = self.random.randrange(10)
        if kind == 0:
            name = self.fresh("w")
            ctype = self.pick(["float", "double"])
            text = f"{self.pick(['', '', 'static '])}{ctype} {name} = "
            text += f"{self.pick(FLOAT_CONSTANTS)};" if text.startswith("static") else f"{self.real(2)};"
            self.real_reads.append(name)
            self.real_writes.append((name, ctype))
            return text
        if kind == 1:
            return self.pick(["s->reals = g_reals;", "g_reals = s->reals;", "memset(&s->reals, 0, sizeof s->reals);"])
        target, _ = self.pick(self.real_writes)
        if kind == 2:
            return f"{target}{self.pick(['++', '--'])};"
        if kind <= 4:
            return f"{target} {self.pick(['+=', '-=', '*=', '/='])} {self.real(2)};"
        if kind == 5:
            return f"s->x32 += (signed char)whole({self.real(2)});"
        return f"{target} = {self.real(3)};"
