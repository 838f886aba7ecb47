"""What result files say, and the exit code that follows from a result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from command_line import MODELS, chaincover
from pysmt.shortcuts import TRUE

from bmc.system.transition import Run, TransitionSystem
from chaincover.chain import COVERED, EXCLUDED, UNDECIDED, UNREACHABLE, Bounds, Chain, Hit, Hits, Verdict, Violation
from chaincover.formats.rows import ChainRows
from chaincover.formats.writer import chain_document
from chaincover.known import NOTHING
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request
from chaincover.report.documents import exit_code
from chaincover.result import ChainResult
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from properties.goal import Goal

CRUISE = MODELS / "cruise"


def generated(folder: Path, *options: object) -> dict[str, Any]:
    found = chaincover("generate", *options, "-o", folder, "--json", "--no-replay").json
    assert isinstance(found, dict)
    return found


def test_a_goal_that_is_reachable_but_left_out_has_a_test_of_its_own(tmp_path: Path) -> None:
    """The inputs in the file cover it, replayed."""
    subject = load_request(Request(str(CRUISE)))
    with_all = generate(subject.problem)
    part = subject.problem.of(["p_1", "p_2", "p_3"])
    result, own = generate(part), generate(subject.problem.of(["p_4"]))
    assert own.chain is not None
    left_out = Verdict("p_4", EXCLUDED, detail="reachable")
    result = replace(with_all, chain=result.chain, verdicts=(*result.verdicts, left_out), tests={"p_4": own.chain.run})
    goals = {goal["name"]: goal for goal in chain_document(subject, result)["goals"]}
    assert [goals[name]["test"] for name in ("p_1", "p_2", "p_3")] == [None, None, None]
    test = goals["p_4"]["test"]
    assert test["length"] == own.chain.length == len(test["inputs"])
    names = list(test["inputs"][0])
    rows = [",".join(names), *(",".join(str(row[name]) for name in names) for row in test["inputs"])]
    (tmp_path / "inputs.csv").write_text("\n".join(rows))
    played = chaincover("replay", CRUISE, tmp_path / "inputs.csv", "--json").json
    assert "p_4" in [goal["name"] for goal in played["goals"] if goal["covered_at"] is not None]


def test_the_files_tell_k_and_effort(tmp_path: Path) -> None:
    found = generated(tmp_path, CRUISE, "--effort", "0.5")
    assert (found["settings"]["effort"], found["bounds"]["k_met"]) == (0.5, 2)
    assert found["no_chain"] is None
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["effort"]["given"] == 0.5
    assert run["effort"]["spent"] >= 0
    assert generated(tmp_path, CRUISE, "--effort", "none")["settings"]["effort"] is None


@pytest.mark.parametrize("effort", ["0", "-1", "much", ""])
def test_an_effort_that_makes_no_sense_is_a_usage_error(effort: str) -> None:
    assert chaincover("generate", CRUISE, "--effort", effort).code == 2


@pytest.mark.parametrize("option", ["--explore", "--exhaust", "--rounds", "--improve"])
def test_options_that_are_gone_are_refused(option: str) -> None:
    assert chaincover("generate", CRUISE, option, "1").code == 2


def chain(length: int, *steps: int, failed: bool = False, violated: bool = False) -> Chain:
    hits = tuple(Hit(f"g{step}", step, not failed) for step in steps)
    run = Run(tuple({} for _ in range(length + 1)), tuple({} for _ in range(length)))
    return Chain(run, (), hits, violations=(Violation("assert", 0),) if violated else ())


def test_k_that_was_met() -> None:
    assert chain(9, 2, 4, 6, 7).k_met == 2
    assert chain(9, 7, 2).k_met == 5
    assert chain(3).k_met == 3
    assert chain(0, 0).k_met == 0
    by_way_of_another_goal = replace(chain(9, 7, 2), repeats=Hits([Hit("g2", 5, True)]))
    assert by_way_of_another_goal.k_met == 3


def code(verdicts: Sequence[str], stopped_by: str = "", used_up: bool = False, **more: Any) -> int:
    """The exit code of a result with a chain, where some goal is covered or there is none."""
    found = more.pop("chain", chain(1, 0) if COVERED in verdicts or not verdicts else None)
    names = [f"g{number}" for number in range(len(verdicts))]
    goals = tuple(SimpleNamespace(name=name, generated=more.get("generated", "")) for name in names)
    rows = tuple(Verdict(name, verdict) for name, verdict in zip(names, verdicts, strict=True))
    bounds = Bounds(0, None, "")
    result = ChainResult(found, rows, bounds, None, NOTHING, Options(), stopped_by=stopped_by, used_up=used_up)
    replay = more.get("replay")
    played = None if replay is None else cast(JudgedRun, SimpleNamespace(exit_code=replay))
    return exit_code(cast(Subject, SimpleNamespace(goals=goals)), result, played)


def test_exit_codes() -> None:
    assert code([COVERED, COVERED]) == 0
    assert code([COVERED, COVERED], used_up=True) == 0
    assert code([COVERED, COVERED], "time limit") == 0
    assert code([COVERED, UNDECIDED], "time limit") == 5
    assert code([COVERED, UNDECIDED], used_up=True) == 5
    assert code([COVERED, UNDECIDED]) == 5
    assert code([COVERED, EXCLUDED]) == 4
    assert code([COVERED, EXCLUDED], used_up=True) == 4
    assert code([COVERED, UNREACHABLE]) == 4
    assert code([COVERED, UNREACHABLE], generated="branches()") == 0
    assert code([UNREACHABLE]) == 4
    assert code([COVERED], "interrupt") == 130
    assert code([COVERED], "terminated") == 143
    assert code([], chain=None) == 4
    assert code([], "time limit", chain=None) == 5
    assert code([], used_up=True, chain=None) == 5
    assert code([COVERED, UNDECIDED], "time limit", chain=chain(1, 0, failed=True)) == 1
    assert code([COVERED], chain=chain(1, 0, violated=True)) == 1
    assert code([COVERED], replay=1) == 1
    assert code([COVERED], replay=4) == 4
    assert code([COVERED, UNDECIDED], replay=4) == 5


def test_the_end_says_what_more_effort_might_settle(tmp_path: Path) -> None:
    """Two goals of which one is hard: with next to no effort something is left open, and told."""
    outcome = chaincover("generate", MODELS / "window", "--effort", "0.0001", "--no-replay", "-o", tmp_path)
    document = json.loads((tmp_path / "chain.json").read_text())
    assert document["effort_used_up"] is True
    assert "The effort 0.0001 was used up; more of it (--effort) might settle: " in outcome.out
    undecided = any(goal["verdict"] == UNDECIDED for goal in document["goals"])
    assert ("undecided goal" in outcome.out) == undecided
    assert outcome.code == (5 if undecided else 0)


@pytest.mark.slow
def test_minimal_is_said_of_the_goals_covered_where_others_are_left_open(tmp_path: Path) -> None:
    """A longer chain covers 10 of the 11 goals."""
    folder = str(tmp_path / "out")
    outcome = chaincover("generate", str(MODELS / "gate"), "--effort", "0.009", "-o", folder, "--no-replay")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    covered = len(document["chain"]["hits"])
    assert outcome.code == 5
    assert covered < 10
    assert document["bounds"]["minimal"]
    assert f" covers {covered} of 11 goals (minimal for these goals, proved)" in outcome.out
    assert (
        f"length and bounds speak of chains through the {covered} of 11 goals that this one covers"
        in (document["claims"])
    )
    everything = chaincover("generate", str(CRUISE), "-o", folder, "--no-replay")
    assert " covers all 4 goals and ends in 'final()' (minimal, proved)" in everything.out
    assert not any(
        "length and bounds" in claim for claim in json.loads((tmp_path / "out" / "chain.json").read_text())["claims"]
    )


def test_every_step_says_which_goals_it_serves() -> None:
    """Those under way, else those that it leads to; after the last goal it leads on to the end."""
    goals = [Goal("long", TRUE(), None, 2), Goal("state", TRUE(), None, 0), Goal("late", TRUE(), None, 1)]
    system = TransitionSystem("empty", (), ())
    run = Run(({},) * 7, ({},) * 6)
    chain = Chain(run, ("long", "state", "late"), (Hit("long", 1, None), Hit("state", 2, None), Hit("late", 4, None)))
    rows = ChainRows(system, chain, goals)
    assert [row["serves"] for row in rows] == [["long"], ["long"], ["long"], ["late"], ["late"], []]
    assert rows[-1] == rows[5:][0] == {"step": 5, "inputs": {}, "state": {}, "outputs": {}, "goals": [], "serves": []}
