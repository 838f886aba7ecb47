"""Whether commands that come to a limit lose anything: ``python -m benchmarks ending-limits``.

Each command is run to its end once, with a clock that counts how often it is looked at (``counted`` beside this file).
Then it is run with the limit due at places that are spread evenly over these looks,
with an alarm due at once after it, and with a signal there. What was lost is told: an exit code that is not that of the
table, output that does not parse, a file that is not whole or that ``verify`` calls wrong, a chain that is worse than
one of which progress told.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks import FOLDER

MODELS = FOLDER / "models"
HOWS = ("limit", "alarm", "SIGINT", "SIGTERM")
CALLED_OFF = {"SIGINT": 130, "SIGTERM": 143}
NEVER = 1 << 40
"""A look that never comes."""
LONG = 100_000
"""Seconds of a time limit that ends nothing but where the clock is put on."""
PATIENCE = 300
"""Seconds for one run, on a machine that is busy."""

FAILS = """\
typedef struct { _Bool go; unsigned char a; } t_in;
typedef struct { unsigned char m, n; } t_st;
void init(t_st *s) { s->m = 0; s->n = 0; }
void compute(t_in *i, t_st *s) {
  if (s->m == 0) { if (i->go) { s->m = 1; s->n = 0; } }
  else if (s->m == 1) { if (s->n >= 20) s->m = i->a > 100 ? 2 : 3; else s->n++; if (!i->go) s->m = 0; }
  else if (!i->go) s->m = 0;
}
"""
"""A machine with a timer, of which a requirement fails that is told with it."""
EITHER = """\
typedef struct { _Bool b; } t_in;
typedef struct { unsigned char n, t; } t_st;
void init(t_st *s) { s->n = 0; s->t = 0; }
void compute(t_in *i, t_st *s) { if (s->n == 0) s->n = i->b ? 1 : 2; else if (s->t < 9) s->t += 1 + i->b; }
"""
"""A program that one chain cannot cover."""
ARRAYS = """\
#include <stdint.h>
#include <stdbool.h>
#define N 8
static uint8_t buf[N]; static uint16_t at, fill; static uint32_t sum; static uint8_t peak; static bool alarm;
void init(void) { for (int i = 0; i < N; i++) buf[i] = 0; at = 0; fill = 0; sum = 0; peak = 0; alarm = false; }
void compute(uint8_t sample, bool take, bool clear) {
  if (clear) { at = fill = 0; sum = 0; peak = 0; alarm = false; for (int i = 0; i < N; i++) buf[i] = 0; return; }
  if (!take) return;
  sum -= buf[at]; buf[at] = sample; sum += sample;
  if (sample > peak) peak = sample;
  at = (uint16_t)(at + 1 == N ? 0 : at + 1);
  if (fill < N) fill++;
  alarm = fill == N && sum > (uint32_t)N * 100u;
}
"""
"""A ring buffer with its sum, about which solvers are asked many questions."""
SUITE = """\
title = "One"
[[models]]
projects = "p/chaincover.toml"
[[configurations]]
name = "chaincover"
tool = "chaincover"
"""
PROJECT = """\
[sources]
files = ["../f.c"]
[[property]]
id = "m"
text = "cover(m == 2)"
"""


@dataclass(frozen=True)
class Case:
    """A command in a folder with ``files``. ``first``: a command that has to be run before it."""

    name: str
    words: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    first: tuple[str, ...] = ()


_GOALS = ("--cover", "transitions(m, 0..3)", "--property", "r: G(m == 2 -> n < 20)")
_EITHER = ("--property", "x: cover(n == 1 && t == 9)", "--property", "y: cover(n == 2 && t == 8)")
_MADE = ("generate", "f.c", *_GOALS, "-o", "made", "-q")
_SEVERAL = ("generate", "e.c", *_EITHER, "--several", "-o", "made", "-q")
_BUFFER = tuple(
    word
    for text in (
        "full: cover(fill == 8 && at == 0)",
        "alarm: G(!alarm && fill == 8 && take && !clear -> X(sum <= 2040u))",
        "mean: cover(fill == 8 && sum == 56u && peak == 9)",
        "rise: cover(take && buf[0] == 10 && buf[1] == 20 && buf[2] == 30)",
    )
    for word in ("--property", text)
)
_ASKED = ("generate", "a.c", *_BUFFER, "--final", "fill == 0", "--effort", "0.05", "-o", "out")
_BOTH = {"f.c": FAILS, "e.c": EITHER, "a.c": ARRAYS}
CASES = tuple(
    Case(name, words, _BOTH, first)
    for name, words, first in (
        ("generate", ("generate", "f.c", *_GOALS, "-o", "out"), ()),
        ("generate as JSON", ("generate", str(MODELS / "turnsignal"), "-o", "out", "--json"), ()),
        ("generate by sat", ("generate", "f.c", *_GOALS, "--engine", "sat", "-o", "out", "--json"), ()),
        ("generate --several", ("generate", "e.c", *_EITHER, "--several", "-o", "out", "--json"), ()),
        ("questions", _ASKED, ()),
        ("questions in 90 MB", (*_ASKED, "--memory-limit", "90"), ()),
        ("compare", ("compare", str(MODELS / "cruise"), "--seeds", "2", "-o", "out", "--json"), ()),
        ("check", ("check", "f.c", *_GOALS, "--json"), ()),
        ("graph", ("graph", "f.c", *_GOALS, "-K", "6", "--engine", "sat", "-o", "out/graph.json"), ()),
        ("verify", ("verify", "f.c", "made"), _MADE),
        ("verify several", ("verify", "e.c", "made", "--json"), _SEVERAL),
        ("replay", ("replay", "e.c", "made", "--json"), _SEVERAL),
        ("init", ("init", "f.c", "-o", "out.toml"), ()),
        ("bench", ("bench", "suite.toml", "-o", "out"), ()),
    )
)


@dataclass(frozen=True)
class Ended:
    """How a run ended, what it wrote, and how many looks there were."""

    code: int
    out: str
    err: str
    looks: int


def run(folder: Path, words: Sequence[str], at: int = NEVER, how: str = "limit") -> Ended:
    """Run a command in ``folder`` with the limit due at look number ``at``."""
    looks = folder / "looks"
    looks.unlink(missing_ok=True)
    limited = [*words, *(["--time-limit", str(LONG)] if words[0] != "bench" else [])]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.checks.endings.counted", str(at), how, str(folder), *limited],
        cwd=folder,
        env={**os.environ, "COLUMNS": "2000", "PYTHONFAULTHANDLER": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, int(looks.read_text()) if looks.exists() else 0)


def faults(case: Case, folder: Path, ended: Ended, at: int, how: str) -> Iterator[str]:
    """What was lost, in words."""
    if "Traceback" in ended.err + ended.out or ended.code in (70, 74) or ended.code < 0:
        yield f"it ended with {ended.code}: {ended.err[-2000:]}"
        return
    expected = CALLED_OFF.get(how) if at <= ended.looks else None
    if expected is not None and ended.code != expected:
        yield f"exit code {ended.code}, not {expected}"
    data: Any = None
    if "--json" in case.words or (case.words[0] == "graph" and ended.out):
        try:
            data = json.loads(ended.out)
        except ValueError:
            yield f"stdout is no JSON: {ended.out[:80]!r}"
            return
    unread = "error: " in ended.err
    if not unread and not ended.out and case.words[0] not in ("bench", "graph"):
        yield "nothing is told"
    out = folder / "out"
    for place in sorted(out.rglob("*")) if out.is_dir() else ():
        if place.name.startswith("."):
            yield f"{place.name} is left behind"
        if place.suffix == ".json":
            try:
                json.loads(place.read_text())
            except ValueError:
                yield f"{place.name} is not whole"
    if case.words[0] == "generate" and not unread:
        yield from _of_chains(case, folder, ended, data, expected)
    if case.words[0] == "verify" and not unread:
        last = data["summary"] if data else ended.out.strip().splitlines()[-1]
        if not re.match("wrong|checked|not re-proved|nothing", last):
            yield f"no verdict: {last}"
        if expected is None and ended.code not in (0, 1, 6):
            yield f"exit code {ended.code}"
    if unread and expected is None and ended.code != 5:
        yield f"exit code {ended.code}: {ended.err[-200:]}"


def _of_chains(case: Case, folder: Path, ended: Ended, data: Any, expected: int | None) -> Iterator[str]:
    """What was lost of the chains of ``generate``."""
    place = folder / "out" / ("chains.json" if "--several" in case.words else "chain.json")
    if not place.exists():
        yield "there is no result"
        return
    found = json.loads(place.read_text())
    if data is not None and data != found:
        yield "stdout and file differ"
    if not found["finished"]:
        yield "the file says that the search goes on"
    several = "--several" in case.words
    verdicts = [each["verdict"] for each in (found["verdicts"] if several else found["goals"])]
    covered = verdicts.count("covered")
    length = found["length"] if several else (found["bounds"]["length"] or 0)
    for told, steps in re.findall(r"(\d+) of \d+ goals(?: by \d+ chains? of| in) (\d+) step", ended.err):
        if (int(told), -int(steps)) > (covered, -length):
            yield f"{told} goals in {steps} steps were told, {covered} in {length} are there"
    failed = any(each["ruling"] == "can fail" for each in (found["requirements"] or {"rulings": ()})["rulings"])
    code = 1 if failed else 5 if "undecided" in verdicts or not covered else 0
    if expected is None and ended.code != code:
        yield f"exit code {ended.code}, not {code}"
    checked = subprocess.run(
        [sys.executable, "-m", "chaincover", "verify", case.words[1], str(place), "--effort", "0.1"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if checked.returncode not in (0, 1, 6):
        yield f"verify: {checked.returncode}: {checked.stdout[-300:]}{checked.stderr[-300:]}"


def prepared(case: Case, folder: Path) -> None:
    """The folder of a case as it is before its command."""
    for name, text in case.files.items():
        (folder / name).write_text(text)
    if case.words[0] == "bench":
        (folder / "suite.toml").write_text(SUITE)
        (folder / "p").mkdir()
        (folder / "p" / "chaincover.toml").write_text(PROJECT)
    (folder / "out").mkdir(exist_ok=True)
    if case.first:
        subprocess.run([sys.executable, "-m", "chaincover", *case.first], cwd=folder, capture_output=True, check=False)


def lost(case: Case, at: int, how: str) -> tuple[Ended, list[str]]:
    """The run of ``case`` with the limit due at look number ``at``, and what it lost."""
    with tempfile.TemporaryDirectory(prefix="chaincover-endings-") as name:
        folder = Path(name)
        prepared(case, folder)
        ended = run(folder, case.words, at, how)
        return ended, list(faults(case, folder, ended, at, how))


@click.command()
@click.argument("names", nargs=-1)
@click.option("--places", default=30, show_default=True, help="Places of each run.")
@click.option("--how", "hows", type=click.Choice(HOWS), multiple=True, help="Only these ways to end it.")
@click.option("--draw", type=int, metavar="SEED", help="Places that are drawn, in place of even ones.")
@click.option("--busy", default=0, show_default=True, help="Processes that keep the machine busy meanwhile.")
def main(names: Sequence[str], places: int, hows: Sequence[str], draw: int | None, busy: int) -> None:
    """Run all commands into their limits, or those that have one of NAMES in theirs."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    bad = runs = 0
    try:
        for case in CASES:
            if names and not any(name in case.name for name in names):
                continue
            ended, found = lost(case, NEVER, "limit")
            for text in found:
                click.echo(f"LOST  {case.name}: {text}")
            looks, bad = ended.looks, bad + bool(found)
            even = [max(1, looks * number // (places + 1)) for number in range(1, places + 1)]
            drawn = even if draw is None else random.Random(draw).choices(range(1, looks + 1), k=places)
            for how in hows or HOWS:
                codes: list[int] = []
                for at in drawn:
                    ended, found = lost(case, at, how)
                    runs, bad = runs + 1, bad + bool(found)
                    codes.append(ended.code)
                    for text in found:
                        click.echo(f"LOST  {case.name}: {how} at {at} of {looks}: {text}")
                counts = ", ".join(f"{codes.count(code)} of {code}" for code in sorted({*codes}))
                click.echo(f"{case.name:20} {looks:6} looks {how:8} exit codes: {counts}")
                sys.stdout.flush()
    finally:
        for process in others:
            process.kill()
    click.echo(f"{runs} runs, {bad} lost something")
    sys.exit(bool(bad))
