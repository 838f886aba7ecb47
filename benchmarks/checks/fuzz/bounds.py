"""Controllers whose goals depend on functions of the C library with bounds, against the same controllers with tables.

The reference defines the functions itself, as tables of what the C library yields for all arguments that can occur: it
is exact. A goal that is covered with bounds is covered there, one that no run covers with bounds is covered by none
there, and the least length there lies between bound and length.
"""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

from benchmarks.checks.fuzz.examine import AGREE, DIFFER, Input, Kind, Row
from bmc.floats.format import FLOAT64, number
from bmc.native.mathematics import Library
from bmc.native.original import compiled
from chaincover.bounded import BoundedSearch
from chaincover.chain import COVERED, UNREACHABLE
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Program, Request
from chaincover.result import ChainResult, Silent

FUNCTIONS = {
    "sin": (1, "-1..1"),
    "cos": (1, "-1..1"),
    "tanh": (1, "-1..1"),
    "atan": (1, "-2..2"),
    "exp": (1, "0..1e4"),
    "log": (1, "-5..5"),
    "exp2": (1, "0..1e4"),
    "atan2": (2, "-4..4"),
    "pow": (2, "0..1e5"),
}
"""The number of arguments and bounds of each function, for the arguments that occur."""
PARTS = 4
"""Arguments are multiples of so large a part of 1."""
PROGRAM = """\
#include <math.h>
typedef struct {{ int a; int b; }} t_in;
static int mode, n, y;
{own}
void init(void) {{ mode = 0; n = 0; y = 0; }}
void step(t_in *i) {{
  if (i->a) n = (n + {up}) % {size}; else n = (n * {by} + {more}) % {size};
  double x = {function}({arguments});
  y = (int)(x * 4);
  if (x > {high} && mode == 0) mode = 1;
  else if (x < {low} && mode == 1 && i->b) mode = 2;
  if (x > {most}) mode = 3;
}}
"""
PROJECT = """\
[sources]
files = ["program.c"]
[functions]
init = "init"
step = "step"
{bounds}
[interface]
input = ["i->*"]
[ranges]
"i->a" = "0..1"
"i->b" = "0..1"
[[property]]
text = "one: cover(mode == 1)"
[[property]]
text = "two: cover(mode == 2)"
[[property]]
text = "three: cover(mode == 3)"
[[property]]
text = "four: cover(y == {value} && mode == 1)"
"""


@cache
def _library() -> Library:
    return Library()


def _value(function: str, arguments: list[float]) -> float:
    from struct import pack, unpack

    patterns = [unpack("<Q", pack("<d", each))[0] for each in arguments]
    return number(_library().value(function, patterns, 64), FLOAT64)


def _drawn(source: random.Random) -> Input:
    function, size = source.choice([*FUNCTIONS]), source.randint(3, 12)
    arity, bounds = FUNCTIONS[function]
    arguments = [f"(n + 1) / {PARTS}.0", "(mode + 1) * 0.5"][:arity]
    every = [(n + 1) / PARTS for n in range(size)]
    rows = [[x] for x in every] if arity == 1 else [[x, (m + 1) * 0.5] for x in every for m in range(4)]
    values = {tuple(row): _value(function, row) for row in rows}
    some = sorted(values.values())
    names = ["x", "z"][:arity]
    cases = (
        f"  if ({' && '.join(f'{n} == {a.hex()}' for n, a in zip(names, row, strict=True))}) return {v.hex()};"
        for row, v in values.items()
    )
    own = f"double {function}({', '.join(f'double {n}' for n in names)}) {{\n" + "\n".join(cases) + "\n  return 0;\n}"
    words = {
        "up": source.randint(1, size - 1),
        "by": source.randint(1, 3),
        "more": source.randint(0, 2),
        "size": size,
        "function": function,
        "arguments": ", ".join(arguments),
        "high": source.choice(some) * source.choice((0.9, 1, 1.01)),
        "low": source.choice(some),
        "most": source.choice((some[-1] * 0.99, some[-1], 1e6)),
    }
    value = int(source.choice(some) * 4)
    line = f'bounds = {{ {function} = "{bounds}" }}'
    return {
        "files": {
            "program.c": PROGRAM.format(own="", **words),
            "chaincover.toml": PROJECT.format(bounds=line, value=value),
        },
        "reference": {
            "program.c": PROGRAM.format(own=own, **words),
            "chaincover.toml": PROJECT.format(bounds="", value=value),
        },
    }


def _results(data: Input) -> tuple[ChainResult, ChainResult]:
    """With bounds, and of the reference."""
    with tempfile.TemporaryDirectory() as name:
        for part in ("files", "reference"):
            (Path(name) / part).mkdir()
            for file, text in data[part].items():
                (Path(name) / part / file).write_text(text)
        options = Options(effort=0.2)
        exact = generate(Program.of(Request(f"{name}/reference").project()).subject().problem, options)
        subject = Program.of(Request(f"{name}/files").project()).subject(bounds=UseOfBounds.SEARCHED)
        with compiled(subject.model.native) as original:  # type: ignore[attr-defined]
            return BoundedSearch(subject, options, lambda: original).find(Silent()), exact


def _judged(data: Input) -> Row:
    found, exact = _results(data)
    told = {verdict.goal: verdict.status for verdict in exact.verdicts}
    faults = [
        f"{verdict.goal} is {verdict.status}, and {told[verdict.goal]} by the table"
        for verdict in found.verdicts
        if {verdict.status, told[verdict.goal]} == {COVERED, UNREACHABLE}
    ]
    same = found.chain is not None and exact.chain is not None and found.chain.goals == exact.chain.goals
    if same and exact.chain is not None and found.chain is not None and exact.bounds.minimal:
        least = exact.chain.length
        if not found.bounds.lower <= least <= found.chain.length:
            faults.append(f"{least} by the table, not {found.bounds.lower} to {found.chain.length}")
    settled = all(verdict.status == told[verdict.goal] for verdict in found.verdicts)
    detail = "; ".join(faults) or ("minimal" if settled and found.bounds.minimal else "settled" if settled else "open")
    return Row(DIFFER if faults else AGREE, detail, 0 if found.chain is None else found.chain.length)


BOUNDS = (Kind("bounds", _drawn, _judged),)
