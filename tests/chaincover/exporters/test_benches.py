"""Chains in the formats of benches, read back by what others read them with: equal in every value."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import MODELS, ROOT, chaincover, fresh_names, write_files
from exported_chains import (
    FLOATS,
    FLOATS_PROJECT,
    FORMATS,
    Changes,
    by_pywellen,
    by_vcdvcd,
    chain_rows,
    csv_rows,
    json_rows,
    marked,
    run_tests,
    table_of,
    vcd_values,
)

from bmc.errors import Location
from bmc.system.transition import ValueType
from chaincover.project.load import Request, load_request
from chaincover.project.values import raw_value

SHORT = ("cruise", "window", "floats")
LONG = ("belt", "seat", "drive", "kiln")
"""Models that take seconds: evidence."""
SCHEMA = json.loads((ROOT / "chaincover/formats/schemas/stimulus.json").read_text(encoding="utf-8"))


class Files:
    """A project, its chain and the folder of each format; made when they are first asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self.project = MODELS / name
        if name == "floats":
            self.project = folder / "project"
            write_files(self.project, {"floats.c": FLOATS, "chaincover.toml": FLOATS_PROJECT})
        self.chain = folder / "chain"
        outcome = chaincover("generate", self.project, "--no-replay", "-q", "-o", self.chain)
        assert outcome.code == 0, outcome.stderr
        for form in FORMATS:
            outcome = chaincover("export", self.project, self.chain, "--format", form, "-o", folder / form)
            assert (outcome.code, outcome.stderr) == (0, "")
        self.table, self.document = folder / "csv/chain.csv", folder / "json/stimulus.json"
        self.waveform, self.module = folder / "vcd/chain.vcd", folder / "pytest/test_chain.py"
        self.rows = chain_rows(self.chain / "chain.json")
        self.data = json.loads((self.chain / "chain.json").read_text())
        with fresh_names():
            system = load_request(Request(str(self.project))).system
        self.types = {var.name: var.type for var in (*system.inputs, *system.visible_state)}

    @property
    def hits(self) -> dict[str, int]:
        return {hit["goal"]: hit["step"] for hit in self.data["chain"]["hits"]}

    @property
    def requirements(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for hit in sorted(self.data["chain"]["hits"], key=lambda hit: hit["step"]):
            named = next(goal["requirement"] for goal in self.data["goals"] if goal["name"] == hit["goal"])
            if named:
                found.setdefault(named, []).append(hit["step"])
        return found


@pytest.fixture(
    scope="module",
    params=[
        *SHORT,
        *(pytest.param(name, marks=pytest.mark.evidence) for name in LONG),
    ],
)
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return Files(request.param, tmp_path_factory.mktemp(request.param))


def judged(files: Files, recording: Path) -> None:
    """The file, as the recording of a run: everything is seen, and as expected."""
    outcome = chaincover("judge", files.project, files.chain, recording, "--json")
    assert outcome.code == 0, outcome.stderr
    compared = outcome.json["comparison"]
    assert (compared["first"], compared["steps"]) == (None, len(files.rows) - 1)
    assert len(compared["signals"]) == len(files.rows[0])
    for goal in outcome.json["goals"]:
        assert (goal["verdict"], goal["how"], goal["covered_at"]) == ("covered", "as seen", files.hits[goal["name"]])


def test_a_table_has_every_value(files: Files) -> None:
    assert csv_rows(files.table) == files.rows
    judged(files, files.table)


def test_a_table_says_where_goals_are_over_and_when_steps_begin(files: Files) -> None:
    with files.table.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.DictReader(file)
    ends = {goal["name"]: goal["end"] for goal in json.loads(files.document.read_text())["goals"]}
    assert {goal: int(row["step"]) + 1 for row in rows for goal in row["goals"].split("; ") if goal} == ends
    period = files.data["controller"]["period"]
    if period is None:
        assert "time" not in rows[0]
    else:
        assert [float(row["time"]) for row in rows] == pytest.approx([k * period for k in range(len(rows))], abs=1e-9)


def test_a_document_has_every_value_and_nothing_of_the_proof(files: Files) -> None:
    data = json.loads(files.document.read_text())
    jsonschema.validate(data, SCHEMA)
    assert json_rows(files.document) == files.rows
    assert {goal["name"]: goal["step"] for goal in data["goals"]} == files.hits
    assert [goal["step"] for goal in data["goals"]] == sorted(files.hits.values())
    if files.project.name != "project":  # of four steps
        assert files.document.stat().st_size * 10 < (files.chain / "chain.json").stat().st_size


@pytest.mark.parametrize("reader", [by_vcdvcd, by_pywellen])
def test_a_waveform_has_every_value(reader: Any, files: Files) -> None:
    table, changes = table_of(files.waveform), reader(files.waveform)
    types, steps = files.types, len(files.rows) - 1
    seen = 0
    for row, texts in zip(files.rows, vcd_values(changes, table, steps), strict=True):
        for signal, name in [*table["signals"].items(), *table["bits"].items(), *table["labels"].items()]:
            if signal not in texts or name not in row:
                continue
            seen += 1
            raw = raw_value(row[name], types[name], Location(""))
            assert of_text(texts[signal], types[name], signal in table["labels"], signal in table["bits"]) == (
                row[name] if signal in table["labels"] else raw
            ), (name, signal)
    assert seen >= sum(len(row) for row in files.rows)
    assert markers(changes, table, "goals") == {goal: [step] for goal, step in files.hits.items()}
    assert markers(changes, table, "requirements") == files.requirements


def of_text(text: str, vtype: ValueType, label: bool, bits: bool) -> int | str:
    """What a reader gives of a value: a name, or a raw pattern."""
    if label:
        return text
    if bits or not vtype.floating:
        return int(text, 2)
    value = float(text)
    if value != value:
        return raw_value("nan", vtype, Location(""))
    form, word = ("<d", "<Q") if vtype.bits == 64 else ("<f", "<I")
    return int(struct.unpack(word, struct.pack(form, value))[0])


def markers(changes: Changes, table: dict[str, Any], kind: str) -> dict[str, list[int]]:
    fired = marked({name: changes[name] for name in table[kind]}, table["ticks"])
    return {table[kind][name]: steps for name, steps in fired.items()}


def test_a_waveform_is_judged_as_the_run_that_it_is(files: Files) -> None:
    judged(files, files.waveform)


@pytest.mark.needs_compiler
def test_a_module_of_tests_passes_on_the_program(files: Files) -> None:
    done = run_tests(files.module, CHAINCOVER_SOURCES=str(files.project))
    assert done.code == 0, done.out
    goals = {f"test_goal[{goal}]" for goal in files.hits}
    assert goals <= done.outcomes.keys()
    expected = 1 + len(goals) + max(1, len(files.requirements))
    assert len(done.outcomes) == expected


def test_the_same_bytes_again(files: Files, tmp_path: Path) -> None:
    for form in FORMATS:
        assert chaincover("export", files.project, files.chain, "--format", form, "-q", "-o", tmp_path / form).code == 0
    for first in (files.table, files.document, files.waveform, files.module):
        assert first.read_bytes() == (tmp_path / first.parent.name / first.name).read_bytes()
