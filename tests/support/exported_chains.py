"""Exported chains read back by what is not ours: csv, json, vcdvcd, pywellen, pytest in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pywellen
from vcdvcd import VCDVCD

from bmc.system.simulation import Simulator
from bmc.system.transition import Valuation
from chaincover.chain import Hit
from chaincover.exporters.protocol import ExportedChain
from chaincover.subject import Subject
from properties.goal import Goal

if hasattr(signal, "SIGPIPE"):  # vcdvcd lets it end the process, which here is that of the tests
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)

FORMATS = ("csv", "json", "vcd", "pytest")
Rows = list[dict[str, Any]]
"""Values by variable: of the state before the first step, then of inputs and state of each step."""

FLOATS = """\
typedef enum { IDLE, BUSY, BROKEN = -3 } mode_t;
typedef struct { double temp; float demand; int raw; } in_t;
typedef struct { mode_t mode; double last; float duty[2]; short below; } st_t;
void init(st_t *s) { s->mode = IDLE; s->last = -0.0; s->duty[0] = 0.1f; s->duty[1] = 0; s->below = -1; }
void step(const in_t *in, st_t *s) {
  s->mode = in->raw < -100000 ? BROKEN : in->demand > 0.5f ? BUSY : IDLE;
  s->last = in->temp / 3;
  s->duty[1] = s->duty[0];
  s->duty[0] = in->demand;
  s->below = in->raw < 0 ? -2 : 2;
}
"""
FLOATS_PROJECT = """\
name = "floats"
period = 0.025
[sources]
files = ["floats.c"]
[functions]
init = ["init"]
step = "step"
[ranges]
"in->temp" = ["20.1", "nan", "-0.0", "inf", "1e-310"]
"in->demand" = "0.0..1.0"
[[property]]
id = "none"
text = "cover(s->last != s->last)"
[[property]]
id = "broken"
text = "G(in->raw == -123456 -> X(s->mode == BROKEN && s->below < 0))"
requirement = "F-1"
[[property]]
id = "busy"
text = "cover(s->mode == BUSY && s->duty[1] == 0.3f)"
requirement = "F-1"
[[property]]
id = "tiny"
text = "cover(in->temp > 0.0 && in->temp < 1.0)"
"""
"""Doubles and floats, an open input, an enumeration with a negative value, an array."""


def chain_rows(place: Path) -> Rows:
    """What a ``chain.json`` says."""
    chain = json.loads(place.read_text(encoding="utf-8"))["chain"]
    start = {**chain["initial"]["state"], **chain["initial"]["outputs"]}
    return [start, *({**each["inputs"], **each["state"], **each["outputs"]} for each in chain["steps"])]


def csv_rows(place: Path, delimiter: str = ",", comma: bool = False) -> Rows:
    """What a table says: texts as numbers where they are some."""
    with place.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file, delimiter=delimiter)]
    assert [row["step"] for row in rows] == ["init", *map(str, range(len(rows) - 1))]
    found: Rows = [{} for _ in rows]
    for title in rows[0]:
        name, _, kind = title.rpartition(" ")
        if kind in ("[driven]", "[expected]"):
            for row, into in zip(rows, found, strict=True):
                text = row[title].replace(",", ".") if comma else row[title]
                if row is rows[0] and kind == "[driven]":
                    assert text == ""
                else:
                    into[name] = number(text)
    return found


def number(text: str) -> Any:
    for read in (int, float):
        try:
            value = read(text)
        except ValueError:
            continue
        return text if value != value or value in (float("inf"), float("-inf")) else value
    return text


def json_rows(place: Path) -> Rows:
    """What a document for benches says."""
    data = json.loads(place.read_text(encoding="utf-8"))

    def unrolled(runs: list[Any]) -> list[Any]:
        return [value for each in runs for value in ([each[0]] * each[1] if isinstance(each, list) else [each])]

    found: Rows = [{} for _ in range(data["steps"] + 1)]
    for names, rows in ((data["inputs"], found[1:]), (data["expected"], found)):
        for name, runs in names.items():
            for row, value in zip(rows, unrolled(runs), strict=True):
                row[name] = value
    return found


def table_of(place: Path) -> dict[str, Any]:
    """The table in the comment of a VCD file."""
    line = next(line for line in place.read_text(encoding="ascii").splitlines() if line.startswith("$comment"))
    assert line.count("$") == 2
    table: dict[str, Any] = json.loads(line.removeprefix("$comment chaincover-signals ").removesuffix(" $end"))
    return table


Changes = Mapping[str, Sequence[tuple[int, str]]]
"""Of each signal, by its name without the scopes, the times and texts of its values."""


def by_vcdvcd(place: Path) -> Changes:
    """The signals as vcdvcd reads them, which knows no texts."""
    file = VCDVCD(str(place))
    return {name.rpartition(".")[2]: file[name].tv for name in file.signals if file[name].var_type != "string"}


def by_pywellen(place: Path) -> Changes:
    """The signals as pywellen reads them."""
    file = pywellen.Waveform(str(place))
    found = {}
    for variable in file.all_vars():
        changes = [(int(time), f"{value:b}" if isinstance(value, int) else str(value)) for time, value in variable.tv]
        found[str(variable.name)] = changes
    return found


def at(changes: Sequence[tuple[int, str]], time: int) -> str:
    """The value at a time: that of the last change no later."""
    return [text for when, text in changes if when <= time][-1]


def marked(changes: Changes, ticks: int) -> dict[str, list[int]]:
    """The steps at which markers fire."""
    return {name: [time // ticks for time, _ in fired] for name, fired in changes.items()}


def vcd_values(changes: Changes, table: Mapping[str, Any], steps: int) -> Iterator[dict[str, str]]:
    """The texts of signals before the first step, then at the end of each."""
    ticks, names = table["ticks"], {*table["signals"], *table["bits"], *table["labels"]} & changes.keys()
    sampled = {name: [*_sampled(changes[name], [0, *((k + 1) * ticks - 1 for k in range(steps))])] for name in names}
    for row in range(steps + 1):
        yield {name: texts[row] for name, texts in sampled.items()}


def _sampled(changes: Sequence[tuple[int, str]], times: Sequence[int]) -> Iterator[str]:
    position, text = 0, ""
    for time in times:
        while position < len(changes) and changes[position][0] <= time:
            text = changes[position][1]
            position += 1
        yield text


@dataclass(frozen=True)
class Tests:
    """How pytest ended: its exit code, what it wrote, and the outcomes in its JUnit file by the names of tests."""

    code: int
    out: str
    outcomes: Mapping[str, str]


def run_tests(module: Path, *options: str, **variables: str) -> Tests:
    """Run an exported module in a process of its own, with no plugin of pytest."""
    from xml.etree import ElementTree

    report = module.with_name("junit.xml")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, f"--junitxml={report}"]
    done = subprocess.run(
        [*words, *options, f"--rootdir={module.parent}", str(module)],
        cwd=module.parent,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
        capture_output=True,
        check=False,
    )
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
        found[str(case.get("name"))] = kinds[0] if kinds else "passed"
    return Tests(done.returncode, done.stdout.decode() + done.stderr.decode(), found)


def exported(subject: Subject, inputs: Sequence[Valuation], goals: Sequence[Goal]) -> ExportedChain:
    """A chain of inputs that covers each of ``goals`` in its first step, as exporters get it."""
    from dataclasses import replace

    simulator = Simulator(subject.system)
    run = simulator.run(simulator.initial(), inputs)
    hits = [Hit(goal.name, 0, None if goal.consequent is None else True) for goal in goals]
    return ExportedChain(replace(subject, goals=tuple(goals)), run, hits, {}, "chain.json")
