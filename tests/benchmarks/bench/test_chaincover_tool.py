"""How ``generate`` is run by a suite, and what is read of its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, Outcome, chaincover

from benchmarks.bench.tools.chaincover import ChainCover
from benchmarks.bench.tools.protocol import Task

PAPER = Path(__file__).parents[3] / "benchmarks" / "paper"
TOOL = ChainCover()


def task(**settings: str | int | float | bool) -> Task:
    return Task(MODELS / "latch" / "chaincover.toml", ("--goal", "sets"), settings, 0, 120, 1000)


def run(folder: Path, *arguments: object) -> Outcome:
    return chaincover("generate", *arguments, "-o", folder)


def change(place: Path, **fields: Any) -> None:
    place.write_text(json.dumps({**json.loads(place.read_text()), **fields}))


def test_its_command(tmp_path: Path) -> None:
    words = [*TOOL.command(task(several=True, most=False, K=3, effort="none"), tmp_path)]
    assert words[1:5] == ["-m", "chaincover", "generate", str(MODELS / "latch" / "chaincover.toml")]
    assert words[5:] == [
        *("--goal", "sets", "--several", "-K", "3", "--effort", "none"),
        *("--memory-limit", str(task().megabytes)),
        *("-o", str(tmp_path)),
    ]


def test_every_setting_is_an_option_of_generate() -> None:
    for name in TOOL.settings:
        words = TOOL.command(task(**{name: True}), Path())
        option = next(word for word in words[7:] if word.startswith("-"))
        assert option in chaincover("generate", "--help").out


def test_goals_without_a_chain_have_their_verdicts(tmp_path: Path) -> None:
    ended = run(tmp_path, MODELS / "cruise_fig1", "--several")
    (found,) = TOOL.read(tmp_path, ended.code, ended.stderr)
    assert (found.status, found.chains, found.fewest, found.minimal) == ("finished", 1, True, True)
    assert sorted(found.verdicts.values()) == ["covered", *["no-way-to-final"] * 3]


@pytest.mark.parametrize("several", [True, False])
def test_what_is_left_of_a_run_that_was_killed(several: bool, tmp_path: Path) -> None:
    """The best chain so far is there, without a replay; its goals count as covered."""
    run(tmp_path, MODELS / "latch", *(["--several"] if several else []))
    for place in tmp_path.glob("run*.json"):
        place.unlink()
    change(tmp_path / ("chains.json" if several else "chain.json"), finished=False)
    (found,) = TOOL.read(tmp_path, -9, "")
    assert (found.status, found.chains, found.length, found.replay, found.stages) == ("crashed", 1, 6, "", {})
    assert {*found.verdicts.values()} == {"covered"}


def test_a_goal_that_the_replay_does_not_cover_is_not_counted(tmp_path: Path) -> None:
    run(tmp_path, MODELS / "latch")
    replay = json.loads((tmp_path / "run.json").read_text())["replay"]
    replay["goals"][0]["covered_at"] = None
    change(tmp_path / "run.json", replay=replay)
    (found,) = TOOL.read(tmp_path, 1, "")
    assert found.verdicts[replay["goals"][0]["name"]] == "not-in-replay"
    assert [*found.verdicts.values()].count("covered") == 4
    change(tmp_path / "run.json", replay={**replay, "disagreements": ["step 2: q"]})
    assert TOOL.read(tmp_path, 1, "")[0].replay == "disagrees"


@pytest.mark.parametrize(("minimal", "status"), [(True, "finished"), (False, "time-out")])
def test_a_limit_counts_while_something_of_the_chains_is_open(minimal: bool, status: str, tmp_path: Path) -> None:
    """After that it only left requirements undecided, which the note tells."""
    run(tmp_path, MODELS / "latch", "--several")
    change(tmp_path / "chains.json", stopped_by="terminated", minimal=minimal)
    (found,) = TOOL.read(tmp_path, 1, "")
    assert found.status == status
    assert ("time-out while requirements were decided" in found.note) == minimal


@pytest.mark.parametrize(
    ("log", "status"),
    [
        ("error: no memory is left\n", "out of memory"),
        ("reading\nerror: there is no memory for a stack of 512 MB\n  next: allow more memory\n", "out of memory"),
        ("internal error: oh\n", "crashed"),
    ],
)
def test_without_a_file_the_log_says_how_it_ended(log: str, status: str, tmp_path: Path) -> None:
    (found,) = TOOL.read(tmp_path, 5, log)
    assert (found.status, found.chains, found.verdicts) == (status, None, {})


@pytest.mark.parametrize(("project", "states"), [("cruise_1.toml", 8), ("cruise_2.toml", None)])
def test_states_are_those_of_the_controller(project: str, states: int | None, tmp_path: Path) -> None:
    """Goals of several steps have monitors, whose memory is not the controller's: its states are not told then."""
    ended = run(tmp_path, PAPER / "cruise" / project)
    (found,) = TOOL.read(tmp_path, ended.code, ended.stderr)
    assert (found.status, found.minimal, found.states) == ("finished", True, states)
