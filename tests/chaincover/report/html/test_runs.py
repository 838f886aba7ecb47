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
    assert ["3 ◀ here", "1", "0 ≠ 1 expected", "1"] in [[cell.strip() for cell in row] for row in page.rows]


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
