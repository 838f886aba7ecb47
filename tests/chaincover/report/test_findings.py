"""Findings are told with the run that shows them: of a washing machine that fails, and of one that has changed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from command_line import Outcome, assert_it_fits, chaincover, write_files
from native_programs import needs_compiler
from small_programs import program, project

from chaincover.replaying import judge
from chaincover.report.chain_table import ChainTable
from chaincover.report.console import Console, say
from chaincover.report.findings import EACH, Finding, show_findings

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


def recorded(folder: Path, values: dict[tuple[int, str], str]) -> None:
    """Write the chain as ``run.csv``, a recording with other ``values`` after some steps."""
    table = [*csv.DictReader((folder / "out" / "chain.csv").open())]
    for (step, name), value in values.items():
        next(row for row in table if row["step"] == str(step))[name] = value
    with (folder / "run.csv").open("w") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


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
        "(phase Phase_ERROR instead of Phase_IDLE); 1 of 1 goal; stop fails (new)"
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
    assert command == "try: chaincover generate . -o out-2", "the chain that is replayed is kept"
    lost = next(line for line in rest if line.startswith("LOST"))
    assert lost == "LOST: stop: the chain covers it at step 9; before step 9 phase is Phase_FILL, expected Phase_ERROR"
    assert [row[1] for row in rows(told.out) if row[:1] == [">"]] == ["9", "10", "9"], "all that differ are marked"
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
def test_failures_that_are_new_stand_before_those_of_the_chain(wash: Path) -> None:
    """The chain shows that an open door does not stop the drum; after the change the error is not told either."""
    (wash / "chaincover.toml").write_text(PROJECT + DOOR.replace("timer >= 6", "timer >= 7"))
    generated(wash)
    changed = WASH.replace("Out.Fault = phase == Phase_ERROR", "Out.Fault = phase == Phase_ERROR && In.Stop")
    write_files(wash, {"other/wash.c": changed})
    against = chaincover("replay", ".", "out", "--against", "other/wash.c", "-o", "judged.json", cwd=wash)
    (wash / "wash.c").write_text(changed)
    own = chaincover("replay", ".", "out", cwd=wash)
    for told in (against, own):
        first, *rest = told.out.splitlines()
        assert first.endswith("; fault fails (new); door fails as on the chain")
        findings = [line for line in rest if line.startswith("FINDING")]
        assert [line.split(" fails")[0].split()[1] for line in findings] == ["fault", "door"]
        assert [" (new)" in line for line in findings] == [True, False]
        at = next(number for number, line in enumerate(rest) if line.startswith("goal "))
        assert [line.split()[0] for line in rest[at + 1 : at + 3]] == ["fault", "door"]
    goals = {goal["name"]: goal for goal in json.loads((wash / "judged.json").read_text())["goals"]}
    assert [(goals[name]["newly_failed"], goals[name]["failed_on_chain"] is None) for name in ("fault", "door")] == [
        (True, True),
        (False, False),
    ]


INCLUDING = '#include "wash.h"\n' + WASH.replace("timer >= 8", "timer >= LATE")


@needs_compiler
def test_a_file_that_is_the_same_is_told_from_what_it_includes(wash: Path) -> None:
    write_files(wash, {"wash.h": "#define LATE 8\n", "wash.c": INCLUDING})
    assert generated(wash, "--goal", "stop").code == 0
    (wash / "wash.h").write_text("#define LATE 200\n")
    told = chaincover("replay", ".", "out", "-o", "judged.json", cwd=wash).out
    assert told.startswith("wash.c is the same, but what it includes, or its macros, have changed; first difference at")
    document = json.loads((wash / "judged.json").read_text())
    assert (document["changed_sources"], document["same_but_included"]) == (["wash.c"], ["wash.c"])
    recorded(wash, {})
    note = "note: wash.c is the same, but what it includes, or its macros, have changed"
    assert note in chaincover("judge", ".", "out", "run.csv", cwd=wash).out
    (wash / "wash.c").write_text(INCLUDING.replace("? 40 : 0", "? 40 : 1"))
    assert chaincover("replay", ".", "out", cwd=wash).out.startswith("wash.c differs from that of the chain; ")


def test_a_requirement_that_fails_on_the_chain_and_cannot_be_seen_is_told(wash: Path) -> None:
    """Only inputs and outputs were recorded, and all of them are those of the chain, on which the door fails."""
    (wash / "chaincover.toml").write_text(PROJECT + DOOR)
    generated(wash)
    recorded(wash, {})
    table = [*csv.reader((wash / "run.csv").open())]
    kept = [place for place, title in enumerate(table[0]) if title.startswith(("In.", "Out."))]
    (wash / "run.csv").write_text("".join(",".join(row[place] for place in kept) + "\n" for row in table))
    told = chaincover("judge", ".", "out", "run.csv", "--json", cwd=wash).json
    assert [goal["requirement"] for goal in told["goals"] if goal["name"] == "door"] == ["not observable"]
    step = next(goal["failed_on_chain"] for goal in told["goals"] if goal["name"] == "door")
    expected = f"door fails on the chain (step {step}); the recording agrees with that run as far as it was seen"
    assert expected in told["remarks"]
    deviating = (wash / "run.csv").read_text().rstrip("\n").rpartition(",")[0] + ",1\n"
    (wash / "run.csv").write_text(deviating)
    assert not chaincover("judge", ".", "out", "run.csv", "--json", cwd=wash).json["remarks"]


@needs_compiler
def test_only_goals_that_the_chain_covers_are_lost_and_these_come_first(wash: Path) -> None:
    """No run of the chain has timer 99; of the decision at 14:10 the code is another one after the change."""
    never = "never: cover(phase == Phase_FILL && timer == 99)"
    options = ["--property", never, "--cover", "states(phase)", "--cover", "branches()"]
    assert chaincover("generate", ".", "-o", "out", *options, "-q", cwd=wash).code == 4
    (wash / "wash.c").write_text(WASH.replace("timer >= 8", "timer >= 200"))
    told = chaincover("replay", ".", "out", "--property", never, cwd=wash, COLUMNS="400").out.splitlines()
    lost = ["stop", "states(phase)=Phase_ERROR", "branch:9:3=default", "branch:17:12=true", "branch:17:12=false"]
    assert told[0].endswith(f"; 14 of 19 goals; 2 goals not looked at; {', '.join(lost)} are lost")
    (note,) = [line for line in told if line.startswith("note: other code stands at the place of 2 goals: ")]
    assert "was 'if (timer >= 8) is true', and is 'if (timer >= 200) is true' now; not looked at: branch:14:10" in note
    at = next(number for number, line in enumerate(told) if line.startswith("goal "))
    table = [line.split("  ")[0] for line in told[at + 1 :]]
    assert table[: len(lost)] == lost
    assert "never" not in table
    every = chaincover("replay", ".", "out", "--property", never, "-v", cwd=wash, COLUMNS="400").out.splitlines()
    assert "missed (the chain does not cover it)" in next(line for line in every[::-1] if line.startswith("never "))


@needs_compiler
def test_the_steps_of_any_run_are_shown(wash: Path) -> None:
    """Those of a violation, and those of a recording up to where it deviates."""
    (wash / "chaincover.toml").write_text(PROJECT + DOOR)
    generated(wash)
    told = chaincover("replay", ".", "out/violation-fault.csv", "--steps", cwd=wash, COLUMNS="120")
    assert ["1..6", "FILL", "0..5", "1", "0", "Start", "Door"] in rows(told.out)
    assert ["7", "FILL", "6", "1", "0", "Start", "Door", "fault", "(FAILED)"] in rows(told.out)
    marked = [row for row in rows(told.out) if row[:1] == [">"]]
    assert [row[:2] + row[-3:] for row in marked] == [[">", "8", "(expected", "true)", "(end)"]]
    recorded = (wash / "out" / "violation-fault.csv").read_text().replace("Phase_FILL,5,1,0,0", "Phase_FILL,5,1,0,1")
    (wash / "run.csv").write_text(recorded)
    told = chaincover("judge", ".", "out/violation-fault.csv", "run.csv", cwd=wash, COLUMNS="120")
    assert told.code == 1
    assert told.out.startswith("DEVIATES: before step 6 Out.Fault is 1, expected 0\n")
    assert [">", "6", "1", "(expected", "0)", "Start", "Door"] in rows(told.out)


def test_a_judged_recording_shows_each_finding_with_its_own_values(wash: Path) -> None:
    """The bench stays in the error, though the stop key is pressed, and the drum turns at step 3."""
    (wash / "chaincover.toml").write_text(PROJECT + DOOR)
    assert generated(wash, "--goal", "stop").code == 0
    recorded(wash, {(9, "phase"): "Phase_ERROR", (9, "Out.Fault"): "1", (3, "Out.Motor"): "40"})
    told = chaincover("judge", ".", "out", "run.csv", cwd=wash, COLUMNS="120").out
    assert told.splitlines()[:3] == [
        "DEVIATES: before step 4 (on the way to stop) Out.Motor is 40, expected 0",
        "  before step 10 Out.Fault is 1, expected 0",
        "  before step 10 phase is Phase_ERROR, expected Phase_IDLE",
    ]
    assert "FINDING: stop fails at step 9 (new); at its end phase is Phase_ERROR, expected Phase_IDLE" in told
    assert [">", "4", "40", "(expected", "0)", "(all", "0)"] in rows(told)
    assert [">", "10", "ERROR", "(expected", "IDLE)", "(end)"] in rows(told)


FILLED = "filled: G(rise(phase == Phase_FILL) -> F[0,3](phase == Phase_WASH))"
BROKEN = "broken: G(rise(phase == Phase_FILL) -> F[0,8](phase == Phase_ERROR))"


def test_a_deviation_is_on_the_way_to_the_next_goal_that_is_not_decided(wash: Path) -> None:
    assert generated(wash, "--goal", "stop", "--goal", "filled", "--property", FILLED).code in (0, 1)
    hits = json.loads((wash / "out" / "chain.json").read_text())["chain"]["hits"]
    decided = next(hit["step"] for hit in hits if hit["goal"] == "filled")
    recorded(wash, {(decided, "Out.Motor"): "7"})
    told = chaincover("judge", ".", "out", "run.csv", cwd=wash, COLUMNS="120").out
    assert told.startswith(f"DEVIATES: before step {decided + 1} (on the way to stop) Out.Motor is 7,")


def test_a_goal_at_the_end_of_a_whole_recording_is_open_for_its_own_reason(wash: Path) -> None:
    """All steps were recorded, but for one value."""
    assert generated(wash, "--goal", "broken", "--property", BROKEN).code in (0, 1)
    recorded(wash, {(8, "phase"): "Phase_FILL", (3, "phase"): ""})
    told = chaincover("judge", ".", "out", "run.csv", cwd=wash, COLUMNS="160").out
    assert "broken  undecided: it depends on which value phase had before step 4" in told
    assert "the recording ends" not in told


def test_a_goal_that_a_recording_misses_is_told_with_what_it_lacked(wash: Path) -> None:
    assert generated(wash, "--goal", "stop").code == 0
    recorded(wash, {(8, "phase"): "Phase_WASH"})
    told = chaincover("judge", ".", "out", "run.csv", cwd=wash, COLUMNS="120").out
    lost = "LOST: stop: the chain covers it at step 9; before step 9 phase is Phase_WASH, expected Phase_ERROR"
    assert lost in told.splitlines()
    assert ["stop", "missed", "(the", "chain", "says", "9)", "0", "not", "exercised"] in rows(told)


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
def test_another_build_with_other_numbers_for_the_same_names_is_told(wash: Path) -> None:
    """It does the same: but for the numbers nothing differs."""
    assert generated(wash, "--goal", "stop").code == 0
    write_files(wash, {"new/wash.c": WASH.replace("Phase_FILL,", "Phase_PAUSE, Phase_FILL,")})
    told = chaincover("replay", ".", "out", "--against", "new/wash.c", cwd=wash, COLUMNS="400").out
    said = "Phase has other numbers for the same names there, and numbers are told by the old names"
    assert f" differs from the model; {said}; first difference at step 1: phase Phase_WASH instead of " in told
    judged = chaincover("replay", ".", "out", "--against", "new/wash.c", "--json", cwd=wash).json
    assert (judged["against"], judged["renumbered"]) == ("new/wash.c", ["Phase"])
    write_files(
        wash, {"new/wash.c": WASH.replace("Phase_ERROR }", "Phase_ERROR, Phase_PAUSE }").replace("40 :", "41 :")}
    )
    told = chaincover("replay", ".", "out", "--against", "new/wash.c", cwd=wash, COLUMNS="400").out
    assert "other numbers" not in told


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
    done = chaincover("replay", tmp_path, tmp_path / "out", "--against", tmp_path / "new" / "c.c", COLUMNS="400")
    lines = done.out.splitlines()
    (command,) = (line for line in lines if line.startswith("try: "))
    assert command.endswith(f"out-2 (once the sources are those of {tmp_path / 'new' / 'c.c'})"), command
    lost = next(line for line in lines if line.startswith("LOST"))
    assert lost.endswith("; no occurrence of its antecedent is decided there")
    assert not any("(fails)" in line for line in lines)


def test_only_findings_without_their_run_are_said_to_have_one_elsewhere() -> None:
    table = cast(ChainTable, SimpleNamespace(show=lambda out, most, rest: say(out, "the run")))
    shown = Finding(("FINDING: it can fail",), table)
    out = Console(io.StringIO(), 120)
    show_findings(out, [shown, Finding(("on the chain it fails at step 4",))], room=0, rest="the files tell all")
    assert "on the chain it fails at step 4" in out.file.getvalue()  # type: ignore[attr-defined]
    assert EACH not in out.file.getvalue()  # type: ignore[attr-defined]
