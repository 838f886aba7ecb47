"""Systems whose states are too many to list: suggested invariants and induction prove what listing would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover, write_files
from verify_documents import claim, claimed

from benchmarks.checks.short_runs import short_runs

CODE = """
typedef struct { unsigned total; unsigned char mode; unsigned char twin; } S;
static S s;
void init(void) { s.total = 0; s.mode = 0; s.twin = 0; }
void step(unsigned in) {
    s.total += in;
    if (in == 7u) { if (s.mode < 3) { s.mode++; s.twin++; } }
    else if (in == 9u) { s.mode = 0; s.twin = 0; }
}
"""
PROJECT = """
name = "twins"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["in"]
state = ["s.*"]
[[property]]
id = "top"
text = "cover(s.mode == 3 && s.total > 100)"
[[property]]
id = "apart"
text = "cover(s.mode == 2 && s.twin == 1 && s.total > 5)"
"""


@pytest.mark.slow
@short_runs()
def test_a_goal_that_only_an_invariant_excludes_is_proved_unreachable(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    outcome = chaincover("generate", ".", "--effort", "0.12", "--json", "-o", "out", cwd=tmp_path)
    goals = {goal["name"]: goal for goal in outcome.json["goals"]}
    assert goals["top"]["verdict"] == "covered"
    assert goals["apart"]["verdict"] == "unreachable"
    assert "proved invariants" in goals["apart"]["detail"]
    assert outcome.code == 4
    assert "s.mode == s.twin" in claimed(outcome.json).invariants
    again = chaincover("verify", ".", "out/chain.json", "-v", cwd=tmp_path)
    assert "s.mode == s.twin: true at the start, and kept by every step" in again.out
    assert "no run covers apart: no state allows it together with the invariants" in again.out


@pytest.mark.evidence
def test_an_invariant_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    outcome = chaincover("generate", ".", "--json", "-o", "out", cwd=tmp_path)
    place = tmp_path / "out" / "chain.json"
    document = json.loads(place.read_text())
    used = claimed(document).invariants
    assert used[:2] == ("s.mode <= 3", "s.twin <= 3")
    assert claimed(outcome.json).invariants == used
    for false, why in (
        ("s.mode <= 2", "false after 3 steps from a start state"),
        ("s.mode >= 1", "false in a start state"),
        ("s.mode == 0 => s.twin == 1", "false in a start state"),
        ("s.total == s.twin", "the program states no such invariant"),
        ("s.mode <= 3 ||", "the program states no such invariant"),
    ):
        claim(document, invariants=(false, *used[1:]))
        place.write_text(json.dumps(document))
        again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
        line = next(line for line in again.json["checks"] if line["check"] == "invariants")
        assert (line["verdict"], again.code) == ("WRONG", 7)
        assert f"{false}: {why}" in line["text"]


@pytest.mark.evidence
def test_an_invariant_that_no_induction_proves_is_not_said_to_be_verified(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    chaincover("generate", ".", "--json", "-o", "out", cwd=tmp_path)
    place = tmp_path / "out" / "chain.json"
    document = json.loads(place.read_text())
    claim(document, invariants=("s.total <= 4294967294", *claimed(document).invariants))
    place.write_text(json.dumps(document))
    again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
    assert next(line["verdict"] for line in again.json["checks"] if line["check"] == "invariants") != "holds"


@pytest.mark.evidence
@pytest.mark.parametrize("limits", [(), ("--engine", "sat")])
def test_without_a_list_of_states_the_verdicts_are_the_same(tmp_path: Path, limits: tuple[str, ...]) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    outcome = chaincover("generate", ".", "--json", "-o", "out", *limits, cwd=tmp_path)
    assert [goal["verdict"] for goal in outcome.json["goals"]] == ["covered", "unreachable"]


RINGS = """
static unsigned total; static unsigned char ring;
void init(void) { total = 0; ring = 0; }
void step(unsigned in) {
    total += in;
    if (ring % 2 == 0) { ring = ring == 18 ? 0 : ring + 2; }
    else if (ring >= 5 && ring <= 9) { ring = ring == 9 ? 5 : ring + 2; }
}
"""


@pytest.mark.slow
def test_a_goal_in_a_ring_of_states_that_nothing_enters_is_unreachable_by_induction(tmp_path: Path) -> None:
    project = (
        PROJECT.split("[interface]")[0]
        + """
[interface]
input = ["in"]
state = ["total", "ring"]
[[property]]
id = "inside"
text = "cover(ring == 4 && total > 100)"
[[property]]
id = "outside"
text = "cover(ring == 9)"
"""
    )
    write_files(tmp_path, {"c.c": RINGS, "chaincover.toml": project})
    outcome = chaincover("generate", ".", "--json", "-K", 3, "-o", "out", cwd=tmp_path)
    goals = {goal["name"]: goal for goal in outcome.json["goals"]}
    assert goals["inside"]["verdict"] == "covered"
    assert (goals["outside"]["verdict"], goals["outside"]["detail"]) == (
        "unreachable", "no run covers it: proved by induction over 3 steps"
    )  # fmt: skip
    again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
    line = next(line for line in again.json["checks"] if line["check"] == "goals not covered")
    assert (line["verdict"], line["text"]) == (
        "holds",
        "1 of 1 claims about runs of any length proved again: no run covers outside: by induction over 3 steps "
        "together with the invariants",
    )
    place = tmp_path / "out" / "chain.json"
    document = json.loads(place.read_text())
    document["goals"][0] = {**document["goals"][0], "verdict": "unreachable", "step": None}
    place.write_text(json.dumps(document))
    again = chaincover("verify", ".", "out/chain.json", "--json", cwd=tmp_path)
    line = next(line for line in again.json["checks"] if line["check"] == "goals not covered")
    assert line["verdict"] == "WRONG"
    assert line["details"][0].startswith("no run covers inside: ")
