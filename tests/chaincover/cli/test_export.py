"""The command ``export``: what it writes, what it refuses, and formats of other packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command_line import MODELS, ROOT, Outcome, chaincover, in_process_of_its_own, write_files
from foreign_models import AigerFile, Btor2File, bit_of
from schemas import faults
from small_programs import program
from verify_documents import claim

from chaincover.certificate import PathFact
from chaincover.exporters import GROUP

CRUISE = MODELS / "cruise"
SCHEMA = json.loads((ROOT / "chaincover/formats/schemas/export.json").read_text(encoding="utf-8"))
PLUG_IN = """\
class Lines:
    suffix = ".txt"

    def write(self, question):
        return question.statement.text.encode()


class Half:
    suffix = ".txt"
"""


def checked(index: Any) -> Any:
    jsonschema.validate(index, SCHEMA)
    return index


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("result")
    assert chaincover("generate", CRUISE, "--no-replay", "-q", "-o", folder).code == 0
    return folder


@pytest.fixture(scope="module")
def whole(result: Path) -> dict[str, Any]:
    """What is told of all claims of the result."""
    told: dict[str, Any] = chaincover("export", CRUISE, result, "--json", "-o", result / "whole").json
    return told


def test_a_project_as_a_question_whose_counterexample_is_a_chain(result: Path, tmp_path: Path) -> None:
    """The chain's inputs lead to the bad state in the frame of its length, and in no earlier one."""
    place = tmp_path / "new" / "cruise.aig"
    outcome = chaincover("export", CRUISE, "-o", place)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"written to {place}: no chain covers all 4 goals and ends in the final condition\n"
    file, steps = AigerFile.read(place.read_bytes()), json.loads((result / "chain.json").read_text())["chain"]["steps"]
    latches, bad = file.start(), []
    for step in [*steps, steps[-1]]:
        given = {name: int(value) for name, value in step["inputs"].items()}
        latches, here = file.step(latches, lambda name, given=given: bit_of(given, name))  # type: ignore[misc]
        bad.append(here)
    assert bad.index(True) == len(steps) == 9


@pytest.mark.parametrize("form", ["aiger", "btor2"])
def test_the_same_bytes_again(form: str, result: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert chaincover("export", CRUISE, result, "--format", form, "-q", "-o", tmp_path / name).code == 0
    first, second = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("a", "b"))
    assert first == second


def test_a_result_as_its_claims(result: Path, tmp_path: Path) -> None:
    outcome = chaincover("export", CRUISE, result / "chain.json", "--format", "btor2", "-o", tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    index = checked(json.loads((tmp_path / "index.json").read_text()))
    files = [each["file"] for each in index["questions"]]
    assert (
        outcome.out
        == f"written to {tmp_path}: {len(files)} claims, {len(index['left_out'])} left out: see index.json\n"
    )
    assert {place.name for place in tmp_path.iterdir()} == {*files, "index.json"}
    assert files[0] == "0001-length-below-9.frames-9.btor2"
    assert {each["kind"] for each in index["questions"]} == {"length", "edge", "invariant", "requirement"}
    assert [each["kind"] for each in index["left_out"]] == ["invariant", "fact", "fact"]
    for each in index["questions"]:
        read = Btor2File.read((tmp_path / each["file"]).read_bytes())
        assert each["text"] in read.comments
        assert str(each["frames"]) in each["file"]


def test_as_json(result: Path, tmp_path: Path) -> None:
    told = chaincover("export", CRUISE, "--max-length", 8, "--json", "-o", tmp_path / "x.aig").json
    (question,) = checked(told)["questions"]
    assert question["frames"] == 9
    assert question["text"].startswith("no chain of 8 steps or fewer covers all 4 goals")
    told = chaincover("export", CRUISE, result, "--json", "-o", tmp_path / "claims").json
    assert told == checked(json.loads((tmp_path / "claims" / "index.json").read_text()))


def test_the_requirements_that_fail_on_a_run_are_told(result: Path, tmp_path: Path) -> None:
    """Of a table, which is no test, and of a harness, which says what its test does."""
    property_ = ("--property", "slow: G(mode == ON -> X(speed == 0))")
    assert chaincover("generate", CRUISE, *property_, "-o", tmp_path / "slow", "-q").code == 1
    run = ("export", CRUISE, tmp_path / "slow/violation-slow.csv", *property_)
    for form, says in (("csv", ""), ("pytest", ": its test fails as long as the program does as predicted")):
        told = chaincover(*run, "--format", form, "--json", "-o", tmp_path / form).json
        assert faults(told, "exported.json") == []
        (failing,) = told["failing"]
        text = f"requirement slow fails at step {failing['step']} of this run{says}"
        assert (failing["goal"], failing["told"]) == ("slow", text)
        assert text in chaincover(*run, "--format", form, "-o", tmp_path / form).out
    assert chaincover("export", CRUISE, result, "--format", "csv", "--json", "-o", tmp_path / "x").json["failing"] == []


def test_options_of_a_request(tmp_path: Path) -> None:
    def text(*options: object) -> str:
        told = chaincover("export", CRUISE, *options, "--json", "-o", tmp_path / "x.aig").json
        return str(told["questions"][0]["text"])

    assert text("--goal", "p_1", "--final", "none") == "no chain covers the goal"
    assert "no two of which share a step, and ends in the final condition" in text("--overlap", "forbid")
    file = AigerFile.read((tmp_path / "x.aig").read_bytes())
    assert {f"monitor#pick:3[{bit}]" for bit in range(3)} <= {*file.inputs}
    assert text("--hold", 2)
    assert any(name.startswith("hold#phase") for name in AigerFile.read((tmp_path / "x.aig").read_bytes()).latches)


def refused(outcome: Outcome, code: int, *words: str) -> None:
    assert outcome.code == code, outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert all(word in outcome.stderr for word in words), outcome.stderr
    assert "next: " in outcome.stderr or code == 2


def test_what_is_refused(result: Path, tmp_path: Path) -> None:
    refused(chaincover("export", CRUISE, "-o", tmp_path), 2, "this is a folder", "name a file")
    refused(chaincover("export", CRUISE), 2, "-o")
    refused(chaincover("export", CRUISE, "--format", "smv", "-o", tmp_path / "x"), 2, "aiger", "btor2")
    refused(chaincover("export", CRUISE, result, "--overlap", "forbid", "-o", tmp_path / "x"), 2, "its own overlap")
    refused(chaincover("export", CRUISE, CRUISE, "-o", tmp_path / "x"), 3, "this is a project, not a chain")
    refused(chaincover("export", CRUISE, tmp_path / "none", "-o", tmp_path / "x"), 3)
    write_files(tmp_path, {"c.c": program()})
    refused(chaincover("export", tmp_path / "c.c", "-o", tmp_path / "x"), 3, "there is no goal to cover")
    (tmp_path / "file").write_text("")
    refused(chaincover("export", CRUISE, result, "-o", tmp_path / "file"), 2)
    assert not (tmp_path / "x").exists()


def test_a_limit_leaves_no_file(tmp_path: Path) -> None:
    outcome = in_process_of_its_own("export", CRUISE, "--time-limit", 0.0001, "-o", tmp_path / "x.aig")
    refused(outcome, 5, "time limit")
    assert [*tmp_path.iterdir()] == []


def test_a_summary_of_several_chains_is_refused(tmp_path: Path) -> None:
    assert chaincover("generate", MODELS / "latch", "--several", "--no-replay", "-q", "-o", tmp_path / "s").code == 1
    outcome = chaincover("export", MODELS / "latch", tmp_path / "s" / "chains.json", "-o", tmp_path / "x")
    refused(outcome, 3, "several chains", "chain-1.json")


def changed(data: Any, *changes: tuple[str, Any]) -> Any:
    for path, value in changes:
        place, keys = data, path.split(".")
        for key in keys[:-1]:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[keys[-1]] = value
    return data


def never(*goals: str, **said: Any) -> Any:
    """A claim that no run covers ``goals``."""
    return {"claim": "never", "goals": [*goals], "least": None, "before": None, "to_end": True, "first": 0, **said}


@pytest.mark.parametrize(
    "change",
    [
        ("certificate.claims", 3),
        ("certificate.claims", [3]),
        ("certificate.claims", [{"path": ["init", "p_1"], "before": 1}]),
        ("certificate.claims", [{"claim": "ever", "path": ["init", "p_1"], "before": 1}]),
        ("certificate.claims", [{"claim": "never", "path": ["init"]}]),
        ("certificate.claims", [{"claim": "never", "path": 7, "before": 1}]),
        ("certificate.claims", [{"claim": "never", "path": ["init", "p_1"], "before": "1"}]),
        ("certificate.claims", [{"claim": "never", "path": ["init", "p_1"], "before": 1, "first": 0}]),
        ("certificate.claims", [{"claim": "inductive", "name": "one of 8 reachable states", "formula": None}] * 2),
        ("certificate.claims", [{"claim": "prices", "of": "orders", "bound": bound} for bound in (1, 2)]),
        ("certificate.claims", [never("p_1", before=4), never("p_2", before=4)]),
        ("certificate.goals", ["nothing"]),
        ("bounds.lower", "x"),
        ("settings", None),
        ("schema", "chaincover/chain/1"),
    ],
)
def test_a_damaged_result_is_refused(change: tuple[str, Any], result: Path, tmp_path: Path) -> None:
    data = changed(json.loads((result / "chain.json").read_text()), change)
    (tmp_path / "chain.json").write_text(json.dumps(data))
    refused(chaincover("export", CRUISE, tmp_path, "-o", tmp_path / "x"), 3)
    assert not (tmp_path / "x" / "index.json").exists()


def test_monitors_that_are_not_those_of_the_goals_are_refused(tmp_path: Path) -> None:
    """What a file says of its monitors is made again from its goals; nothing is written where it is not that."""
    made = ["--overlap", "forbid", "--no-replay", "-q", "-o", tmp_path / "r"]
    assert chaincover("generate", CRUISE, *made).code == 0
    assert chaincover("export", CRUISE, tmp_path / "r", "-o", tmp_path / "x").code == 0
    data = json.loads((tmp_path / "r" / "chain.json").read_text())
    first, *others = data["certificate"]["monitors"]
    for monitors in ({first: "true"}, {name: data["certificate"]["monitors"][name] for name in others}, {"none": "x"}):
        changed(data, ("certificate.monitors", monitors))
        (tmp_path / "chain.json").write_text(json.dumps(data))
        outcome = chaincover("export", CRUISE, tmp_path / "chain.json", "-o", tmp_path / "y")
        refused(outcome, 3, "monitors are not those of the goals", "chain.json")
        assert not (tmp_path / "y" / "index.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"edges": (PathFact(("init", "p_9"), 2),)},
        {"edges": (PathFact(("p_1", "p_1"), 2),)},
        {"paths": (PathFact((), 2),)},
        {"paths": (PathFact(("final", "p_1", "p_2"), 2),)},
        {"edges": (PathFact(("p_1", "p_2"), -2),)},
        {"unreachable": ("", "final")},
        {"conflicts": (("p_1", "zero"),)},
        {"invariants": ("s->enable is 0 or 1",), "formulas": {"s->enable is 0 or 1": "(and"}},
        {"normal_form": {"nothing": "1", "s->speed": "("}},
    ],
)
def test_a_claim_that_makes_no_sense_is_left_out(
    change: dict[str, Any], result: Path, whole: dict[str, Any], tmp_path: Path
) -> None:
    data = json.loads((result / "chain.json").read_text())
    claim(data, **change)
    (tmp_path / "chain.json").write_text(json.dumps(data))
    outcome = chaincover("export", CRUISE, tmp_path, "--json", "-o", tmp_path / "x")
    assert outcome.code == 0, outcome.stderr
    assert checked(outcome.json)["left_out"] != whole["left_out"]


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = f"""\
[{GROUP}]
lines = other_format:Lines
broken = no_such_package:Writer
half = other_format:Half
aiger = other_format:Lines
"""
    write_files(tmp_path, {"other-1.0.dist-info/entry_points.txt": text, "other_format.py": PLUG_IN})
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_formats_of_other_packages(plug_in: Path) -> None:
    def export(form: str) -> Outcome:
        return in_process_of_its_own("export", str(CRUISE), "--format", form, "-o", str(plug_in / "out"))

    assert export("lines").code == 0
    assert (plug_in / "out").read_text() == "no chain covers all 4 goals and ends in the final condition"
    refused(export("broken"), 2, "the format broken of another package cannot be loaded", "install that package again")
    refused(export("half"), 2, "has no method 'files', and no 'suffix' with a method")
    assert export("aiger").code == 0
    assert (plug_in / "out").read_bytes().startswith(b"aig "), "none takes the place of one of its own"
