"""How reading grows with the code: ``python -m benchmarks scale``.

Reads synthetic controllers of rising length, each in a process of its own, and writes a markdown table to stdout or to
a file. Seconds are of the processor and depend on the machine, terms do not.
"""

from __future__ import annotations

import json
import math
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import click
from pysmt.fnode import FNode

from benchmarks.measures.scale.controllers import Subject
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source import program
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.types import DATA_MODELS
from bmc.stack import with_deep_stack
from bmc.system.transition import TransitionSystem

SIZES = (1_250, 2_500, 5_000, 10_000, 20_000)
COLUMNS = ("preprocess", "parse", "encode", "decisions", "read", "MiB", "terms")


def configured(file: Path) -> SourceConfig:
    """How a synthetic controller in ``file`` is read."""
    return SourceConfig(
        "ctl", (str(file),), step="ctl_step", init=("ctl_initialize",), input=("ctl_U",), output=("ctl_Y",)
    )


def count_terms(system: TransitionSystem) -> int:
    """The number of different terms in a system: its next-state functions and all that restricts or checks a step."""
    checks = [c.formula for c in (*system.asserts, *system.undefined_behaviour, *system.invariants)]
    return count(*(var.next for var in system.state), system.defined, system.input_constraint, *checks)


def count(*formulas: FNode) -> int:
    """The number of different terms in formulas."""
    seen = set(formulas)
    todo = list(seen)
    while todo:
        fresh = {arg for arg in todo.pop().args() if arg not in seen}
        seen |= fresh
        todo += fresh
    return len(seen)


def measure(lines: int) -> dict[str, float]:
    """Read one controller: source counts, seconds of each stage, peak memory, terms."""
    text = Subject(lines).text()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ctl.c"
        file.write_text(text, encoding="utf-8")
        times = [time.process_time()]
        source = preprocess(str(file), Given(), DATA_MODELS["lp64"])
        times.append(time.process_time())
        with_deep_stack(lambda: program.parse_text(source.text, str(file)))
        times.append(time.process_time())
        model = read_c(configured(file))
        times.append(time.process_time())
        decisions = model.decisions
        times.append(time.process_time())
    first, second, whole, last = (after - before for before, after in pairwise(times))
    return {
        "lines": text.count("\n"),
        "ifs": len(re.findall(r"(?<!else )\bif \(", text)),
        "links": text.count("else if ("),
        "evaluated": len(decisions),
        "preprocess": first,
        "parse": second,
        "encode": whole - first - second,
        "decisions": last,
        "read": whole + last,
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "terms": count_terms(model.system),
    }


def exponent(lines: Sequence[float], amounts: Sequence[float]) -> float:
    """The e of the power law ``amount = c * lines ** e`` that fits best (least squares of logarithms)."""
    xs, ys = [math.log(x) for x in lines], [math.log(max(y, 1e-6)) for y in amounts]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def write_table(rows: Sequence[dict[str, float]], out: TextIO) -> None:
    """The measurements and how each column grows."""
    print("| lines | ifs | links | preprocess | parse | encode | decisions | read | MiB | terms | per line |", file=out)
    print("|" + "---|" * 11, file=out)
    for row in rows:
        seconds = " | ".join(f"{row[name]:.2f}" for name in COLUMNS[:5])
        counts = f"{row['lines']:,} | {row['ifs']:,} | {row['links']:,}"
        per_line = row["terms"] / row["lines"]
        print(f"| {counts} | {seconds} | {row['MiB']:.0f} | {row['terms']:,} | {per_line:.2f} |", file=out)
    if len(rows) > 1:
        lines = [row["lines"] for row in rows]
        fitted = " | ".join(f"{exponent(lines, [row[name] for row in rows]):.2f}" for name in COLUMNS)
        print(f"| exponent | | | {fitted} | |", file=out)


def _apart(sizes: Iterable[int]) -> list[dict[str, float]]:
    command = [sys.executable, "-m", "benchmarks", "scale", "--one"]
    done = (subprocess.run([*command, str(n)], check=True, capture_output=True, text=True) for n in sizes)
    return [json.loads(process.stdout) for process in done]


@click.command()
@click.argument("sizes", type=click.IntRange(min=500), nargs=-1)
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where the table goes.")
@click.option("--one", type=click.IntRange(min=500), help="Measure one length in this process; print JSON.")
def main(sizes: tuple[int, ...], output: TextIO, one: int | None) -> None:
    """Read synthetic controllers of SIZES lines and say how seconds, memory and terms grow."""
    if one is not None:
        print(json.dumps(measure(one)), file=output)
        return
    write_table(_apart(sizes or SIZES), output)
