"""A harness for CBMC around the original C, written from the interface of a project as it was read.

It is what a user of CBMC would write by hand: a loop that chooses inputs, sets a flag where a goal is covered, calls
the step, and asserts that not all flags are set in a final state. The conditions are the formulas of the goals,
translated to C over the program's own variables. A goal of several steps has a flag for each part that has held so far.

All sources stand in one translation unit, before the harness, so that it sees their static variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pysmt.fnode import FNode

from benchmarks.bench.tools.conditions import Conditions
from benchmarks.bench.tools.harness_program import ProgramText, word
from bmc.formulas.unroll import unframed
from bmc.models.c.controller.model import c_model
from bmc.native.kernel import literal
from bmc.system.transition import StateVariable, TransitionSystem, conjunction, conjuncts, symbols_of
from chaincover.subject import Subject
from properties.goal import Goal

MAIN = "chaincover_main"
LOOP = f"{MAIN}.0"
WANTED = "CC_WANTED"
"""The macro for what is sought: all flags, where it is not defined as one of them."""

HELPERS = """\
typedef unsigned long long cc_u64;
typedef unsigned __int128 cc_u128;
typedef __int128 cc_s128;
#define u64 cc_u64
#define u128 cc_u128
#define s128 cc_s128
#define MASK(w) ((w) >= 128 ? ~(u128)0 : (((u128)1 << (w)) - 1))
#define sn(a, w) ((long long)((u64)(a) << (64 - (w))) >> (64 - (w)))
#define sx(a, w) ((w) >= 128 ? (s128)(a) : (s128)((u128)(a) << (128 - (w))) >> (128 - (w)))
#define sdiv cc_sdiv
#define srem cc_srem
static u128 sdiv(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return x < 0 ? 1 : MASK(w);
  r = p / q;
  return ((x < 0) != (y < 0) ? -r : r) & MASK(w);
}
static u128 srem(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return a;
  r = p % q;
  return (x < 0 ? -r : r) & MASK(w);
}
"""
FLOATS = """\
union cc_f32 { unsigned bits; float number; };
union cc_f64 { unsigned long long bits; double number; };
double sqrt(double), fmod(double, double), floor(double), ceil(double), trunc(double), rint(double), fabs(double);
double copysign(double, double);
float sqrtf(float), fmodf(float, float);
static float cc_f32_of(u64 a) { union cc_f32 x; x.bits = (unsigned)a; return x.number; }
static double cc_f64_of(u64 a) { union cc_f64 x; x.bits = a; return x.number; }
static u64 cc_p32_of(float a) { union cc_f32 x; x.number = a; return a != a ? 0x7fc00000u : x.bits; }
static u64 cc_p64_of(double a) { union cc_f64 x; x.number = a; return a != a ? 0x7ff8000000000000ull : x.bits; }
#define f32 cc_f32_of
#define f64 cc_f64_of
#define p32 cc_p32_of
#define p64 cc_p64_of
#define away(x) (fabs((x) - trunc(x)) >= 0.5 ? trunc(x) + copysign(1, x) : trunc(x))
static u64 cc_least32(u64 a, u64 b, int l) {
  float x = f32(a), y = f32(b);
  return p32((y != y && x == x) || (l ? x < y : y < x) ? x : y);
}
static u64 cc_least64(u64 a, u64 b, int l) {
  double x = f64(a), y = f64(b);
  return p64((y != y && x == x) || (l ? x < y : y < x) ? x : y);
}
#define least32 cc_least32
#define least64 cc_least64
"""
PROTOTYPES = """\
void __CPROVER_assume(int condition);
void __CPROVER_assert(int condition, const char *description);
unsigned char cc_nondet_unsigned_char(void);
unsigned short cc_nondet_unsigned_short(void);
unsigned int cc_nondet_unsigned_int(void);
unsigned long long cc_nondet_unsigned_long_long(void);
float cc_nondet_float(void);
double cc_nondet_double(void);
"""


@dataclass(frozen=True)
class Harness:
    """The files that CBMC reads, by name: ``harness.c``, and what is beside it. ``inputs`` and ``chosen`` are the
    variables whose values a trace tells, as ``cc_in_N`` and ``cc_chosen_N``."""

    files: Mapping[str, str]
    inputs: tuple[str, ...]
    chosen: tuple[str, ...]

    def write(self, folder: Path) -> list[str]:
        """Write the files; the C files among them."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return [str(folder / name) for name in self.files if name in ("harness.c", "environment.c")]


def covered(number: int) -> str:
    """The flag of the goal with this number."""
    return f"cc_covered_{number}"


def harness(subject: Subject) -> Harness:
    """The harness of a project. InputRefused for what it has no words for."""
    return _Writer(subject).harness()


@dataclass
class _Parts:
    """The conditions of one goal by the step in which they can be told: ``steps[j]`` in the j-th one, the last one of
    them after its last step. A condition reads older values where it must."""

    goal: Goal
    steps: list[list[FNode]] = field(default_factory=list)

    @staticmethod
    def of(goal: Goal) -> _Parts:
        """The parts of ``goal``."""
        steps: list[list[FNode]] = [[] for _ in range(goal.length + 1)]
        for part in conjuncts(goal.antecedent):
            steps[max((unframed(symbol)[1] for symbol in symbols_of(part)), default=0)].append(part)
        return _Parts(goal, steps)


class _Writer:
    """Writes one harness."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._c = c_model(subject.model)
        self._system: TransitionSystem = subject.system
        self._program = ProgramText(subject)
        self._parts = [_Parts.of(goal) for goal in subject.goals]
        self._older: dict[str, int] = {}
        self._conditions = Conditions()

    def harness(self) -> Harness:
        """The harness with all its files."""
        choose = list(self._choose())
        after = list(self._after())  # and before, for that keeps the older values that both of them read
        before = list(self._before())
        final, start = list(self._end()), list(self._start())
        body = [
            *self._function("chaincover_choose", choose),
            *self._function("chaincover_before", before),
            *self._function("chaincover_step", [f"{self._program.call(self._c.native.step)};"]),
            *self._function("chaincover_after", after),
            *self._function("chaincover_start", start),
            *self._function("chaincover_end", final),
            f"void {MAIN}(void) {{",
            "  chaincover_start();",
            "  chaincover_after();",
            "  while (1) {",
            "    chaincover_choose();",
            "    chaincover_before();",
            "    chaincover_step();",
            "    chaincover_after();",
            "    chaincover_end();",
            "  }",
            "}",
        ]
        inputs = tuple(var.name for var in self._system.inputs)
        sources = list(self._program.sources())
        files = {name: source for name, source, _ in sources}
        environment = self._program.environment()
        head = [f"/* {self._system.name}: a harness for CBMC, written from its interface. */"]
        for name, _, moved in sources:
            head += [f'#include "{name}"', *moved]
        head += [PROTOTYPES + HELPERS + (FLOATS if self._has_floats else "") + "\n".join(self._program.objects())]
        text = "\n".join([*head, *self._flags(), *body, ""])
        files["harness.c"] = text
        if environment:
            files["environment.c"] = environment
        return Harness(files, inputs, tuple(self._system.chosen))

    # what happens in a step

    def _start(self) -> Iterator[str]:
        for link in self._c.native.links:
            yield f"{self._program.member(link.target)} = &{self._program.object(link.target)};"
        for call in self._c.native.init:
            yield f"{self._program.call(call)};"
        for number, name in enumerate(self._system.chosen):
            yield from self._program.set(name, f"cc_chosen_{number}", ())
        chosen = [var for var in self._system.state if var.name in self._system.chosen]
        yield from self._assume(conjunction(var.start for var in chosen))

    def _choose(self) -> Iterator[str]:
        for number, var in enumerate(self._system.inputs):
            yield from self._program.set(var.name, f"cc_in_{number}", var.values)
        yield from self._assume(self._system.input_constraint)

    def _assume(self, condition: FNode) -> Iterator[str]:
        if not condition.is_true():
            lines, (value,) = self._translated([condition])
            yield from lines
            yield f"__CPROVER_assume({value});"

    def _before(self) -> Iterator[str]:
        """The parts of goals that state and inputs decide, and what is remembered of this step."""
        for number, parts in enumerate(self._parts):
            last = parts.goal.length
            for step in range(last - 1, -1, -1):
                lines, (value,) = self._translated([conjunction(parts.steps[step])], step)
                yield from lines
                whole = value if not step else f"cc_part_{number}_{step} && ({value})"
                if step + 1 == last and not parts.steps[last]:
                    yield f"if ({whole}) {covered(number)} = 1; /* {parts.goal.name} */"
                else:
                    yield f"cc_part_{number}_{step + 1} = {whole};"
        remembered = [(name, back) for name, most in self._older.items() for back in range(most, 0, -1)]
        for name, back in remembered:
            yield f"{_older(name, back)} = {_older(name, back - 1) if back > 1 else self._value(name)};"
        lines, values = self._translated([var.next for var in self._internal])
        yield from lines
        for var, value in zip(self._internal, values, strict=True):
            yield f"{_internal(var.name)} = {value};"

    def _after(self) -> Iterator[str]:
        """The parts of goals that the state after the step decides."""
        for number, parts in enumerate(self._parts):
            last = parts.goal.length
            if parts.steps[last] or not last:
                lines, (value,) = self._translated([conjunction(parts.steps[last])], last)
                yield from lines
                whole = f"cc_part_{number}_{last} && ({value})" if last else value
                yield f"if ({whole}) {covered(number)} = 1; /* {parts.goal.name} */"

    def _end(self) -> Iterator[str]:
        """The assertion."""
        value = "1"
        if self._subject.final is not None:
            lines, (value,) = self._translated([self._subject.final])
            yield from lines
        yield f'__CPROVER_assert(!({WANTED} && ({value})), "{WANTED}");'

    def _flags(self) -> Iterator[str]:
        """Declarations of what the harness itself remembers, and what is sought."""
        yield f"#ifndef {WANTED}"
        yield f"#define {WANTED} ({' && '.join(map(covered, range(len(self._parts)))) or '1'})"
        yield "#endif"
        for number, parts in enumerate(self._parts):
            yield f"static _Bool {covered(number)}; /* {parts.goal.name} */"
            last = parts.goal.length + bool(parts.steps[-1]) if parts.goal.length else 0
            yield from (f"static _Bool cc_part_{number}_{step};" for step in range(1, last))
        for name, most in self._older.items():
            kind = self._program.kind(name) if name in self._program.variables else "u64"
            yield from (f"static {kind} {_older(name, back)};" for back in range(1, most + 1))
        for var in self._internal:
            yield f"static u64 {_internal(var.name)} = {_begins(var)};"

    # formulas

    @cached_property
    def _internal(self) -> list[StateVariable]:
        """The variables made by the tool on which the conditions depend."""
        variables = self._system.state
        own: dict[str, StateVariable] = {var.name: var for var in variables if var.name not in self._program.variables}
        final = [] if self._subject.final is None else [self._subject.final]
        read = {unframed(s)[0] for goal in self._subject.goals for s in symbols_of(goal.antecedent)}
        todo = [*read, *(s.symbol_name() for f in [self._system.input_constraint, *final] for s in symbols_of(f))]
        found: dict[str, StateVariable] = {}
        while todo:
            name = todo.pop()
            if name in own and name not in found:
                found[name] = own[name]
                todo += [symbol.symbol_name() for symbol in symbols_of(own[name].next)]
        return [var for var in self._system.state if var.name in found]

    @cached_property
    def _has_floats(self) -> bool:
        inputs = any(var.type.floating for var in self._system.inputs)
        return inputs or any(var.type.floating for var in self._system.state)

    def _value(self, name: str) -> str:
        """The value that a variable has now."""
        if name in self._program.variables:
            return self._program.value(name)
        return _internal(name)

    def _leaf(self, symbol: FNode, now: int | None) -> str:
        """The C of a symbol: plain (``now`` is None), or framed, where the frame ``now`` is the present one."""
        if now is None:
            name, back = symbol.symbol_name(), 0
        else:
            name, frame = unframed(symbol)
            back = now - frame
        if back:
            self._older[name] = max(back, self._older.get(name, 0))
        return self._program.leaf(symbol, name, _older(name, back) if back else self._value(name))

    def _translated(self, formulas: Sequence[FNode], now: int | None = None) -> tuple[list[str], list[str]]:
        """Declarations that compute ``formulas``, and their values; ``now`` as for ``_leaf``."""
        return self._conditions.translated(formulas, lambda symbol: self._leaf(symbol, now))

    @staticmethod
    def _function(name: str, lines: Iterable[str]) -> list[str]:
        return [f"static void {name}(void) {{", *(f"  {line}" for line in lines), "}"]


def _begins(var: StateVariable) -> str:
    """The start value of a variable, as C."""
    return literal(var.plainest_start if var.init is None else int(var.init.constant_value()), max(var.type.bits, 1))


def _older(name: str, back: int) -> str:
    return f"cc_older_{word(name)}_{back}"


def _internal(name: str) -> str:
    return f"cc_own_{word(name)}"
