"""Judged runs in the report: recordings, other builds and runs of violations, with their differences marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover, write_files
from html_pages import Page
from native_programs import needs_compiler

LAMP = """\
typedef struct { _Bool press; } in_t;
typedef struct { _Bool lit; unsigned char left; } out_t;
static out_t o;
void init(void) { o.lit = 0; o.left = 0; }
void step(in_t *i) {
  if (i->press && !o.lit) { o.lit = 1; o.left = 3; }
  else if (o.lit && o.left-- == 1) o.lit = 0;
}
"""
PROJECT = """\
period = 0.001
[sources]
files = ["lamp.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
output = ["o.*"]
[[property]]
id = "lights"
text = "G(press && !lit -> X(lit))"
[[property]]
id = "stays"
text = "G(press && lit -> X(lit))"
[[property]]
id = "out"
text = "cover(!lit && left == 0 && prev(lit))"
"""
DARK = PROJECT + '[[property]]\nid = "dark"\ntext = "G(rise(lit) -> F[0,3ms](!lit))"\n'
"""The lamp is to be dark again within 3 ms."""
TABLE = "step,i->press,o.lit,o.left\ninit,,0,0\n0,1,1,3\n1,0,1,2\n2,0,1,1\n3,1,0,0\n"
WAVES = """\
$timescale 1 ms $end
$scope module bench $end
$var wire 1 ! press $end
$var wire 1 " lit $end
$var wire 8 # left [7:0] $end
$upscope $end
$enddefinitions $end
#0
1! 1" b11 #
#1
0! b10 #
#2
b1 #
#3
1! 0" b0 #
#4
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The folder of the result in that of the project; the requirement *stays* can fail."""
    write_files(tmp_path, {"lamp.c": LAMP, "chaincover.toml": PROJECT})
    assert chaincover("generate", tmp_path, "-o", tmp_path / "out", "-q", "--no-native").code == 1
    return tmp_path / "out"


def shown(out: Path) -> tuple[Page, dict[str, Any]]:
    """The page of the report, and its runs by name."""
    assert chaincover("report", out, "-q").code == 0
    page = Page((out / "report.html").read_text())
    assert "cannot be made" not in page.text
    return page, {trace["name"]: trace for trace in page.data["traces"]}


def differing(page: Page, trace: Any) -> dict[str, Any]:
    """By variable where a run differs from what was expected of it."""
    names = [variable["short"] for variable in page.data["variables"]]
    columns = zip(names, trace["columns"], strict=True)
    return {name: column["differs"] for name, column in columns if "differs" in column}


def stripped(page: Page) -> list[list[str]]:
    """The rows of all tables, without blanks around their cells."""
    return [[cell.strip() for cell in row] for row in page.rows]


@pytest.mark.parametrize("name", ["run.csv", "run.vcd"])
def test_a_recording_is_a_run_beside_the_chain_with_its_differences(name: str, out: Path) -> None:
    signals = '[target.signals]\n"i->press" = "press"\n"o.lit" = "lit"\n"o.left" = "left"\n'
    (out.parent / "chaincover.toml").write_text(PROJECT + signals * name.endswith("vcd"))
    steps = json.loads((out / "chain.json").read_text())["chain"]["steps"]
    assert [step["inputs"]["i->press"] for step in steps] == [1, 0, 0, 1]
    wrong = {"run.csv": TABLE.replace("2,0,1,1", "2,0,0,1"), "run.vcd": WAVES.replace("b1 #", 'b1 # 0"')}[name]
    (out.parent / name).write_text(wrong)
    ended = chaincover("judge", out.parent, out, out.parent / name, "-o", out / "judged.json", "-q")
    assert ended.code == 1, ended.err
    page, runs = shown(out)
    run = runs[f"judged.json ({name})"]
    assert (run["kind"], run["beside"], run["length"]) == ("judged", "chain.json", 4)
    assert differing(page, run) == {"lit": [[3, 4, "1"]]}
    assert ["3 ◀ differs", "1", "0 ≠ 1 expected", "1"] in stripped(page)


def judged(out: Path, table: str) -> Any:
    """What ``judge`` says of a recording with this table."""
    (out.parent / "run.csv").write_text(table)
    chaincover("judge", out.parent, out, out.parent / "run.csv", "-o", out / "judged.json", "-q")
    return json.loads((out / "judged.json").read_text())


def test_a_requirement_that_failed_on_the_bench_is_told_wherever_the_report_tells_of_it(out: Path) -> None:
    """In the model *lights* is never violated; on the bench the lamp stayed dark."""
    on = judged(out, TABLE.replace("0,1,1,3", "0,1,0,3"))["on"]
    page, runs = shown(out)
    run = runs["judged.json (run.csv)"]
    assert [0, "lights"] in run["failed"]
    assert [0, "lights"] not in run["goals"], "a flag has one label of a goal"
    assert f"1 more requirement failed on {on}" in page.text
    assert any(f"failed on {on} at step 0in the model: never violated" in cell for cell in page.row("lights"))
    assert "At step 0 (0 s) its antecedent holds, and its consequent does not." in page.text
    assert "Other requirements at that step: none is judged there." in page.text
    assert {"0 ◀ antecedent", "1 ◀ fails"} <= {row[0].strip() for row in page.rows}
    assert ["o.lit", "1", "0", "1"] in stripped(page), "the value and the expected one"
    assert f"judge {out.parent} {out / 'chain.json'} {on}" in page.text
    chaincover("report", out, "-o", out / "report.md", "-q")
    assert "<code>o.lit</code> is <code>0</code> at step 1, expected <code>1</code>." in (out / "report.md").read_text()


def test_a_missed_deadline_of_a_recording_is_told_with_its_antecedent_and_as_it_is_written(out: Path) -> None:
    """The lamp, lit by step 0, has to be dark again within 3 ms; on the bench it went on."""
    (out.parent / "chaincover.toml").write_text(DARK)
    chaincover("generate", out.parent, "-o", out, "-q", "--no-native")
    assert judged(out, TABLE.replace("3,1,0,0", "3,1,1,0"))["exit_code"] == 1
    page, runs = shown(out)
    assert "The antecedent held at step 1 (0.001 s), and F[0,3ms] had not held by step 4 (0.004 s)." in page.text
    assert ["o.lit", "4", "1", "0"] in stripped(page)
    assert {"1 ◀ antecedent", "4 ◀ fails"} <= {row[0] for row in stripped(page)}
    assert runs["judged.json (run.csv)"]["deadlines"] == [
        ["dark", "F[0,3ms]", 1, 4, 4, False, "✗ failed after 3 steps"]
    ]


def test_a_requirement_that_failed_on_several_runs_counts_once_and_other_sources_are_told(out: Path) -> None:
    again = judged(out, TABLE.replace("0,1,1,3", "0,1,0,3"))
    (out / "replayed.json").write_text(json.dumps(again | {"on": "cc (Debian) 12", "changed_sources": ["lamp.c"]}))
    page, _ = shown(out)
    assert f"1 more requirement failed on {again['on']}, cc with another lamp.c; one chain" in page.text
    tiles = [" ".join(item.split()) for item in page.items]
    assert any(tile.endswith("on cc with another lamp.c, 2 requirements failed, values deviate") for tile in tiles), (
        tiles
    )


def test_a_run_that_deviates_and_fails_nothing_is_told_in_the_head(out: Path) -> None:
    """No requirement reads the counter."""
    on = judged(out, TABLE.replace("1,0,1,2", "1,0,1,3"))["on"]
    assert f"1 requirement can fail; {on} deviates from the model; one chain of 4 steps" in shown(out)[0].text


def test_a_judgement_of_another_controller_is_left_out_with_a_note(out: Path) -> None:
    other = judged(out, TABLE) | {"controller": "valve"}
    (out / "judged.json").write_text(json.dumps(other))
    page, runs = shown(out)
    own = json.loads((out / "chain.json").read_text())["controller"]["name"]
    assert f"judged.json is of the controller valve, and this result of {own}: it is left out." in page.text
    assert not any(run["kind"] == "judged" for run in runs.values())
    assert "Judged: " not in page.text


@needs_compiler
@pytest.mark.parametrize(("played", "beside"), [("", "chain.json"), ("violation-stays.csv", "violation of stays")])
def test_another_build_is_a_run_beside_the_one_that_was_replayed(played: str, beside: str, out: Path) -> None:
    other = out.parent / "other.c"
    other.write_text(LAMP.replace("left = 3", "left = 2"))
    ended = chaincover("replay", out.parent, out / played, "--against", other, "-o", out / "judged.json", "-q")
    assert ended.code == 1, ended.err
    page, runs = shown(out)
    (run,) = (run for run in runs.values() if run["kind"] == "judged")
    assert run["beside"] == beside
    assert differing(page, run)["left"][0] == [1, 2, "3"]


def test_a_replay_as_the_chain_says_needs_no_run_of_its_own(out: Path) -> None:
    chaincover("replay", out.parent, out, "-o", out / "judged.json", "-q", "--no-native")
    _, runs = shown(out)
    assert not any(run["kind"] == "judged" for run in runs.values())


def test_deadlines_that_nobody_judged_on_a_run_are_named(out: Path) -> None:
    """Of a run that violates another requirement, and of a judgement that an earlier version wrote."""
    (out.parent / "chaincover.toml").write_text(DARK)
    chaincover("generate", out.parent, "-o", out, "-q", "--no-native")
    data = judged(out, TABLE)
    _, runs = shown(out)
    run = runs["judged.json (run.csv)"]
    assert (run["unknown"], run["deadlines"]) == ([], [["dark", "F[0,3ms]", 1, 4, 4, True, "3 of 3 steps, 0 left"]])
    assert runs["violation of stays"]["unknown"] == ["dark"]
    for goal in data["goals"]:
        del goal["deadline"], goal["others"]
    (out / "judged.json").write_text(json.dumps(data | {"schema": "chaincover/judged/3"}))
    _, runs = shown(out)
    assert runs["judged.json (run.csv)"]["unknown"] == ["dark"]


def test_each_finding_on_a_run_has_the_steps_that_it_is_about(out: Path) -> None:
    """The lamp stays dark: it deviates, *lights* fails, *stays* and *out* are lost; no table is printed twice."""
    judged(out, TABLE.replace("0,1,1,3", "0,1,0,3").replace("1,0,1,2", "1,0,0,2").replace("2,0,1,1", "2,0,0,1"))
    page, _ = shown(out)
    of_lit = ["o.lit", "1", "0", "1", "3"]
    assert of_lit in stripped(page), "first at step 1, at three steps in all"
    assert "The chain covers it at step 3 (0.003 s), and " in page.text
    assert {"1 ◀ differs", "1 ◀ fails", "3 ◀ covered by the chain"} <= {row[0] for row in stripped(page)}
    assert "Steps 0 to 2 of 4" in page.text
    assert "2 goals lost on " in page.text


def test_each_goal_of_a_judged_run_is_told_with_what_leaves_it_open(out: Path) -> None:
    """Without the lamp nothing is known of *lights*."""
    judged(out, "step,i->press,o.left\ninit,,0\n0,1,3\n1,0,2\n2,0,1\n3,1,0\n")
    page, _ = shown(out)
    unseen = "not observable: o.lit was not observed"
    assert ["lights", unseen, "0", unseen, ""] in stripped(page)
    judged(out, TABLE)
    page, _ = shown(out)
    assert ["out", "3", "1", "", ""] in stripped(page)
    assert "4 steps of chain.json: 3 of 3 goals covered. Compared with the model: 2 signals at 4 steps" in page.text


@needs_compiler
def test_the_report_says_on_which_sources_a_run_was(out: Path) -> None:
    """The project's own ones, and those of another build, of which the command is told as it was typed."""
    other = out.parent / "other.c"
    other.write_text(LAMP.replace("left = 3", "left = 2"))
    replay = ("replay", out.parent, out)
    chaincover(*replay, "-o", out / "own.json", "-q")
    chaincover(*replay, "--against", other, "-o", out / "other.json", "-q")
    page, runs = shown(out)
    tiles = [" ".join(item.split()) for item in page.items]
    assert any("the chain's own sources" in tile and tile.startswith("Judged: own.json") for tile in tiles), tiles
    assert any("on other.c (another build)" in tile and tile.startswith("Judged: other.json") for tile in tiles), tiles
    assert "other.json (other.c)" in runs
    assert f"--against {other}" in page.text
    told = json.loads((out / "other.json").read_text()) | {"renumbered": ["mode_t"]}
    (out / "other.json").write_text(json.dumps(told))
    assert "mode_t has other numbers for the same names there" in shown(out)[0].text


def test_the_runs_of_several_chains_are_judged_runs_each(out: Path) -> None:
    own = judged(out, TABLE)
    head = {"schema": "chaincover/judgements/1", "controller": own["controller"], "stopped_by": ""}
    (out / "judged.json").write_text(json.dumps(head | {"chains": [own, own | {"chain": "chain-2.json"}]}))
    page, runs = shown(out)
    assert {"judged.json: chain.json (run.csv)", "judged.json: chain-2.json (run.csv)"} <= {*runs}
    assert "Judged: judged.json: chain-2.json" in page.text
