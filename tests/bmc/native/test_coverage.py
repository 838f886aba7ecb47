"""Lines of the compiled original are counted as gcov counts them; first steps are those of a search step by step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from drawn_seeds import seeds
from gcov_text import needs_gcov
from native_programs import Write, interface, static, whole, writer

from bmc.errors import NoOriginal
from bmc.native.coverage import INIT, Counted, Counts, counted, searched
from bmc.native.original import OriginalCrashed
from bmc.system.original import Call, NativeInterface

MAIN = """\
#include "times.h"
int in, n, last;
static int unused(int x) {
  return x ? 1 : 2;
}
void init(void) {
  n = 0;
}
void step(void) {
  for (int i = 0; i < in; i++)
    n += times(in);
  if (in > 2 || (n > 20 && in == 0))
    last = in; else last = -1;
  switch (in) {
  case 1: n++; break;
  case 2: n--; break;
  default: break;
  }
  if (in == 7) *(volatile int *)0 = 1;
}
"""
TIMES = """\
static inline int times(int x) {
  if (x == 2)
    return 3;
  return x;
}
"""
OTHER = '#include "times.h"\nint other(int x) {\n  return times(x);\n}\n'


@pytest.fixture
def program(tmp_path: Path) -> NativeInterface:
    write: Write = writer(tmp_path)
    (tmp_path / "times.h").write_text(TIMES)
    sources = write(main=MAIN, other=OTHER)
    variables = [static(name, sources[0]) for name in ("in", "n", "last")]
    return interface(sources, variables, [whole(v) for v in variables], Call("step"), (Call("init"),))


def inputs(*values: int) -> list[dict[str, int]]:
    return [{"in": value} for value in values]


def shown(found: Counted, file: str) -> dict[int, tuple[int, object]]:
    return {line.line: (line.count, line.first) for line in found.lines if Path(line.file).name == file}


@needs_gcov
def test_lines_of_sources_and_headers_have_their_counts_and_first_steps(program: NativeInterface) -> None:
    found = counted(program, inputs(0, 0, 3, 2, 0, 1))
    assert shown(found, "main.c") == {
        3: (0, None), 4: (0, None),
        6: (1, INIT), 7: (1, INIT), 8: (1, INIT),
        9: (6, 0), 10: (12, 0), 11: (6, 2), 12: (6, 0), 13: (6, 0),
        14: (6, 0), 15: (1, 5), 16: (1, 3), 17: (4, 0), 19: (6, 0), 20: (6, 0),
    }  # fmt: skip
    assert shown(found, "times.h") == {1: (6, 2), 2: (6, 2), 3: (2, 3), 4: (4, 2)}
    assert {line.function for line in found.lines if line.line == 4} == {"unused", "times"}
    taken = {line.line: line.outcomes for line in found.lines if line.file.endswith("main.c") and line.outcomes}
    assert sorted(taken[10]) == [(6, 0), (6, 2)]
    assert sorted(map(str, taken[19])) == ["(0, None)", "(6, 0)"]
    assert found.steps == 6
    assert "gcov" in found.gcov


@needs_gcov
@pytest.mark.slow
def test_each_prefix_of_a_run_executes_what_is_first_executed_in_it(program: NativeInterface) -> None:
    """A search step by step: each prefix in a run of its own, of which only what was executed at all is taken."""
    run = inputs(0, 0, 3, 2, 0, 1)
    whole_run = counted(program, run)
    for steps in range(len(run) + 1):
        prefix = counted(program, run[:steps])
        executed = {(line.file, line.line) for line in prefix.lines if line.count}
        said = {
            (x.file, x.line) for x in whole_run.lines if x.first == INIT or (x.first is not None and x.first < steps)
        }  # type: ignore[operator]
        assert executed == said


@seeds(40)
def test_first_steps_are_those_of_a_search_step_by_step(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    draw = Random(seed)
    steps, keys = draw.randint(0, 40), [("f.c", line) for line in range(draw.randint(1, 6))]
    rises = {key: sorted(draw.choices(range(steps + 1), k=draw.randint(0, 4))) for key in keys}
    asked: list[int] = []

    def counts(after: Sequence[int]) -> list[Counts]:
        assert [*after] == sorted(set(after))
        asked.extend(after)
        return [{key: ("f", sum(at <= k for at in own), ()) for key, own in rises.items()} for k in after]

    found = searched(counts, steps, "gcc", "gcov", Path("/elsewhere"))
    for line in found.lines:
        first = next(iter(rises[line.file, line.line]), None)
        assert line.first == (INIT if first == 0 else None if first is None else first - 1)
        assert line.count == len(rises[line.file, line.line])
    assert len(asked) == len(set(asked))


@needs_gcov
@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("gcc (Old) 11.4.0", "gcc 12 or newer"),
        ("clang version 17.0.6", "gcc and gcov, and the compiler is clang"),
        ("gcc (Strange) 12.99.7", "no gcov was found for gcc (Strange) 12.99.7"),
    ],
)
def test_without_a_gcc_that_counts_it_is_said_why(
    version: str, why: str, program: NativeInterface, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(NoOriginal, match=re.escape(why)):
        counted(program, inputs(0))
    monkeypatch.setenv("CHAINCOVER_NO_NATIVE", "1")
    with pytest.raises(NoOriginal, match="nothing is compiled"):
        counted(program, inputs(0))


@needs_gcov
def test_a_run_that_crashes_is_an_error_at_its_step(program: NativeInterface) -> None:
    with pytest.raises(OriginalCrashed, match=r"step 2 \(of 4") as caught:
        counted(program, inputs(0, 1, 7, 0))
    assert caught.value.step == 2
