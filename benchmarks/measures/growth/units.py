"""Controllers of any length for the search: units with a mode and a timer that watch each other.

Own code. The same length always gives the same program.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

LINES = 22
"""Source lines of a unit, its declarations included."""

INPUTS = 8
HEAD = """\
typedef unsigned char boolean_T;
typedef unsigned char uint8_T;
typedef struct {
  uint8_T mode;
  uint8_T timer;
  boolean_T on;
} unit_T;
"""


def program(lines: int, seed: int = 0, inputs: int = INPUTS) -> str:
    """A controller of about ``lines`` source lines (at least 60), with ``units(lines)`` units.

    Each unit goes from mode 0 over 1 and 2 to 3 and back, a step at a time; inputs and other units' outputs are the
    conditions. The step function is ``units_step``, the init function ``units_init``; inputs are ``units_U.*``.
    """
    rng = random.Random(seed)
    count = units(lines)
    text = [*HEAD.splitlines(), "typedef struct {", *(f"  boolean_T in{i};" for i in range(inputs)), "} input_T;"]
    text += ["input_T units_U;", *(f"unit_T u{i};" for i in range(count)), ""]
    for number in range(count):
        text += _unit(rng, number, count, inputs)
    text += ["void units_init(void)", "{", *(f"  u{i}.mode = 0U;" for i in range(count)), "}", ""]
    text += ["void units_step(void)", "{", *(f"  unit{i}();" for i in range(count)), "}", ""]
    return "\n".join(text)


def units(lines: int) -> int:
    """The number of units in a program of about ``lines`` lines."""
    return max(2, round((lines - 26) / LINES))


def _unit(rng: random.Random, number: int, count: int, inputs: int) -> Iterator[str]:
    def other() -> str:
        return f"u{rng.choice([n for n in range(count) if n != number])}.on"

    def entry() -> str:
        return f"units_U.in{rng.randrange(inputs)}"

    own = f"u{number}"
    yield from (f"static void unit{number}(void)", "{", f"  switch ({own}.mode) {{")
    yield f"  case 0U: if ({entry()} && !{entry()}) {{ {own}.mode = 1U; {own}.timer = 0U; }}"
    yield "    break;"
    yield "  case 1U:"
    yield f"    if ({entry()} || {other()}) {{"
    yield f"      {own}.timer++;"
    yield "    }"
    yield f"    if ({own}.timer >= {rng.randint(2, 4)}U) {{"
    yield f"      {own}.mode = {entry()} ? 2U : 0U;"
    yield "    }"
    yield "    break;"
    yield f"  case 2U: if ({other()} || ({entry()} && {entry()})) {{ {own}.mode = 3U; }} break;"
    yield f"  default: if (!{other()} && {entry()}) {{ {own}.mode = 0U; }} break;"
    yield "  }"
    yield f"  {own}.on = {own}.mode >= {rng.randint(1, 3)}U;"
    yield from ("}", "")
