"""Held inputs from the project file or the command line to the results, the replay and the independent check."""

from __future__ import annotations

import csv
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, chaincover, write_files

needs_compiler = pytest.mark.needs_compiler

LAMP = """\
typedef struct { int push; int strength; } t_in;
typedef struct { int on; int left; } t_st;
void init(t_st *s) { s->on = 0; s->left = 0; }
void compute(t_in *i, t_st *s) {
  if (s->left > 0) { s->left--; s->on = s->left > 0; }
  else if (i->push && i->strength > 1) { s->left = 5; s->on = 1; }
}
"""
PROJECT = """\
[sources]
files = ["lamp.c"]

[functions]
init = ["init"]
step = "compute"

[interface]
input = ["i->*"]
state = ["s->*"]
{hold}

[ranges]
push = [0, 1]
strength = "1..3"
left = "0..5"

[[property]]
text = "lit: cover(!on && X(on))"

[[property]]
text = "last: cover(on && left == 1)"

[[property]]
text = "short_press: cover(!on && X(on) && X(!push))"
"""


def write(folder: Path, hold: str = "hold = 4") -> None:
    write_files(folder, {"lamp.c": LAMP, "chaincover.toml": PROJECT.format(hold=hold)})


def generate(folder: Path, *options: object) -> Outcome:
    return chaincover("generate", ".", "-o", "out", "--exclude", "short_press", *options, cwd=folder)


@cache
def chain_files() -> dict[str, str]:
    """What ``generate`` writes for the project."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        generate(Path(place))
        return {f"out/{file.name}": file.read_text() for file in (Path(place) / "out").iterdir()}


def write_with_chain(folder: Path) -> None:
    write(folder)
    write_files(folder, chain_files())


def document(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out" / "chain.json").read_text())


def change(folder: Path, **settings: Any) -> None:
    found = document(folder)
    found["settings"].update(settings)
    (folder / "out" / "chain.json").write_text(json.dumps(found))


def test_the_project_says_it_and_everything_tells_it(tmp_path: Path) -> None:
    write(tmp_path)
    outcome = generate(tmp_path)
    found = document(tmp_path)
    assert outcome.code == 0
    assert "(minimal among runs that hold inputs for 4 ticks, proved" in outcome.out
    assert "ends in" not in outcome.out
    assert found["settings"]["hold"] == 4
    assert found["settings"]["final"] is None
    assert "bounds and proofs speak of runs that hold inputs for 4 ticks" in found["claims"]
    assert (found["bounds"]["length"], found["bounds"]["lower"], found["bounds"]["minimal"]) == (8, 8, True)
    inputs = [row["inputs"] for row in found["chain"]["steps"]]
    assert inputs == [inputs[0]] * 4 + [inputs[4]] * 4
    assert all(name.startswith(("s->",)) for row in found["chain"]["steps"] for name in row["state"])
    rows = list(csv.DictReader((tmp_path / "out" / "chain.csv").read_text().splitlines()))
    assert [row["step"] for row in rows] == [str(step) for step in range(8)]
    assert not [title for title in rows[0] if "hold" in title]


def test_the_option_goes_before_the_project(tmp_path: Path) -> None:
    """With 1 the results are those of a project that does not hold inputs, byte for byte."""
    write(tmp_path, "")
    generate(tmp_path)
    free = (tmp_path / "out" / "chain.json").read_text()
    assert document(tmp_path)["bounds"]["length"] == 5
    assert "hold" not in free
    write(tmp_path)
    assert generate(tmp_path, "--hold", 1).code == 0
    assert (tmp_path / "out" / "chain.json").read_text() == free
    assert generate(tmp_path, "--hold", 3).code == 0
    assert document(tmp_path)["bounds"]["length"] == 6


def test_the_final_condition_is_asked_for_at_the_end_of_a_held_step(tmp_path: Path) -> None:
    write(tmp_path)
    for final in ("init", "!on && left == 0"):
        outcome = generate(tmp_path, "--final", final)
        assert outcome.code == 0
        assert document(tmp_path)["chain"]["length"] == 8
        assert "final condition reached" in outcome.out
    assert generate(tmp_path, "--final", "left == 4").code == 0
    assert document(tmp_path)["chain"]["length"] % 4 == 0
    assert document(tmp_path)["chain"]["steps"][-1]["state"]["s->left"] == 4
    outcome = generate(tmp_path, "--final", "left == 3")
    assert outcome.code == 4
    assert "no-way-to-final" in outcome.out


@pytest.mark.slow
@needs_compiler
def test_what_only_other_runs_cover_is_unreachable(tmp_path: Path) -> None:
    """The lamp is lit in ticks of even numbers: the push is still there next, unless held steps have an odd length."""
    write(tmp_path)
    for hold, verdict, code in ((4, "unreachable", 4), (7, "covered", 0), (1, "covered", 0)):
        outcome = chaincover("generate", ".", "-o", "out", "--hold", hold, cwd=tmp_path)
        verdicts = {goal["name"]: goal["verdict"] for goal in document(tmp_path)["goals"]}
        assert verdicts == {"lit": "covered", "last": "covered", "short_press": verdict}
        assert outcome.code == code
        assert chaincover("verify", ".", "out", cwd=tmp_path).code == 0


@pytest.mark.parametrize("wrong", ["hold = 0", "hold = 65536", "hold = 2.5", 'hold = "4"', "hold = true"])
def test_a_hold_that_makes_no_sense_is_refused_with_its_line(wrong: str, tmp_path: Path) -> None:
    write(tmp_path, wrong)
    outcome = generate(tmp_path)
    assert outcome.code == 3
    assert "chaincover.toml:11" in outcome.err
    assert "'hold' must be" in outcome.err


@pytest.mark.slow
def test_check_compares_free_steps_and_tells_of_held_ones(tmp_path: Path) -> None:
    write(tmp_path)
    outcome = chaincover("check", ".", cwd=tmp_path)
    assert outcome.code == 0
    assert "inputs are held for 4 steps" in outcome.out
    assert "(none: a chain may end with any held step)" in outcome.out
    assert "hold:" not in outcome.out
    found = chaincover("check", ".", "--json", "--compare", 50, cwd=tmp_path).json
    assert found["hold"] == 4
    assert not [variable for variable in found["state"] if "hold" in variable["name"]]
    assert "hold" not in chaincover("check", ".", "--json", "--compare", 50, "--hold", 1, cwd=tmp_path).json


def test_compare_and_graph_hold_inputs_too(tmp_path: Path) -> None:
    write(tmp_path)
    found = chaincover("compare", ".", "--ordering", "exact", "--exclude", "short_press", cwd=tmp_path)
    assert found.code == 0
    assert "among runs that hold inputs for 4 ticks" in found.out
    nodes = chaincover("graph", ".", cwd=tmp_path).json["nodes"]
    assert nodes == ["init", "lit", "last", "short_press", "final"]


def test_replay_takes_the_hold_of_the_chain(tmp_path: Path) -> None:
    write_with_chain(tmp_path)
    write(tmp_path, "")
    played = chaincover("replay", ".", "out", "--json", cwd=tmp_path)
    assert played.code == 0
    assert played.json["refused_steps"] == []
    assert played.json["final"] is None


def test_replay_tells_where_a_chain_does_not_hold_its_inputs(tmp_path: Path) -> None:
    write_with_chain(tmp_path)
    change(tmp_path, hold=3)
    played = chaincover("replay", ".", "out", "--json", cwd=tmp_path)
    assert played.code == 1
    assert "the run ends within a held step of 3 steps" in played.json["refused_steps"]
    assert "step 4 changes the inputs within a held step of 3 steps" in played.json["refused_steps"]


def test_hand_written_inputs_need_not_be_held(tmp_path: Path) -> None:
    write(tmp_path)
    write_files(tmp_path, {"in.csv": "push,strength\n0,1\n1,3\n0,2\n0,1\n0,1\n0,1\n0,1\n"})
    played = chaincover("replay", ".", "in.csv", "--json", cwd=tmp_path)
    assert played.code == 0
    assert played.json["refused_steps"] == []
    assert [goal["covered_at"] for goal in played.json["goals"]] == [1, 6, 1]
    assert any("need not be held for 4 steps" in remark for remark in played.json["remarks"])
    write(tmp_path, "")
    again = chaincover("replay", ".", "in.csv", "--json", cwd=tmp_path)
    assert not any("held" in remark for remark in again.json["remarks"])


def verify(folder: Path, *options: object) -> Outcome:
    return chaincover("verify", ".", "out", "--json", *options, cwd=folder)


def verdicts(outcome: Outcome) -> dict[str, str]:
    return {check["check"]: check["verdict"] for check in outcome.json["checks"]}


@needs_compiler
def test_verify_proves_the_bound_of_held_runs_again(tmp_path: Path) -> None:
    write_with_chain(tmp_path)
    write(tmp_path, "")
    outcome = verify(tmp_path)
    assert outcome.code == 0
    assert verdicts(outcome)["all runs"] == verdicts(outcome)["lower bound"] == "holds"


@needs_compiler
def test_verify_without_a_list_of_states(tmp_path: Path) -> None:
    """The bound then rests on edges and lengths, which the solver is asked for."""
    write(tmp_path)
    assert generate(tmp_path, "--engine", "sat").code == 0
    assert document(tmp_path)["bounds"]["minimal"]
    assert verify(tmp_path).code == 0


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("hold", [None, 1, 3])
def test_verify_finds_a_bound_that_is_claimed_for_other_runs(hold: int | None, tmp_path: Path) -> None:
    write_with_chain(tmp_path)
    found = document(tmp_path)
    if hold is None:
        del found["settings"]["hold"]
    else:
        found["settings"]["hold"] = hold
    (tmp_path / "out" / "chain.json").write_text(json.dumps(found))
    outcome = verify(tmp_path)
    assert outcome.code == 7
    assert verdicts(outcome)["all runs"] == "WRONG"
    assert verdicts(outcome)["chain"] == ("WRONG" if hold == 3 else "holds")


@pytest.mark.slow
@pytest.mark.parametrize("hold", [0, "4", True, 65536, None, 1.5])
def test_a_damaged_hold_is_refused(hold: Any, tmp_path: Path) -> None:
    write_with_chain(tmp_path)
    change(tmp_path, hold=hold)
    for command in ("verify", "replay"):
        outcome = chaincover(command, ".", "out", cwd=tmp_path)
        assert outcome.code == 3
        assert "the chain is damaged" in outcome.err


@pytest.mark.slow
@needs_compiler
def test_several_held_chains(tmp_path: Path) -> None:
    """A door that opens or locks for good: two chains, each of whole held steps."""
    door = """\
typedef struct { _Bool key; } t_in;
typedef struct { int state; int t; } t_st;
void init(t_st *s) { s->state = 0; s->t = 0; }
void compute(t_in *i, t_st *s) {
  if (s->state == 0) { if (s->t < 3) s->t++; else s->state = i->key ? 1 : 2; }
}
"""
    texts = ("--property", "open: cover(state == 1)", "--property", "locked: cover(state == 2)")
    write_files(tmp_path, {"door.c": door})
    outcome = chaincover("generate", "door.c", "--several", "--hold", 3, "-o", "out", *texts, cwd=tmp_path)
    found = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert outcome.code == 0
    assert [part["length"] for part in found["chains"]] == [6, 6]
    assert found["settings"]["hold"] == 3
    assert "minimal for this number of chains among runs that hold inputs for 3 ticks, proved" in outcome.out
    assert chaincover("verify", "door.c", "out", cwd=tmp_path).code == 0
