"""Findings are told with the run that shows them: of a washing machine that fails, and of one that has changed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import Outcome, assert_it_fits, chaincover, write_files
from native_programs import needs_compiler
from small_programs import program, project

from chaincover.replaying import judge

WASH = """\
#include <stdbool.h>
#include <stdint.h>
typedef enum { Phase_IDLE, Phase_FILL, Phase_WASH, Phase_ERROR } Phase;
typedef struct { bool Start; bool Stop; bool Door; uint8_t Level; } Input;
typedef struct { bool Valve; uint8_t Motor; bool Fault; } Output;
Input In; Output Out; static Phase phase; static uint8_t timer; static const uint8_t speed[3] = { 0, 20, 40 };
void wash_init(void) { phase = Phase_IDLE; timer = 0; Out.Valve = false; Out.Motor = 0; Out.Fault = false; }
void wash_step(void) {
  switch (phase) {
  case Phase_IDLE: if (In.Start && In.Door) { phase = Phase_FILL; timer = 0; } break;
  case Phase_FILL:
    timer++;
    if (In.Level >= 80) phase = Phase_WASH;
    else if (timer >= 8) phase = Phase_ERROR;
    break;
  case Phase_WASH: if (In.Stop) phase = Phase_IDLE; break;
  default: if (In.Stop) phase = Phase_IDLE; break;
  }
  Out.Valve = phase == Phase_FILL;
  Out.Motor = phase == Phase_WASH ? 40 : 0;
  Out.Fault = phase == Phase_ERROR;
}
"""
PROJECT = """\
name = "wash"
[sources]
files = ["wash.c"]
[functions]
init = ["wash_init"]
step = "wash_step"
[interface]
input = ["In.*"]
state = ["phase", "timer"]
output = ["Out.*"]
[ranges]
"In.Level" = "0..100"
[final]
condition = "none"
[[property]]
id = "stop"
text = "G(phase == Phase_ERROR && In.Stop -> X(phase == Phase_IDLE))"
"""
DOOR = """
[[property]]
id = "door"
requirement = "W-4: an open door stops the drum"
text = "G(phase == Phase_WASH && !In.Door && !In.Stop -> X(Out.Motor == 0))"
[[property]]
id = "fault"
text = "G(phase == Phase_FILL && timer >= 6 && In.Level < 80 -> X(Out.Fault))"
"""


@pytest.fixture
def wash(tmp_path: Path) -> Path:
    write_files(tmp_path, {"wash.c": WASH, "chaincover.toml": PROJECT})
    return tmp_path


def generated(folder: Path, *options: str) -> Outcome:
    return chaincover("generate", folder, "-o", folder / "out", *options, COLUMNS="120")


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def inputs(place: Path) -> list[list[str]]:
    return [[row[f"In.{name}"] for name in ("Start", "Stop", "Door", "Level")] for row in csv.DictReader(place.open())]


@pytest.mark.parametrize("native", [pytest.param((), marks=needs_compiler), ("--no-native",)])
def test_a_requirement_that_fails_is_told_with_its_run_and_plain_inputs(native: tuple[str, ...], wash: Path) -> None:
    (wash / "chaincover.toml").write_text(PROJECT + DOOR)
    ended = generated(wash, *native)
    assert ended.code == 1
    assert_it_fits(ended.out, wash)
    lines = ended.out.splitlines()
    said = "can fail: at step 2 of a shortest run of 3 steps; at its end Out.Motor"
    assert lines[1:9] == [
        f"FINDING: door (W-4: an open door stops the drum) {said}",
        "  is 40, expected 0",
        "      before the step",
        "step  phase  Motor            inputs (others 0)  goals covered from here",
        "   0  IDLE   0                Start Door",
        "   1  FILL   0                Start Level=80",
        "   2  WASH   40               Start Level=80     door (FAILED)",
        " > 3  WASH   40 (expected 0)  (end)",
    ]
    assert "at its end Out.Fault is false, expected true" in ended.out
    assert ["1..6", "FILL", "0..5", "0", "Start", "Door"] in rows(ended.out)
    assert inputs(wash / "out" / "violation-fault.csv") == 8 * [["1", "0", "1", "0"]]
    checks = chaincover("verify", wash, wash / "out", "--json", *native).json["checks"]
    verdicts = {line["check"]: line["verdict"] for line in checks}
    assert (verdicts["can fail"], verdicts["never violated"]) == ("finding", "holds")
    assert verdicts["violations"] == ("not re-proved" if native else "holds")


@needs_compiler
def test_a_replay_after_a_change_leads_with_the_answer(wash: Path) -> None:
    """The error is not left any more by the stop key where there is water."""
    assert generated(wash, "--goal", "stop").code == 0
    changed = WASH.replace("default: if (In.Stop)", "default: if (In.Stop && In.Level > 90)")
    (wash / "wash.c").write_text(changed)
    told = chaincover("replay", ".", "out", "--property", "idle: G(phase == Phase_ERROR -> Out.Fault)", cwd=wash)
    first, command, *rest = told.out.splitlines()
    assert told.code == 1
    assert first == (
        "wash.c differs from that of the chain; first difference at step 10: Out.Fault 1 instead of 0 "
        "(phase Phase_ERROR instead of Phase_IDLE); 1 of 1 goal; stop fails"
    )
    assert [line.split() for line in [command, *rest][:3]] == [
        ["variable", "before", "step", "is", "instead", "of", "times"],
        ["Out.Fault", "10", "1", "0", "1"],
        ["phase", "10", "Phase_ERROR", "Phase_IDLE", "1"],
    ]
    marked = [row for row in rows(told.out) if row[:1] == [">"]]
    assert marked[0][:8] == [">", "10", "ERROR", "(expected", "IDLE)", "1", "(expected", "0)"]

    (wash / "wash.c").write_text(WASH.replace("timer >= 8", "timer >= 200"))
    told = chaincover("replay", ".", "out", "-o", "judged.json", cwd=wash)
    first, command, *rest = told.out.splitlines()
    assert told.code == 1
    assert (
        "; first difference at step 9: Out.Valve 1 instead of 0 (Out.Fault 0 instead of 1, phase Phase_FILL " in first
    )
    assert first.endswith("; 0 of 1 goal; stop is lost")
    assert command == "try: chaincover generate . -o out"
    lost = next(line for line in rest if line.startswith("LOST"))
    assert lost == "LOST: stop: the chain covers it at step 9; before step 9 phase is Phase_FILL, expected Phase_ERROR"
    document = json.loads((wash / "judged.json").read_text())
    assert document["changed_sources"] == ["wash.c"]
    assert [(each["variable"], each["step"]) for each in document["differences"]][:2] == [
        ("Out.Valve", 9),
        ("Out.Fault", 9),
    ]

    (wash / "wash.c").write_text(WASH.replace("timer >= 8", "timer > 7"))
    told = chaincover("replay", ".", "out", cwd=wash)
    assert told.code == 0
    assert told.out.startswith(
        "wash.c differs from that of the chain; no difference in 10 steps; 1 of 1 goal\nreplay on"
    )


@needs_compiler
def test_the_steps_of_any_run_are_shown(wash: Path) -> None:
    """Those of a violation, and those of a recording up to where it deviates."""
    (wash / "chaincover.toml").write_text(PROJECT + DOOR)
    generated(wash)
    told = chaincover("replay", ".", "out/violation-fault.csv", "--steps", cwd=wash, COLUMNS="120")
    assert ["1..6", "FILL", "0..5", "1", "Start", "Door"] in rows(told.out)
    assert ["7", "FILL", "6", "1", "Start", "Door", "fault", "(FAILED)"] in rows(told.out)
    recorded = (wash / "out" / "violation-fault.csv").read_text().replace("Phase_FILL,5,1,0,0", "Phase_FILL,5,1,0,1")
    (wash / "run.csv").write_text(recorded)
    told = chaincover("judge", ".", "out/violation-fault.csv", "run.csv", cwd=wash, COLUMNS="120")
    assert told.code == 1
    assert told.out.startswith("DEVIATES: before step 6 Out.Fault is 1, expected 0\n")
    assert [">", "6", "0", "(was", "1)", "Start", "Door"] in rows(told.out)


def test_undefined_behaviour_is_told_with_the_steps_that_lead_there(wash: Path) -> None:
    (wash / "wash.c").write_text(WASH.replace("? 40 : 0;", "? speed[In.Level - 80] : 0;"))
    told = chaincover("check", ".", "--no-native", cwd=wash, COLUMNS="120").out
    line = next(number for number, text in enumerate(told.splitlines()) if "can happen after 1 step from init" in text)
    shown = rows("\n".join(told.splitlines()[line : line + 7]))
    assert shown[0][1:4] == ["index", "out", "of"]
    assert [row for row in shown if row[:1] == [">"]] == [
        [">", "1", "FILL", "Start", "Door", "100", "index", "out", "of", "range"]
    ]
    places = chaincover("check", ".", "--no-native", "--json", cwd=wash).json["undefined_behaviour"]
    assert [each["In.Level"] for each in places[0]["inputs"]] == [0, 100]


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("G(a -> X(lamp))", True),
        ("G(a -> (s->lamp))", True),
        ("G(a -> lamp && x == 1)", True),
        ("G(a -> lamp != 0)", False),
        ("G(a -> 0 != lamp)", False),
        ("G(a -> (lamp & 3))", False),
        ("G(lamp -> x)", True),
        ("p_lamps", False),
    ],
)
def test_a_bare_condition_is_expected_true(text: str, bare: bool) -> None:
    """One that is compared or computed with is not: there the number is what the reader wrote."""
    assert judge._bare("s->lamp", text) is bare


@needs_compiler
def test_of_a_lost_deadline_no_value_is_told_that_it_did_not_lack(tmp_path: Path) -> None:
    """Its antecedent would have had to hold steps before: the values at the step of the verdict explain nothing."""
    asked = "G(rise(s->n == 1) -> G[0,3](s->n == 1))"
    files = {
        "c.c": program("s->n = i->b ? 1 : 0;"),
        "chaincover.toml": project(f'[[property]]\nid = "stays"\ntext = "{asked}"'),
    }
    write_files(tmp_path, files)
    assert chaincover("generate", tmp_path, "--no-replay", "-o", tmp_path / "out").code == 1
    write_files(tmp_path, {"new/c.c": program("s->n = 0;")})
    done = chaincover("replay", tmp_path, tmp_path / "out", "--against", tmp_path / "new" / "c.c", COLUMNS="120")
    lines = done.out.splitlines()
    lost = next(line for line in lines if line.startswith("LOST"))
    assert lost.endswith("; no occurrence of its antecedent is decided there")
    assert not any("(fails)" in line for line in lines)
