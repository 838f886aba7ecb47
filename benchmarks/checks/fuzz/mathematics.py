"""Random calls of functions whose results depend on the C library, for random programs that do not need what they
yield."""

from __future__ import annotations

from benchmarks.checks.fuzz.statements import Statements

MATH_HEAD = """\
#include <math.h>
struct mixed { int whole; double real; };
static double g_m0 = 0.5, g_curve[3]; static struct mixed g_mixed = {3, 0.25};
static double wave(double x) { double y = sin(x); if (y > 0.5) y = cos(y); return y * y + 1; }
static void smooth(double *where, float by) { static double kept; kept = 0.5 * kept + logf(by); *where -= kept; }
"""
MATH_MEMBERS = " double m0, m1; float m2; double mt[3]; struct mixed mixed;"
"""Members of the state."""
UNARY = ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "exp2", "log", "log10", "log2", "sinh", "tanh", "cbrt")
BINARY = ("atan2", "pow", "hypot")


class Mathematics(Statements):
    """Statements that write to floating variables which nothing else reads; members beside them are read."""

    mathematics = False
    """Whether there are such statements here."""
    leaks = False
    """Whether something else reads what a function yields."""

    def math_start(self) -> str:
        """Statements of init."""
        options = ["for (int k = 0; k < 3; k++) g_curve[k] = cos(k * 0.3);", "s->m0 = exp(1.0);", "s->m2 = sinf(2);"]
        options += ["if (tanh(0.3) > 0.2) s->m1 = 2; else s->m1 = 3;", "s->mixed = g_mixed;", "s->mixed.whole = 7;"]
        return " ".join(each for each in options if self.chance(0.6))

    def math_places(self) -> None:
        """Let expressions read, and assignments write, the exact members beside the others."""
        self.reads += ["s->mixed.whole", "g_mixed.whole"]
        self.writes += [("s->mixed.whole", "int"), ("g_mixed.whole", "int")]
        self.math_reads = ["s->m0", "s->m1", "s->m2", "g_m0", "s->mt[1]", "s->mixed.real", "g_curve[i->i0 & 1]"]
        self.math_writes = ["s->m0", "s->m1", "s->m2", "g_m0", "s->mt[i->i1 & 1]", "s->mixed.real", "g_mixed.real"]

    def statement(self, depth: int) -> str:
        if not self.mathematics or self.chance(0.65):
            return super().statement(depth)
        kinds = [self._set, self._set, self._chosen, self._guarded, self._through, self._looped, self._local]
        kinds += [self._copied, self._kept, *([self._leak] if self.leaks else [])]
        return str(self.pick(kinds)())

    def number(self, depth: int = 2) -> str:
        """An expression of floating type, most often with a call in it."""
        kind = self.random.randrange(8) if depth > 0 else self.random.randrange(2)
        if kind == 0:
            return str(self.pick(self.math_reads))
        if kind == 1:
            return f"(({self.full(1)}) * {self.pick(('0.25', '1.5f', '1e-3'))})"
        inner = self.number(depth - 1)
        if kind == 2:
            return f"{self.pick(BINARY)}{self.pick(('', 'f'))}({inner}, {self.number(depth - 1)})"
        if kind == 3:
            return f"(({self.full(1)}) ? {inner} : wave({self.number(depth - 1)}))"
        if kind == 4:
            return f"({inner} {self.pick('+-*/')} {self.number(depth - 1)})"
        return f"{self.pick(UNARY)}{self.pick(('', 'f'))}({inner})"

    def _set(self) -> str:
        return f"{self.pick(self.math_writes)} {self.pick(('=', '=', '+=', '*='))} {self.number()};"

    def _chosen(self) -> str:
        return f"if ({self.full(2)}) {{ {self._set()} }} else {{ {self._set()} }}"

    def _guarded(self) -> str:
        return f"if ({self.number()} {self.pick(('<', '>=', '!='))} {self.number(1)}) {{ {self._set()} {self._set()} }}"

    def _through(self) -> str:
        name = self.fresh("p")
        effect = self.pick((f"*{name} = {self.number()};", f"smooth({name}, {self.number(1)});"))
        return f"{{ double *{name} = ({self.full(1)}) ? &s->m0 : &g_m0; {effect} }}"

    def _looped(self) -> str:
        name = self.fresh("k")
        return (
            f"for (int {name} = 0; {name} < 3; {name}++) s->mt[{name}] = {self.pick(UNARY)}({name} * {self.number(1)});"
        )

    def _local(self) -> str:
        name = self.fresh("d")
        return f"{{ double {name} = {self.number()}; {name} *= {name}; s->m1 = {name} + {self.number(1)}; }}"

    def _copied(self) -> str:
        return str(self.pick(("s->mixed = g_mixed;", "g_mixed = s->mixed;", "memcpy(&g_m0, &s->m1, sizeof g_m0);")))

    def _kept(self) -> str:
        name = self.fresh("q")
        return f"{{ static double {name} = 1.5; {name} = {name} * 0.5 + {self.number(1)}; s->m0 = {name}; }}"

    def _leak(self) -> str:
        return f"s->x32 = {self.number(1)} > {self.number(1)};"
