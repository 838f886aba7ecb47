"""Every bundled model against its pinned figures, which come from an exhaustive search without ChainCover."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import MODEL_NAMES, MODELS, Outcome, assert_it_fits, chaincover, fresh_names

from bmc.native import differential
from chaincover.check.analysis import analyse
from chaincover.cli.check import EFFORT
from chaincover.options import Options
from chaincover.project.load import Request, load, load_request
from chaincover.project.project_file import read_project
from chaincover.report.console import Console
from chaincover.report.console_check import show_analysis

EXPECTED = {model: tomllib.loads((MODELS / model / "expected.toml").read_text()) for model in MODEL_NAMES}
ALL_RUNS = [(model, number, run) for model in MODEL_NAMES for number, run in enumerate(EXPECTED[model]["run"])]
RUNS = [one for one in ALL_RUNS if not one[2].get("several")]
SEVERAL = [one for one in ALL_RUNS if one[2].get("several")]
IDS = [f"{model}-{number}" for model, number, _ in RUNS]
LARGE = {
    *("boiler", "burner", "crane", "dishwasher", "dispenser", "drive", "gate", "kiln", "lubricator", "mixer"),
    *("oven", "reminder", "seat", "stairlight", "tank", "turnsignal", "turret"),
}
"""Models that take longest; smaller programs show what solves them: accelerated counters, normal forms, flows."""
ALIKE = {"belt", "crossing", "door", "heater", "pump", "wiper"}
"""Models that are read and solved as others are that stay in the suite: alarm, elevator, fan, latch and window."""
LONG = {"boiler", "mixer", "seat"}
"""Models whose length without a final condition ``partition/test_coverable_sets.py`` alone asks for."""
JUMPED = {"drive", "lubricator", "reminder", "tank"}
"""Models whose counters are jumped over: their states need not be enumerated within the effort of ``check``."""
REMEMBERED = {"belt"}
"""Models whose deadlines the exhaustive search remembers in other variables: they take other numbers of states."""

KEYS = {
    *("project", "goals", "exit_code", "covered", "verdicts", "consequent_failed"),
    *("length", "length_is_minimal", "length_without_final", "several", "chains"),
}
"""The keys of a run, all of which are looked at below."""


def generate(model: str, run: dict[str, Any], folder: Path, *options: object) -> tuple[Outcome, dict[str, Any]]:
    """The outcome and what it wrote."""
    goals = [word for goal in run.get("goals", []) for word in ("--goal", goal)]
    outcome = chaincover("generate", MODELS / model / run["project"], *goals, "-o", folder, *options, COLUMNS="120")
    assert outcome.err == ""
    assert_it_fits(outcome.out, folder)
    return outcome, json.loads((folder / "chain.json").read_text())


@pytest.mark.parametrize(
    ("model", "number", "run"),
    [pytest.param(*one, marks=pytest.mark.evidence if one[0] in LARGE | ALIKE else pytest.mark.slow) for one in RUNS],
    ids=IDS,
)
def test_what_a_run_answers(model: str, number: int, run: dict[str, Any], tmp_path: Path) -> None:
    assert run.keys() <= KEYS
    outcome, document = generate(model, run, tmp_path, "--no-replay")
    check_answer(run, outcome, document)
    if document["chain"] is not None:
        check_replay(model, run, tmp_path, document)


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("model", "number", "run"),
    [r for r in RUNS if "length_without_final" in r[2] and r[0] not in LONG],
    ids=lambda value: str(value)[:20],
)
def test_how_long_a_chain_is_that_may_end_anywhere(
    model: str, number: int, run: dict[str, Any], tmp_path: Path
) -> None:
    _, document = generate(model, run, tmp_path, "--no-replay", "--final", "none")
    bounds = document["bounds"]
    assert (bounds["length"], bounds["lower"], bounds["minimal"]) == (*[run["length_without_final"]] * 2, True)


@pytest.mark.slow
@pytest.mark.needs("elkai")
@pytest.mark.parametrize("model", ["cruise", "cruise_fig1", "latch"])
def test_an_ordering_that_proves_nothing_comes_to_the_same(model: str, tmp_path: Path) -> None:
    run = EXPECTED[model]["run"][0]
    check_answer(run, *generate(model, run, tmp_path, "--ordering", "tsp", "--no-replay"))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "number", "run"), SEVERAL, ids=[f"{model}-{number}" for model, number, _ in SEVERAL])
def test_several_chains_are_the_fewest_and_the_shortest(
    model: str, number: int, run: dict[str, Any], tmp_path: Path
) -> None:
    assert run.keys() <= KEYS
    outcome = chaincover("generate", MODELS / model / run["project"], "--several", "-o", tmp_path, COLUMNS="120")
    assert_it_fits(outcome.out, tmp_path)
    assert outcome.code == run["exit_code"]
    document = json.loads((tmp_path / "chains.json").read_text())
    assert {name for chain in document["chains"] for name in chain["goals"]} == set(run["covered"])
    assert len(document["chains"]) == run["chains"]
    assert document["length"] == run["length"]
    assert (document["lower"] == run["length"]) == document["minimal"] == run["length_is_minimal"]


@pytest.mark.evidence
@pytest.mark.parametrize("model", MODEL_NAMES)
def test_check_tells_how_many_states_are_reachable_in_forty_lines(model: str, tmp_path: Path) -> None:
    """It leaves out what can make no difference to the goals. Read and analysed once, told as data and as text."""
    with fresh_names():
        subject = load_request(Request(str(MODELS / model)))
        found = analyse(subject, Options(effort=EFFORT if model not in JUMPED else EFFORT / 20), compare_steps=20)
        out = Console(io.StringIO(), width=120)
        show_analysis(out, subject, found)
    assert isinstance(out.file, io.StringIO)
    assert_it_fits(out.file.getvalue(), tmp_path)
    states, counted = EXPECTED[model].get("reachable_states"), found.facts.reachable
    if states is not None and model not in JUMPED | REMEMBERED:
        assert counted is not None
        assert counted <= states
        assert counted == states or found.liveness.dead


def check_answer(run: dict[str, Any], outcome: Outcome, document: dict[str, Any]) -> None:
    assert outcome.code == run["exit_code"]
    verdicts = {goal["name"]: goal["verdict"] for goal in document["goals"]}
    expected = dict.fromkeys(run.get("covered", ()), "covered") | run.get("verdicts", {})
    assert {name: verdicts[name] for name in expected} == expected
    if "length" not in run:
        assert document["chain"] is None
        assert "covered" not in verdicts.values()
        return
    assert {v for name, v in verdicts.items() if name not in run.get("verdicts", {})} == {"covered"}
    check_length(run, document["bounds"], document["chain"])
    failed = {failure["goal"] for failure in document["chain"]["failures"]}
    assert failed == set(run.get("consequent_failed", ()))
    for name in failed:
        assert f"the consequent of {name} fails" in outcome.out


def check_length(run: dict[str, Any], bounds: dict[str, Any], chain: dict[str, Any]) -> None:
    assert run["length"] == bounds["length"] == chain["length"] == len(chain["steps"])
    assert (bounds["lower"] == run["length"]) == bounds["minimal"] == run["length_is_minimal"]


def check_replay(model: str, run: dict[str, Any], folder: Path, document: dict[str, Any]) -> None:
    """The written chain covers on the compiled original (without a compiler: on the model) what it claims, in place."""
    goals = [word for goal in run.get("goals", []) for word in ("--goal", goal)]
    outcome = chaincover("replay", MODELS / model / run["project"], folder / "chain.json", *goals, "--json")
    assert outcome.code == run["exit_code"]
    replayed = outcome.json
    assert not replayed["disagreements"] + replayed["refused_steps"] + replayed["assertions_failed"]
    assert replayed["final"] is (True if document["settings"]["final"] else None)
    claimed = {hit["goal"]: (hit["step"], hit["consequent_held"]) for hit in document["chain"]["hits"]}
    found = {goal["name"]: (goal["covered_at"], goal["consequent_held"]) for goal in replayed["goals"]}
    assert {name: place for name, place in found.items() if name not in run.get("verdicts", {})} == claimed


def test_cruise_ends_in_init_as_table_1_has_it(tmp_path: Path) -> None:
    outcome, document = generate("cruise", {"project": "cruise.c"}, tmp_path, "--no-replay", "--final", "init")
    assert outcome.code == 0
    assert (document["bounds"]["length"], document["bounds"]["minimal"]) == (9, True)


@pytest.mark.slow
def test_fig_1_has_no_way_back(tmp_path: Path) -> None:
    """The listing as printed; p_4 alone stays in OFF."""
    outcome, document = generate("cruise_fig1", {"project": "chaincover.toml"}, tmp_path)
    assert outcome.code == 4
    assert "one chain of 6 steps covers 1 of 4 goals" in outcome.out
    assert {g["name"]: g["verdict"] for g in document["goals"]} == {
        "p_1": "no-way-to-final",
        "p_2": "no-way-to-final",
        "p_3": "no-way-to-final",
        "p_4": "covered",
    }
    assert all("all 11 reachable states were searched" in g["detail"] for g in document["goals"][:3])
    alone, document = generate("cruise_fig1", {"project": "chaincover.toml"}, tmp_path, "--exclude", "p_4")
    assert alone.code == 4
    assert "no chain covers any of the 3 goals" in alone.out
    assert "replay" not in alone.out
    assert document["chain"] is None
    assert not (tmp_path / "chain.csv").exists()


@pytest.mark.needs_compiler
@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=pytest.mark.evidence if m in LARGE | ALIKE else pytest.mark.slow) for m in MODEL_NAMES],
)
def test_the_symbolic_step_equals_the_compiled_original(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable that outlives a step; ``check --compare N`` takes as many steps as one likes."""
    monkeypatch.setattr(differential, "RUN_LENGTH", 100)
    with fresh_names():
        subject = load(read_project(str(MODELS / model)))
        system = subject.system
        with subject.model.original(False) as original:
            assert original.unreadable == ()
            known = original.run([])[0]
            assert {v.name for v in system.state if v.role != "internal" and v.name != "return"} <= known.keys()
            found = differential.compare(system, original, 800, seed=2)
    assert found.differences == ()
    assert (found.run_steps, found.state_steps) == (400, 400)
