"""Names and texts that formats take for something else, in each format of benches and in JUnit files."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from c_support import own_environment
from command_line import write_files
from exported_chains import FLOATS, FLOATS_PROJECT, by_pywellen, by_vcdvcd, exported, marked, run_tests, table_of
from hostile_names import HOSTILE
from pysmt.shortcuts import TRUE

from bmc.system.transition import InputVariable, ValueType
from chaincover.exporters.columns import Column, plain_names
from chaincover.exporters.protocol import ExportedChain
from chaincover.exporters.pytest_module import PytestModule
from chaincover.exporters.stimulus import Stimuli
from chaincover.exporters.table import Table, as_text
from chaincover.exporters.waveform import Waveform, waveform
from chaincover.project.load import Request, load_request
from chaincover.report.junit import FAILURE, Case, junit
from chaincover.target.table import Layout, read_table
from chaincover.target.vcd import read_vcd
from properties.goal import Goal

__all__ = ["own_environment"]
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
STEPS = ({"in->temp": 0, "in->demand": 0, "in->raw": 5}, {"in->temp": 0, "in->demand": 0, "in->raw": 6})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_files(folder, {"floats.c": FLOATS, "chaincover.toml": FLOATS_PROJECT})
    return folder


@pytest.fixture(scope="module")
def chain(project: Path) -> ExportedChain:
    """Its goals, their texts and descriptions and the requirements have hostile names; each is covered in step 0."""
    subject = load_request(Request(str(project)))
    goals = [
        Goal(name, TRUE(), TRUE() if number % 2 else None, 1, text=name, description=name, requirement=f"{name} R")
        for number, name in enumerate(HOSTILE)
    ]
    return exported(replace(subject, settings=replace(subject.settings, period=None)), STEPS, goals)


def test_there_are_twenty_of_them() -> None:
    assert len(HOSTILE) == len({*HOSTILE}) == 20


def test_a_table_has_one_line_a_step_and_no_formula(chain: ExportedChain, tmp_path: Path) -> None:
    for each in HOSTILE:
        one = replace(chain, hits=[hit for hit in chain.hits if hit.goal == each])
        content = Table().files(one)["chain.csv"]
        lines = content.decode().splitlines()
        assert len(lines) == 4
        assert all(character.isprintable() for line in lines for character in line)
        title, _, row, _ = csv.reader(lines)
        cell = row[title.index("goals")]
        assert cell
        assert not cell.startswith(("=", "+", "-", "@"))
    (tmp_path / "chain.csv").write_bytes(Table().files(chain)["chain.csv"])
    layout = Layout.of(chain.subject.system, {}, None, None)
    read = read_table(str(tmp_path / "chain.csv"), layout)
    assert (read.inputs, read.notes) == (STEPS, ())
    assert [dict(row) for row in read.states] == [
        {name: row[name] for name in read.states[0]} for row in chain.run.states
    ]


def test_only_texts_get_an_apostrophe(chain: ExportedChain) -> None:
    assert [as_text(text) for text in ("=1", "+1", "-1", "@a", "'a", "a=1", "")] == [
        *("'=1", "'+1", "'-1", "'@a", "''a", "a=1", "")
    ]
    _, _, row, *_ = csv.DictReader(Table().files(chain)["chain.csv"].decode().splitlines())
    assert row["s->below [expected]"] == "2"
    rows = [*csv.DictReader(Table().files(chain)["chain.csv"].decode().splitlines())]
    assert rows[0]["s->below [expected]"] == "-1"


def test_a_document_gives_every_name_back(chain: ExportedChain) -> None:
    content = Stimuli().files(chain)["stimulus.json"]
    assert content.isascii()
    goals = json.loads(content)["goals"]
    assert [(goal["name"], goal["property"], goal["requirement"]) for goal in goals] == [
        (name, name, f"{name} R") for name in HOSTILE
    ]


def test_a_waveform_gives_every_name_back(chain: ExportedChain, tmp_path: Path) -> None:
    place = tmp_path / "chain.vcd"
    place.write_bytes(Waveform().files(chain)["chain.vcd"])
    table = table_of(place)
    assert [*table["goals"].values()] == [*HOSTILE]
    assert [*table["requirements"].values()] == [f"{name} R" for name in HOSTILE]
    for reader in (by_vcdvcd, by_pywellen):
        changes = reader(place)
        assert all(PLAIN.fullmatch(name) for name in changes)
        assert marked({name: changes[name] for name in table["goals"]}, table["ticks"]) == {
            name: [0] for name in table["goals"]
        }
    recording = read_vcd(str(place), Layout.of(chain.subject.system, {}, None, None))
    assert (recording.inputs, recording.notes) == (STEPS, ())
    assert recording.states[0]["s->below"] == chain.run.states[0]["s->below"]


def test_names_of_variables_and_values_in_a_waveform(tmp_path: Path) -> None:
    """A machine's inputs and values may be called anything; C has ``->`` and ``[0]``."""
    labels = ValueType("t", 8, labels=tuple((name, number) for number, name in enumerate(HOSTILE)))
    names = [*HOSTILE, "a[0]", "a->b", "a b", "$end", "a_0", "A_0", "9", "_", "", "a$b", "ab[0]", "#0"]
    variables = [InputVariable(name, labels) for name in names]
    found = [Column(var.name, var, True, [*range(len(HOSTILE))]) for var in variables]
    place = tmp_path / "names.vcd"
    place.write_bytes(waveform("a $end", found, None, {}))
    table = table_of(place)
    assert [*table["signals"].values()] == names
    assert [*table["labels"].values()] == names
    for reader in (by_vcdvcd, by_pywellen):
        changes = reader(place)
        for name in table["signals"]:
            assert PLAIN.fullmatch(name)
            assert [int(value, 2) for _, value in changes[name]] == [*range(len(HOSTILE))]
    texts = by_pywellen(place)
    for name in table["labels"]:
        assert len({text for _, text in texts[name]}) == len(HOSTILE)
    lines = place.read_text(encoding="ascii").splitlines()
    assert all(line.isprintable() for line in lines)
    assert all(len(line.split()) == 2 for line in lines if line.startswith("s"))


def test_plain_names_are_apart_and_plain_ones_stay() -> None:
    made = plain_names(["a[0]", "a_0", "A_0", "a->0", *HOSTILE], taken=["a_0_2"])
    assert made["a_0"] == "a_0"
    assert len({name.lower() for name in made.values()} | {"a_0_2"}) == len(made) + 1
    assert all(PLAIN.fullmatch(name) for name in made.values())


@pytest.mark.needs_compiler
def test_a_module_of_tests_has_a_plain_test_for_each(chain: ExportedChain, project: Path, tmp_path: Path) -> None:
    place = tmp_path / "test_chain.py"
    content = PytestModule().files(chain)["test_chain.py"]
    place.write_bytes(content)
    assert content.isascii()
    done = run_tests(place, CHAINCOVER_SOURCES=str(project))
    assert (done.code, {*done.outcomes.values()}) == (0, {"passed"}), done.out
    assert len(done.outcomes) == 1 + 2 * len(HOSTILE)
    assert all(re.fullmatch(r"test_(chain|\w+\[\w+\])", name) for name in done.outcomes)


@pytest.mark.needs_compiler
def test_what_a_failing_module_says_is_no_command(chain: ExportedChain, tmp_path: Path) -> None:
    """The program is another one: each test fails, with the name of its goal."""
    write_files(tmp_path, {"floats.c": FLOATS.replace("? -2 : 2", "? -2 : 3")})
    place = tmp_path / "test_chain.py"
    place.write_bytes(PytestModule().files(chain)["test_chain.py"])
    done = run_tests(place)
    assert {*done.outcomes.values()} == {"failure"}
    lines = done.out.splitlines()
    assert all(line.isprintable() for line in lines)
    assert not [line for line in lines if line.startswith(("::", "not ok", "Bail out"))]
    assert all(f"{name!a}: after 1 steps 's->below' is 3, not 2" in done.out for name in HOSTILE)


def test_junit_files(tmp_path: Path) -> None:
    """What XML has no place for is written as its number; everything else comes back as it was."""
    place = tmp_path / "junit.xml"
    cases = [Case("goal", name, FAILURE, name) for name in HOSTILE]
    place.write_text(junit(HOSTILE[0], cases), encoding="utf-8")
    found = [*ElementTree.parse(place).iter("testcase")]
    for name, case in zip(HOSTILE, found, strict=True):
        message = case[0].get("message")
        assert case.get("name") == message
        legal = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", lambda c: f"\\x{ord(c[0]):02x}", name)
        assert message == legal
    assert len({case.get("name") for case in found}) == len(HOSTILE)
