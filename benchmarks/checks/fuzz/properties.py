"""Properties, conditions and criteria as text: what is accepted means what the reference says that it means."""

from __future__ import annotations

import functools
import random
import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pysmt.fnode import FNode

from benchmarks.checks.fuzz.conditions import BOOL, DOUBLE, TYPES, CType, Names, Reader, Unknown, holds
from benchmarks.checks.fuzz.examine import ACCEPTED, AGREE, DIFFER, Input, Kind, Row
from benchmarks.checks.fuzz.mutations import NUMBERS, SMALL, Change, other_bytes, several, wild
from bmc.formulas.evaluate import compile_formulas
from chaincover.project.load import Program
from chaincover.project.project_file import read_project
from chaincover.subject import Subject

VALUATIONS = 16
"""For so many values of all variables each condition is evaluated."""
SOURCE = """\
#include <string.h>
#define LIMIT 7
#define X(m) ((m) + 1)
#define NEAR(a, b) ((a) - (b) < LIMIT)
enum mode { OFF, ON = 4, DIS = -2 };
typedef unsigned char u8;
typedef struct { u8 a; _Bool b; short c; unsigned u; long w; double d; } In;
typedef struct {
  signed char n; unsigned short m; int k; unsigned long long big; _Bool on; enum mode mode; double e;
  u8 row[3]; struct { int x, y; } part;
} St;
static int twice(int v) { return v > 1000 || v < -1000 ? v : v * 2; }
void init(St *s) { memset(s, 0, sizeof *s); }
void compute(In *i, St *s) {
  s->n = (signed char)i->a; s->m = (unsigned short)(s->m + i->u); s->k ^= i->c; s->big += (unsigned long long)i->w;
  if (s->on) s->part.x = twice(s->part.y & 15); else s->part.y++, s->part.y &= 7;
  s->on = i->b; s->mode = i->b ? ON : s->mode == ON ? DIS : OFF;
  s->e = i->d > s->e ? i->d : s->e; s->row[i->a % 3] = i->a;
}
"""
INPUTS = {"a": "u8", "b": "_Bool", "c": "short", "u": "unsigned", "w": "long", "d": "double"}
STATE = {
    "n": "signed char",
    "m": "unsigned short",
    "k": "int",
    "big": "unsigned long long",
    "on": "_Bool",
    "mode": "int",
    "e": "double",
    "x": "int",
    "y": "int",
}
FULL = {"x": "s->part.x", "y": "s->part.y"}
NAMES = Names(
    {name: TYPES[word] for name, word in (INPUTS | STATE).items()},
    frozenset(INPUTS),
    {"OFF": 0, "ON": 4, "DIS": -2, "LIMIT": 7, "true": 1, "false": 0},
)
WORDS = (
    *(
        "X(",
        "`X`(",
        "G(",
        "cover(",
        "->",
        "=>",
        "s->n",
        "s->part.x",
        "s->row[1]",
        "row[a % 3]",
        "twice(k)",
        "NEAR(n, m)",
    ),
    *("since", "F[0,3](", "G[2,3](", "X[2](", "F[", "prev(", "rise(", "fall(", "changed(", "`X`(", "`n`", "`", "[1,0]"),
    *(
        "sizeof(int)",
        "sizeof n",
        "s",
        "i",
        "*s",
        "&s->n",
        "(int)",
        "(u8)",
        "(enum mode)",
        "return",
        "compute",
        "init(s)",
    ),
    *("n = 1", "n++", "__LINE__", "__FILE__", '"text"', "L'x'", "1 ? 2 : 3", "p:", "p.x-y=z:", "goto", "{ }", "int q;"),
)
CRITERIA = (
    *("states(mode)", "transitions(mode)", "branches()", "conditions()", "mcdc()", "states(n)", "transitions(on)"),
    *("states((mode, on))", "transitions((on, k > 2))", "pairs(on)", "pairs((mode, on))", "states(`n`, {0, LIMIT})"),
)
SPANS = (0, 1, 1, 2, 3, 5)
"""Steps within operators; now and then many more."""


@dataclass(frozen=True)
class Grammar:
    """Conditions over the program's variables, as text. ``operators``: also those that the reference does not read."""

    random: random.Random
    operators: bool = False

    def condition(self, depth: int, inputs: bool = True) -> str:
        """A condition of at most so many levels."""
        pick = self.random.choice
        kind = self.random.randrange(8)
        if self.operators and inputs and depth > 0 and self.random.random() < 0.3:
            return self.operator(depth - 1)
        if depth <= 0 or kind == 0:
            return f"{self.value(0, inputs)} {pick(('==', '!=', '<', '>', '<=', '>='))} {self.value(1, inputs)}"
        if kind <= 2:
            return f"{self.condition(depth - 1, inputs)} {pick(('&&', '||'))} {self.condition(depth - 1, inputs)}"
        if kind == 3:
            return f"!({self.condition(depth - 1, inputs)})"
        if kind <= 5:
            return f"X({self.condition(depth - 1, inputs)})" if inputs else self.condition(depth - 1, inputs)
        if kind == 6:
            return f"({self.value(depth, inputs)})"
        return f"{self.value(depth, inputs)} {pick(('==', '!=', '<', '>', '<=', '>='))} {self.value(depth, inputs)}"

    def value(self, depth: int, inputs: bool) -> str:
        """An expression of at most so many levels."""
        pick = self.random.choice
        kind = self.random.randrange(9)
        if depth <= 0 or kind <= 1:
            return self.leaf(inputs)
        one, two = self.value(depth - 1, inputs), self.value(depth - 1, inputs)
        if kind <= 4:
            operator = pick(("+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>", "<", "=="))
            return f"({one} {operator} {two})" if self.random.random() < 0.7 else f"{one} {operator} {two}"
        if kind == 5:
            return f"({pick(list(TYPES))})({one})"
        if kind == 6:
            return f"{pick(('-', '~', '!', '+'))}({one})"
        if kind == 7:
            return f"({one} ? {two} : {self.value(depth - 1, inputs)})"
        return f"X({one})" if inputs else f"({one}, {two})"

    def operator(self, depth: int) -> str:
        """A condition on other steps."""
        one = self.condition(depth)
        kind = self.random.randrange(4)
        if kind == 0:
            return f"({self.condition(depth)} since {one})"
        if kind == 1:
            return f"{self.random.choice(('prev', 'rise', 'fall', 'changed'))}({one})"
        if kind == 2:
            return f"X[{self.span()}]({one})"
        return self.within(one)

    def within(self, condition: str) -> str:
        """``condition`` at some step, or in each, of a few."""
        first = self.span()
        return f"{self.random.choice('FG')}[{first},{first + self.span()}]({condition})"

    def span(self) -> int:
        """A number of steps."""
        return self.random.choice(SPANS if self.random.random() < 0.95 else (40, 1_000, 100_000, 10**9))

    def leaf(self, inputs: bool) -> str:
        """A variable or a constant."""
        if self.operators and self.random.random() < 0.1:
            return self.random.choice(("`n`", "`X`(k)", "`mode`"))
        kind = self.random.randrange(4)
        if kind == 0:
            numbers = NUMBERS if self.random.random() < 0.1 else SMALL
            return str(self.random.choice((*numbers, *NAMES.constants, "-1", "3.5")))
        name = self.random.choice(list(STATE) if kind == 1 or not inputs else [*INPUTS, *STATE])
        name = self.random.choice(("n", "k")) if name in "de" and self.random.random() < 0.7 else name
        if self.random.random() < 0.8:
            return name
        return FULL.get(name, f"{'i' if name in INPUTS else 's'}->{name}")

    def property(self) -> str:
        """A property, or the reach of a condition."""
        label = self.random.choice(("", "", "p1: ", "a.b-c=d : "))
        one, two = (self.condition(self.random.randint(0, 3)) for _ in range(2))
        if self.random.random() < 0.5:
            return f"{label}cover({one})"
        if self.operators and self.random.random() < 0.4:  # a deadline
            one = f"rise({one})" if self.random.random() < 0.3 else one
            two = self.within(two) if self.random.random() < 0.7 else f"X({self.within(two)})"
        return f"{label}G({one} {self.random.choice(('->', '=>', '⇒', '→'))} {two})"


def _draw(random: random.Random) -> Input:
    """One property; now and then further ones, a final condition, criteria and patterns; mostly some are mutated."""
    grammar = Grammar(random, random.random() < 0.25)
    data: Input = {"properties": [grammar.property()]}
    if random.random() < 0.15:
        data["final"] = grammar.condition(random.randint(0, 2), inputs=False)
    if random.random() < 0.1:
        data["criteria"] = [random.choice(CRITERIA)]
    if random.random() < 0.05:
        data["select"] = [random.choice(("p*", "*", "[p", "p1", "[!a-", "states*", "\\", "?1", "**", "p[0-9]"))]
    if random.random() < 0.05:
        data["properties"].append(grammar.property())
    if random.random() < 0.4:
        key = random.choice([key for key in data if key != "select"])
        old = data[key] if key == "final" else data[key][0]
        change: Change = other_bytes if random.random() < 0.05 else _wild
        new = several(random, old, change)
        data[key] = new if key == "final" else [new, *data[key][1:]]
    return data


def _wild(random: random.Random, text: str) -> str:
    return wild(random, text, WORDS)


@functools.cache
def program() -> Program:
    """The program that the properties are about; read once in each process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "program.c")
        file.write_text(SOURCE, encoding="utf-8")
        return Program.of(read_project(str(file)))


@functools.cache
def subject() -> Subject:
    """The program with one goal."""
    return program().subject(["reached: cover(n == 3)"])


def _judge(data: Input) -> Row:
    """Read everything as one command does, and evaluate what the reference can read."""
    criteria = data.get("criteria", ())
    found = program().subject(data["properties"], data.get("final"), data.get("select", ()), (), criteria)
    compared, random_ = 0, random.Random(repr(data))
    texts: list[tuple[str, FNode | None, int | None]] = []
    by_name = [goal for goal in found.goals if goal.where is not None and str(goal.where).startswith("--property")]
    for goal in by_name:
        number = int(str(goal.where).split()[1]) - 1
        parts = _parts(data["properties"][number])
        formulas = [goal.antecedent, *([goal.consequent] if goal.consequent is not None else [])]
        if parts is None:
            continue
        if len(parts) != len(formulas):
            return Row(DIFFER, f"{len(formulas)} parts of {data['properties'][number]}")
        length = _length(parts)
        if (
            length is None
        ):  # one part may move the other: which step a property begins with is that of the first it reads
            continue
        if length != goal.length:
            return Row(DIFFER, f"{goal.length} steps, not {length}: {data['properties'][number]}")
        texts += [(part, formula, goal.length) for part, formula in zip(parts, formulas, strict=True)]
    if data.get("final") not in (None, "", "none", "init"):
        texts.append((data["final"], found.final, None))
    for text, formula, length in texts:
        wrong = None if formula is None else _difference(text, formula, length, random_)
        if wrong is None:
            continue
        if wrong:
            return Row(DIFFER, wrong)
        compared += VALUATIONS
    return Row(AGREE if compared else ACCEPTED, steps=compared)


def _parts(text: str) -> list[str] | None:
    """Antecedent and consequent of a property; None where that takes more than counting brackets."""
    body = re.sub(r"^\s*[A-Za-z_][\w.=\-]*\s*:(?!:)", "", text).strip().rstrip(";").rstrip()
    found = re.fullmatch(r"(G|cover)\s*\((.*)\)", body, re.S)
    if found is None or re.search(r"['\"`]|/\*|//", text):
        return None
    if found[1] == "cover":
        return [found[2]]
    depth, cuts, inside = 0, [], found[2]
    for arrow in re.finditer(r"[()]|(?<![is])->|=>|⇒|→", inside):
        depth += {"(": 1, ")": -1}.get(arrow[0], 0)
        if depth == 0 and arrow[0] != ")":
            cuts.append(arrow)
    return [inside[: cuts[0].start()], inside[cuts[0].end() :]] if len(cuts) == 1 else None


def _length(parts: Sequence[str]) -> int | None:
    """J of a property; None where the reference cannot read it."""
    reader = Reader(NAMES)
    try:
        for part in parts:
            reader.read(part)
    except Unknown:
        return None
    return reader.length


def _difference(text: str, formula: FNode, length: int | None, random: random.Random) -> str | None:
    """How ``formula`` differs from what ``text`` says, '' if it does not; None where the reference cannot read it.

    ``length``: that of a property; None for a condition on one state.
    """
    evaluate = compile_formulas([formula])
    try:
        node = Reader(NAMES).read(text)
        for _ in range(VALUATIONS):
            values = _values(random, length or 0)
            expected = holds(node, lambda name, step, values=values: values[name, step])  # type: ignore[misc]
            got = evaluate(_raw(values, length is None))[0]
            if bool(got) != expected:
                shown = {f"{name}@{step}": value for (name, step), value in values.items()}
                return f"{bool(got)}, not {expected}: {text} with {shown}"
    except Unknown:
        return None
    return ""


Values = dict[tuple[str, int], int | float]


def _values(random: random.Random, length: int) -> Values:
    """Values of all variables at the steps that a property may speak of."""
    return {(name, step): value_of(random, t) for step in range(length + 1) for name, t in NAMES.variables.items()}


def value_of(random: random.Random, ctype: CType) -> int | float:
    """A value of a type: a small one, an end of its range, or any."""
    if ctype == DOUBLE:
        return random.choice((0.0, 1.0, -1.0, 0.5, 7.0, 3.5, 1e9, -1e300, 4.0, random.uniform(-10, 10)))
    if random.random() < 0.6:
        return ctype.wrapped(random.choice((0, 1, 2, 3, 4, 7, 8, 100, -1, -2)))
    low = -(1 << ctype.bits - 1) if ctype.signed else 0
    high = low + (1 << ctype.bits) - 1
    return random.choice((low, high, random.randint(low, high)))


def _raw(values: Values, plain: bool) -> Mapping[str, int]:
    """The values as raw patterns, by the names of the model's variables."""
    found = {}
    for (name, step), value in values.items():
        full = FULL.get(name, f"{'i' if name in INPUTS else 's'}->{name}")
        found[full if plain else f"{full}@{step}"] = raw_of(name, value)
    return {**found, **_rows(values, plain)}


def raw_of(name: str, value: int | float) -> int:
    """The raw pattern of a variable's value."""
    ctype = NAMES.variables[name]
    if ctype == DOUBLE:
        return int.from_bytes(struct.pack(">d", value), "big")
    return int(value) & (1 if ctype == BOOL else (1 << ctype.bits) - 1)


def _rows(values: Values, plain: bool) -> Mapping[str, int]:
    """Elements of arrays, which the reference does not know."""
    steps = sorted({step for _, step in values})
    return {f"s->row[{n}]{'' if plain else f'@{step}'}": 0 for step in steps for n in range(3)}


PROPERTIES = Kind("property", _draw, _judge, keeps="conditions")
