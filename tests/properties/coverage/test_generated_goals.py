"""Generated goals in runs: infeasible ones are set aside, and replay and verify find again what generated goals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Outcome, chaincover, write_files
from pysmt.shortcuts import TRUE
from small_programs import program, project

from bmc.errors import Location
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, UNDECIDED, UNREACHABLE, Verdict
from chaincover.formats.chain_file import read_recorded, stimulus_of
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.target.original import replay
from chaincover.verdicts import NEXT_STEP, infeasible, next_step
from properties.goal import Goal

BODY = "if (i->b) s->n = 1 - s->n;\n  if (s->n > 5) s->m = 1;"
"""n is 0 or 1: the branch of line 9 is never taken."""
DEAD = "branch:9:3=true"
DEAD_GOAL = Verdict(DEAD, UNREACHABLE)
LATCH = "if (i->a == 1 && !s->n) s->n = 1;\n  if (i->a == 2 && !s->n) s->n = 2;\n  if (s->n > 5) s->m = 1;"
"""The first of two ways excludes the other for good."""


def subject(folder: Path, body: str = BODY, toml: str = "") -> None:
    write_files(folder, {"c.c": program(body), "chaincover.toml": project(toml)})


def run(folder: Path, command: str, *options: object) -> Outcome:
    return chaincover(command, folder, *options)


def made(folder: Path, *options: str) -> Outcome:
    return run(folder, "generate", "-o", folder / "out", *options)


def document(folder: Path, name: str = "chain.json") -> dict:  # type: ignore[type-arg]
    found: dict = json.loads((folder / "out" / name).read_text())  # type: ignore[type-arg]
    return found


@pytest.mark.parametrize("several", [[], ["--several"], ["--most"]])
def test_dead_code_is_told_and_no_failure(several: list[str], tmp_path: Path) -> None:
    subject(tmp_path)
    outcome = made(tmp_path, "--cover", "branches()", *several)
    assert outcome.code == 0, outcome
    assert "3 of 4 goals (1 generated one is proved infeasible)" in outcome.out
    assert f"unreachable: {DEAD}" in outcome.out.splitlines()
    assert f"  next: {next_step(DEAD_GOAL, True, Options())}" in outcome.out.splitlines()
    assert NEXT_STEP[UNREACHABLE] not in outcome.out
    assert "3 of 3 goals covered" in outcome.out


def test_json_lists_the_goal_set_aside_with_its_verdict(tmp_path: Path) -> None:
    subject(tmp_path, toml="[coverage]\ncriteria = ['branches()']")
    assert made(tmp_path, "--cover", "conditions()", "--cover", "branches()", "-q").code == 0
    found = document(tmp_path)
    assert found["settings"]["coverage"] == ["branches()", "conditions()"]
    rows = {goal["name"]: goal for goal in found["goals"]}
    assert (rows[DEAD]["verdict"], rows[DEAD]["step"], rows[DEAD]["generated"]) == (UNREACHABLE, None, "branches()")
    assert rows["condition:8:3.1=true"]["generated"] == "conditions()"
    assert rows["condition:8:3.1=true"]["step"] == rows["branch:8:3=true"]["step"] is not None
    assert rows["branch:8:3=true"]["representative"] is None
    assert rows["condition:8:3.1=true"]["representative"] == "branch:8:3=true"
    played = {goal["name"]: goal for goal in document(tmp_path, "run.json")["replay"]["goals"]}
    assert (played[DEAD]["asked"], played[DEAD]["infeasible"]) == (False, True)
    assert played["branch:8:3=true"]["asked"]
    assert document(tmp_path, "run.json")["replay"]["exit_code"] == 0


@pytest.mark.parametrize("several", [[], ["--several"]])
def test_a_written_goal_that_is_unreachable_is_a_failure(several: list[str], tmp_path: Path) -> None:
    subject(tmp_path)
    outcome = made(tmp_path, "--cover", "branches()", "--property", "dead: cover(n == 7)", *several)
    assert outcome.code == 4
    assert NEXT_STEP[UNREACHABLE] in outcome.out
    assert next_step(DEAD_GOAL, True, Options()) in outcome.out


@pytest.mark.slow
@pytest.mark.parametrize(("several", "code"), [([], 4), (["--most"], 4), (["--several"], 0)])
def test_generated_goals_that_exclude_each_other_are_a_failure_of_one_chain(
    several: list[str], code: int, tmp_path: Path
) -> None:
    """Both states can be reached, but not in one run; the dead branch does not count in either case."""
    subject(tmp_path, LATCH, "[ranges]\n'i->a' = '0..2'\n[search]\nbound = 4")
    outcome = made(tmp_path, "--cover", "states(n, {1, 2})", "--cover", "branches()", "--goal", "states*", *several)
    assert outcome.code == code, outcome
    assert made(tmp_path, "--cover", "states(n, {1, 2})", "--cover", "branches()", *several).code == code


def test_nothing_but_dead_code_makes_no_chain(tmp_path: Path) -> None:
    subject(tmp_path)
    assert made(tmp_path, "--cover", "branches()", "--goal", DEAD).code == 4


def test_only_proved_generated_goals_are_infeasible() -> None:
    goals = [Goal(name, TRUE(), None, 1, generated="" if name == "own" else "branches()") for name in "abcd"]
    goals.append(Goal("own", TRUE(), None, 1))
    statuses = [UNREACHABLE, UNDECIDED, NO_WAY_TO_FINAL, COVERED, UNREACHABLE]
    verdicts = [Verdict(goal.name, status) for goal, status in zip(goals, statuses, strict=True)]
    assert infeasible(goals, verdicts) == ("a",)
    assert infeasible(goals, verdicts[1:]) == ()


def test_a_goal_said_to_be_infeasible_must_not_be_covered(tmp_path: Path) -> None:
    """Were the proof wrong, the compiled original would tell."""
    subject(tmp_path)
    read = load_request(Request(str(tmp_path), cover=("branches()",)))
    result = generate(Problem(read.system, tuple(read.goals), None))
    assert result.chain is not None
    stimulus = stimulus_of(read.system, result.chain)
    assert replay(read, stimulus, [DEAD]).exit_code == 0
    assert replay(read, stimulus).exit_code == 4
    wrong = replay(read, stimulus, ["branch:8:3=true"])
    assert wrong.exit_code == 1
    assert "branch:8:3=true is covered at step" in wrong.disagreements[0]


# what the file holds of its goals

ASKED = ("--cover", "branches()", "--cover", "states(n, 0..1)", "--property", "both: cover(n == 1 && b)")


@pytest.mark.needs_compiler
def test_replay_and_verify_look_at_all_goals_of_the_file(tmp_path: Path) -> None:
    """Without the options that named them."""
    subject(tmp_path)
    assert made(tmp_path, *ASKED, "-q").code == 0
    everything = [goal["name"] for goal in document(tmp_path)["goals"]]
    assert len(everything) == 7
    played = run(tmp_path, "replay", tmp_path / "out", "--json")
    assert played.code == 0, played
    assert sorted(goal["name"] for goal in played.json["goals"]) == sorted(everything)
    assert {goal["name"] for goal in played.json["goals"] if goal["covered_at"] is None} == {DEAD}
    assert played.json["goals_not_known"] == []
    shown = run(tmp_path, "replay", tmp_path / "out")
    assert "missed (said to be unreachable)" in shown.out
    checked = run(tmp_path, "verify", tmp_path / "out", "--json")
    assert checked.code == 0, checked
    lines = {line["check"]: line for line in checked.json["checks"]}
    assert "6 goals" in lines["chain"]["text"]
    assert DEAD in lines["goals not covered"]["text"]
    assert lines["goals not covered"]["verdict"] == "holds"


def test_options_of_replay_select_among_the_goals_of_the_file(tmp_path: Path) -> None:
    subject(tmp_path)
    assert made(tmp_path, *ASKED, "-q").code == 0
    played = run(tmp_path, "replay", tmp_path / "out", "--goal", "states*", "--goal", "both", "--json")
    assert played.code == 0
    assert [goal["name"] for goal in played.json["goals"]] == ["both", "states(n)=0", "states(n)=1"]
    more = run(tmp_path, "replay", tmp_path / "out", "--property", "more: cover(n == 0)", *ASKED[:2], "--json")
    assert more.code == 0
    assert len(more.json["goals"]) == 8


@pytest.mark.slow
def test_a_summary_of_several_chains_holds_its_criteria(tmp_path: Path) -> None:
    subject(tmp_path, LATCH, "[ranges]\n'i->a' = '0..2'\n[search]\nbound = 4")
    assert made(tmp_path, "--cover", "states(n, {1, 2})", "--cover", "branches()", "--several", "-q").code == 0
    summary = document(tmp_path, "chains.json")
    assert summary["settings"]["coverage"] == ["states(n, {1, 2})", "branches()"]
    assert [v["goal"] for v in summary["verdicts"] if v["generated"] and v["verdict"] != COVERED] == [
        "branch:10:3=true"
    ]
    assert run(tmp_path, "replay", tmp_path / "out" / "chain-1.json").code == 0
    checked = run(tmp_path, "verify", tmp_path / "out")
    assert checked.code == 0, checked
    assert "no run covers branch:10:3=true: no run among all" in " ".join(checked.out.split())


def test_goals_that_the_program_no_longer_has_are_told(tmp_path: Path) -> None:
    """A line above moves the names of all branches: line 9 holds another decision now, line 8 none."""
    subject(tmp_path)
    assert made(tmp_path, *ASKED, "-q").code == 0
    write_files(tmp_path, {"c.c": "\n" + program(BODY)})
    played = run(tmp_path, "replay", tmp_path / "out")
    assert played.code == 4
    text = " ".join(played.out.split())
    assert "note: the program has no goal branch:8:3=true, branch:8:3=false: not looked at; " in text
    assert f"note: other code stands at the place of 2 goals: {DEAD} was 'if (s->n > 5) is true', and is " in text
    assert "line and column" in text
    assert run(tmp_path, "replay", tmp_path / "out", "--goal", "states*").code == 0
    checked = run(tmp_path, "verify", tmp_path / "out")
    assert checked.code == 3
    assert "the program has no goal 'branch:8:3=true'" in checked.err
    assert "the source has changed" in checked.err


def test_a_name_that_means_another_decision_now_is_told(tmp_path: Path) -> None:
    subject(tmp_path)
    assert made(tmp_path, *ASKED, "-q").code == 0
    subject(tmp_path, BODY.replace("s->n > 5", "s->n > 6"))
    played = run(tmp_path, "replay", tmp_path / "out", "--json")
    assert played.code == 4
    assert played.json["goals_not_known"] == [DEAD, "branch:9:3=false"]
    checked = run(tmp_path, "verify", tmp_path / "out")
    assert checked.code == 3
    assert f"the goal '{DEAD}' was 'if (s->n > 5) is true', and is 'if (s->n > 6) is true' now" in checked.err


def test_a_criterion_that_cannot_be_read_any_more_is_told(tmp_path: Path) -> None:
    subject(tmp_path, toml="[interface]\nignore = []")
    assert made(tmp_path, "--cover", "states(m, 0..0)", "--cover", "states(n, 0..1)", "-q").code == 0
    place = tmp_path / "out" / "chain.json"
    place.write_text(place.read_text().replace("states(m, 0..0)", "states(gone, 0..0)"))
    played = run(tmp_path, "replay", tmp_path / "out")
    assert played.code == 4
    text = " ".join(played.out.split())
    assert "note: the chain's criterion states(gone, 0..0) cannot be read: unknown variable 'gone'" in text
    assert "note: the program has no goal states(m)=0: not looked at" in text
    checked = run(tmp_path, "verify", tmp_path / "out")
    assert checked.code == 3
    assert "the criterion states(gone, 0..0), which generated goals of this chain, cannot be read" in checked.err


def test_an_own_wrong_criterion_is_still_refused(tmp_path: Path) -> None:
    subject(tmp_path)
    assert made(tmp_path, *ASKED, "-q").code == 0
    for command in ("replay", "verify"):
        outcome = run(tmp_path, command, tmp_path / "out", "--cover", "states(q)")
        assert outcome.code == 3
        assert f"{Location('--cover 1')}: unknown variable 'q'" in outcome.err


@pytest.mark.parametrize("text", ["", "[]", '{"goals": [1]}', '{"goals": []}', "step,b\n0,1\n"])
def test_files_that_record_nothing(text: str, tmp_path: Path) -> None:
    """What is wrong with the file is said when its inputs are read."""
    place = tmp_path / "chain.json"
    place.write_text(text)
    assert read_recorded(str(place)) == read_recorded(str(tmp_path / "inputs.csv"))
    assert not read_recorded(str(place)).goals


@pytest.mark.needs_compiler
def test_a_chain_without_the_new_keys_can_be_replayed(tmp_path: Path) -> None:
    """As written by releases before generated goals."""
    subject(tmp_path)
    assert made(tmp_path, "--property", "reach: cover(n == 1)", "-q").code == 0
    found = document(tmp_path)
    del found["settings"]["coverage"]
    for goal in found["goals"]:
        del goal["generated"], goal["representative"]
    (tmp_path / "out" / "chain.json").write_text(json.dumps(found))
    played = run(tmp_path, "replay", tmp_path / "out", "--json")
    assert played.code == 0
    assert [goal["name"] for goal in played.json["goals"]] == ["reach"]
