"""Formulas as C code, and programs of our own made of them: compiled, and run in a process each that answers questions.

A term is an unsigned word that holds its raw pattern: ``uint64_t``, above 64 bits ``unsigned __int128``. What the code
means is what ``bmc.formulas.evaluate`` says. Floating operations are the processor's own where these are bit by bit the
same, with the canonical NaN; else their circuit is translated as any other term.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from weakref import finalize

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.errors import LimitReached
from bmc.floats.format import FLOAT32, FLOAT64, Format
from bmc.floats.operations import Kind, Operation, operation_of
from bmc.native.build import compiler_words
from bmc.native.commands import first_line, kill, run, said, why_stopped

FLAGS = ["-x", "c", "-std=gnu11", "-w", "-ffp-contract=off", "-fno-math-errno"]
"""What a program is compiled with: the floating-point operations as they stand."""

OPTIMISED, SOON = "-O2", "-Og"
"""How a program is compiled that works for long, and one that has little to do: in a third of the time, and then it is
half as fast."""

MOST_BITS = 128
"""The widest word of C."""


class NoTranslation(Exception):
    """A term has no translation: it is too wide for C."""


HELPERS = """\
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef __int128 s128;
#define MASK(w) ((w) >= 128 ? ~(u128)0 : (((u128)1 << (w)) - 1))
static inline s128 sx(u128 a, int w) { return w >= 128 ? (s128)a : (s128)(a << (128 - w)) >> (128 - w); }
static inline int64_t sn(u64 a, int w) { return (int64_t)(a << (64 - w)) >> (64 - w); }
static inline u128 sdiv(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return x < 0 ? 1 : MASK(w);
  r = p / q;
  return ((x < 0) != (y < 0) ? -r : r) & MASK(w);
}
static inline u128 srem(u128 a, u128 b, int w) {
  s128 x = sx(a, w), y = sx(b, w);
  u128 p = x < 0 ? -(u128)x : (u128)x, q = y < 0 ? -(u128)y : (u128)y, r;
  if (!b) return a;
  r = p % q;
  return (x < 0 ? -r : r) & MASK(w);
}
static inline float f32(u64 a) { uint32_t b = (uint32_t)a; float x; memcpy(&x, &b, 4); return x; }
static inline double f64(u64 a) { double x; memcpy(&x, &a, 8); return x; }
static inline u64 p32(float x) { uint32_t b; memcpy(&b, &x, 4); return x != x ? NAN32 : b; }
static inline u64 p64(double x) { u64 b; memcpy(&b, &x, 8); return x != x ? NAN64 : b; }
static inline double away(double x) { double t = trunc(x); return fabs(x - t) >= 0.5 ? t + copysign(1, x) : t; }
static inline u64 least32(u64 a, u64 b, int l) { float x = f32(a), y = f32(b);
  return p32(f32((y != y && x == x) || (l ? x < y : y < x) ? a : b)); }
static inline u64 least64(u64 a, u64 b, int l) { double x = f64(a), y = f64(b);
  return p64(f64((y != y && x == x) || (l ? x < y : y < x) ? a : b)); }
""".replace("NAN32", f"{FLOAT32.nan}u").replace("NAN64", f"{FLOAT64.nan}ull")

_BINARY = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "remainder": "fmod({}, {})",
}
_UNARY = {
    "root": "sqrt({})",
    "floor": "floor({})",
    "ceiling": "ceil({})",
    "truncate": "trunc({})",
    "round_half_even": "rint({})",
    "round_half_away": "away({})",
}
_COMPARED = {"equal": "{} == {}", "less": "{} < {}", "less_equal": "{} <= {}"}
_SINGLE = {"sqrt": "sqrtf", "fmod": "fmodf"}


def arguments_of(node: FNode) -> tuple[FNode, ...]:
    """What the translation of ``node`` reads: its arguments, or the operands of the floating operation that it is."""
    found = _floating(node)
    return found.operands if found is not None else tuple(node.args())


def bits_of(node: FNode) -> int:
    """The width of ``node``, 0 for a Boolean."""
    kind = node.get_type()
    return 0 if kind.is_bool_type() else int(kind.width)


def word_of(node: FNode) -> str:
    """The C type of ``node``. NoTranslation if there is none."""
    if bits_of(node) > MOST_BITS:
        raise NoTranslation(f"a term has {bits_of(node)} bits")
    return "u64" if bits_of(node) <= 64 else "u128"


def literal(value: int, bits: int) -> str:
    """The C constant of a raw pattern."""
    if bits <= 64:
        return f"{value}ull"
    return f"((u128){value >> 64}ull << 64 | {value & ((1 << 64) - 1)}ull)"


def expression(node: FNode, names: Mapping[FNode, str]) -> str:
    """The C expression of ``node`` over the ``names`` of what it reads. NoTranslation if it has none."""
    floating = _floating(node)
    if floating is not None:
        return floating_expression(floating, [names[a] for a in floating.operands])
    if node.is_constant():
        return literal(int(node.constant_value()), bits_of(node))
    kind, word = node.node_type(), word_of(node)
    given = [names[a] for a in node.args()]
    if kind in _JOINS:
        return f" {_JOINS[kind]} ".join(given)
    if kind in _PLAIN:
        return _PLAIN[kind].format(*given)
    if kind in _SIZED:
        return _SIZED[kind].format(*given, word=word, **_sizes(node))
    if kind in (op.BV_ROL, op.BV_ROR):
        return _rotated(node, given[0])
    raise NoTranslation(f"the operator {op.op_to_str(kind)} is neither Boolean nor of bit-vectors")


_JOINS = {op.AND: "&", op.OR: "|", op.BV_AND: "&", op.BV_OR: "|", op.BV_XOR: "^"}
_PLAIN = {
    op.NOT: "{} ^ 1",
    op.IMPLIES: "({} ^ 1) | {}",
    op.IFF: "{} == {}",
    op.EQUALS: "{} == {}",
    op.BV_COMP: "{} == {}",
    op.ITE: "{} ? {} : {}",
    op.BV_ULT: "{} < {}",
    op.BV_ULE: "{} <= {}",
}
_SIZED = {
    op.BV_NOT: "(~{0}) & {mask}",
    op.BV_NEG: "(-{0}) & {mask}",
    op.BV_ADD: "({0} + {1}) & {mask}",
    op.BV_SUB: "({0} - {1}) & {mask}",
    op.BV_MUL: "({0} * {1}) & {mask}",
    op.BV_UDIV: "{1} ? {0} / {1} : {mask}",
    op.BV_UREM: "{1} ? {0} % {1} : {0}",
    op.BV_SDIV: "({word})sdiv({0}, {1}, {bits})",
    op.BV_SREM: "({word})srem({0}, {1}, {bits})",
    op.BV_SLT: "{signed}({0}, {first}) < {signed}({1}, {first})",
    op.BV_SLE: "{signed}({0}, {first}) <= {signed}({1}, {first})",
    op.BV_LSHL: "{1} < {bits} ? ({0} << {1}) & {mask} : 0",
    op.BV_LSHR: "{1} < {bits} ? {0} >> {1} : 0",
    op.BV_ASHR: "({word})(sx({0}, {bits}) >> ({1} < {bits} ? {1} : {top})) & {mask}",
    op.BV_CONCAT: "(({word}){0} << {last}) | {1}",
    op.BV_EXTRACT: "({word})({0} >> {start}) & {mask}",
    op.BV_ZEXT: "{0}",
    op.BV_SEXT: "({word}){signed}({0}, {first}) & {mask}",
}
"""Operators whose expression depends on sizes; see ``_sizes``."""


def _sizes(node: FNode) -> dict[str, int | str]:
    """The sizes that the expression of an operator may name: its ``bits``, their ``mask`` and the place of the ``top``
    one, the bits of its ``first`` and its ``last`` argument, the ``start`` of an extraction, and the function that
    reads a word as ``signed``."""
    bits, first = bits_of(node), bits_of(node.arg(0))
    return {
        "bits": bits,
        "top": bits - 1,
        "mask": literal((1 << bits) - 1, bits),
        "first": first,
        "last": bits_of(node.args()[-1]),
        "start": int(node.bv_extract_start()) if node.is_bv_extract() else 0,
        "signed": "sn" if first <= 64 and bits <= 64 else "sx",
    }


def _rotated(node: FNode, given: str) -> str:
    """A word rotated by a constant number of bits."""
    bits = bits_of(node)
    by = int(node.bv_rotation_step()) * (1 if node.is_bv_rol() else -1) % bits
    return f"(({given} << {by}) | ({given} >> {bits - by})) & {literal((1 << bits) - 1, bits)}" if by else given


def _floating(node: FNode) -> Operation | None:
    """The floating operation that ``node`` is, if C has it bit by bit."""
    found = operation_of(node)
    if found is None or not all(form in (FLOAT32, FLOAT64) for form in (found.form, found.to_form or found.form)):
        return None
    named = found.name in {*_BINARY, *_UNARY, *_COMPARED, "fmin", "fmax", "negate", "absolute", "resize"}
    return found if named or (found.name == "from_int" and found.bits <= 64) else None


def floating_expression(operation: Operation | Kind, given: Sequence[str]) -> str:
    """The C expression of a floating operation on the patterns ``given``."""
    name, form = operation.name, operation.form
    values = [f"f{form.bits}({each})" for each in given]
    if name in _COMPARED:
        return _COMPARED[name].format(*values)
    if name in ("fmin", "fmax"):
        return f"least{form.bits}({given[0]}, {given[1]}, {int(name == 'fmin')})"
    if name in ("negate", "absolute"):
        raw = f"{given[0]} ^ {form.sign}ull" if name == "negate" else f"{given[0]} & ~{form.sign}ull"
        return f"p{form.bits}(f{form.bits}({raw}))"
    if name == "resize":
        assert operation.to_form is not None
        return f"p{operation.to_form.bits}(({_number(operation.to_form)}){values[0]})"
    if name == "from_int":
        whole = f"sn({given[0]}, {operation.bits})" if operation.signed else given[0]
        return f"p{form.bits}(({_number(form)}){whole})"
    text = (_BINARY | _UNARY)[name].format(*values)
    if form is FLOAT32:
        for double, single in _SINGLE.items():
            text = text.replace(f"{double}(", f"{single}(")
    return f"p{form.bits}({text})"


def _number(form: Format) -> str:
    return "float" if form.bits == 32 else "double"


class KernelFailed(LimitReached):
    """A program of our own cannot be compiled or started, or ended before its answer, as where no memory is left."""


class Kernel:
    """A program of our own, compiled and running in a process of its own; a line of text gets one line for an answer.

    It is compiled ``soon`` where it has little to do, and finds ``data`` in a file of that name when it begins.
    NoCompiler without a C compiler, KernelFailed where it makes no program that runs, or there is no room for it on the
    disk. The process ends with ``close``, at the latest with this one.
    """

    def __init__(self, text: str, soon: bool = False, data: bytes = b"") -> None:
        words = compiler_words()
        try:
            with tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True) as folder:
                (Path(folder) / "data").write_bytes(data)
                self._process = _started([*words, *FLAGS, SOON if soon else OPTIMISED], HELPERS + text, Path(folder))
                self._end = finalize(self, _end, self._process)
                self.ask("hello")  # the file may go once the program is running
        except OSError as error:
            raise KernelFailed(f"a program of our own cannot be made or started: {error.strerror}") from error

    def ask(self, *question: object) -> list[str]:
        """The words of the answer to the line of these words. KernelFailed if there is none."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        answer = ""
        if not process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(" ".join(map(str, question)) + "\n")
                process.stdin.flush()
            answer = process.stdout.readline()
        if not answer.endswith("\n"):
            self.close()
            raise KernelFailed("a compiled search ended without an answer", hint="give it more memory")
        return answer.split()

    def close(self) -> None:
        """End the process. It may be called more than once."""
        self._end()


def _started(words: Sequence[str], text: str, folder: Path) -> subprocess.Popen[str]:
    """The program of ``text``, compiled in ``folder`` and started there."""
    source, target = folder / "kernel.c", folder / "kernel"
    source.write_text(text, encoding="utf-8")
    made = run([*words, str(source), "-o", str(target), "-lm"])
    if made.returncode or not target.exists():
        why = f"took {why_stopped(said(made))}" if why_stopped(said(made)) else f"says: {first_line(said(made))}"
        raise KernelFailed(f"the C compiler makes no program of our own text; it {why}")
    return subprocess.Popen(
        [str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        encoding="ascii",
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and wait for it, so that what it took is known to belong to this one."""
    kill(process)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def declarations(nodes: Iterable[FNode], names: dict[FNode, str], prefix: str) -> list[str]:
    """C declarations that compute those of ``nodes`` that have no name yet, each after what it reads. Their names are
    added to ``names``."""
    lines = []
    for node in nodes:
        if node in names:
            continue
        if node.is_constant():
            names[node] = f"({expression(node, names)})"
            continue
        name = f"{prefix}{len(names)}"
        lines.append(f"{word_of(node)} {name} = {expression(node, names)};")
        names[node] = name
    return lines


def ordered(formulas: Sequence[FNode], cut: Collection[FNode] = ()) -> list[FNode]:
    """Every node under ``formulas`` once, what its translation reads before it; nothing below ``cut``."""
    order: dict[FNode, None] = {}
    stack = [(formula, False) for formula in reversed(formulas)]
    while stack:
        node, expanded = stack.pop()
        below = () if node in cut else arguments_of(node)
        if expanded or (not below and node not in order):
            order[node] = None
        elif node not in order:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(below) if a not in order)
    return list(order)
