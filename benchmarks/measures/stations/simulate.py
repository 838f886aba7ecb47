"""The stations simulated without ChainCover: a C program of its own, built with the controller by the C compiler."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measures.stations import controller

HARNESS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stations.c"
static unsigned long long word = 88172645463325252ULL;
static unsigned draw(unsigned most)
{{
  word ^= word << 13; word ^= word >> 7; word ^= word << 17;
  return (unsigned)((word >> 11) % (most + 1ULL));
}}
static void draw_inputs(void)
{{
{draws}
}}
static int read_inputs(void)
{{
  unsigned value;
{reads}
  return 1;
}}
static unsigned covered[{count}];
static unsigned char seen[{count}];
static void judge(void)
{{
{judges}
}}
int main(int count, char **words)
{{
  int runs = count > 1 ? atoi(words[1]) : 0, steps = count > 2 ? atoi(words[2]) : 0;
  for (int run = 0; run < (runs ? runs : 1); run++) {{
    memset(&Line_DW, 0, sizeof Line_DW);
    memset(&Line_U, 0, sizeof Line_U);
    memset(seen, 0, sizeof seen);
    Line_initialize();
    judge();
    for (int step = 0; runs ? step < steps : read_inputs(); step++) {{
      if (runs) draw_inputs();
      Line_step();
      judge();
    }}
    for (int goal = 0; goal < {count}; goal++) covered[goal] += seen[goal];
  }}
  for (int goal = 0; goal < {count}; goal++) printf("%u\\n", covered[goal]);
  return 0;
}}
"""


class Simulation:
    """The built program in ``folder``."""

    def __init__(self, folder: Path) -> None:
        names, goals = controller.inputs(), controller.goals()
        text = HARNESS.format(
            count=len(goals),
            draws="\n".join(f"  Line_U.{name} = draw({most});" for name, most in names.items()),
            reads="\n".join(f'  if (scanf("%u", &value) != 1) return 0;\n  Line_U.{name} = value;' for name in names),
            judges="\n".join(f"  seen[{n}] |= {condition};" for n, condition in enumerate(goals.values())),
        )
        (folder / "stations.c").write_text(controller.program(), encoding="utf-8")
        (folder / "harness.c").write_text(text, encoding="utf-8")
        self._program = folder / "harness"
        subprocess.run(["cc", "-O1", "-o", self._program, folder / "harness.c"], check=True)

    def random(self, runs: int, steps: int) -> dict[str, int]:
        """How many of so many random runs cover each goal; every input is drawn anew in every step."""
        return self._run([str(runs), str(steps)], "")

    def replay(self, inputs: Sequence[Mapping[str, int]]) -> list[str]:
        """The goals that the run under ``inputs`` covers, an input that is left out being 0."""
        names = controller.inputs()
        rows = "\n".join(" ".join(str(step.get(name, 0)) for name in names) for step in inputs)
        return [goal for goal, count in self._run([], rows).items() if count]

    def _run(self, words: Sequence[str], rows: str) -> dict[str, int]:
        done = subprocess.run([self._program, *words], input=rows, capture_output=True, text=True, check=True)
        return dict(zip(controller.goals(), map(int, done.stdout.split()), strict=True))
