"""The annotated source of a report: counts and first steps by line, and what was not executed told apart in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover, write_files
from gcov_text import needs_gcov
from hostile_names import HOSTILE
from html_pages import Page
from small_programs import program, project

from chaincover.report.html.page import report
from chaincover.report.html.saved import Saved, SavedChain, SourceText

SOURCE = """\
void step(int x) {
  if (x > 1 && x < 5)
    y = 1;
  if (x)
    y = 2;
  while (0) {
    y = 3;
  }
  y = 4; // U+2028 \u2028 is no end of a line, nor is \x0c
}
"""


def executed(count: int, first: object) -> dict[str, Any]:
    return {"count": count, "first": first}


def goal(name: str, line: int, text: str, steps: int, first: int | None) -> dict[str, Any]:
    kinds = {"branch": "branches()", "condition": "conditions()", "mcdc": "mcdc()"}
    place = {"criterion": kinds[name.partition(":")[0]], "file": "a.c", "line": line, "column": 3}
    return {"name": name, **place, "text": text, "steps": steps, "first": first}


WHOLE = "if (x > 1 && x < 5)"
GOALS = [
    goal("branch:2:3=true", 2, f"{WHOLE} is true", 3, 4),
    goal("branch:2:3=false", 2, f"{WHOLE} is false", 0, None),
    *(goal(f"condition:2:3.1={v}", 2, f"x > 1 is {v} in {WHOLE}", 2, 4) for v in ("true", "false")),
    *(goal(f"condition:2:3.2={v}", 2, f"x < 5 is {v} in {WHOLE}", 1, 4) for v in ("true", "false")),
    goal("mcdc:2:3.1=true", 2, f"x > 1 is true and decides {WHOLE}", 2, 4),
    goal("mcdc:2:3.1=false", 2, f"x > 1 is false and decides {WHOLE}", 0, None),
    goal("branch:4:3=true", 4, "if (x) is true", 0, None),
    goal("branch:4:3=false", 4, "if (x) is false", 0, None),
]
LINES: Mapping[int, tuple[int, object]] = {
    1: (5, 0),
    2: (5, 0),
    3: (3, 4),
    4: (0, None),
    5: (0, None),
    7: (0, None),
    8: (0, None),
    9: (5, "init"),
}


def coverage(chain: str = "chain.json", **more: Any) -> tuple[str, dict[str, Any]]:
    rows = [
        {
            "line": n,
            "function": "step",
            **executed(*own),
            "outcomes": [executed(3, 4), executed(0, None)] if n == 2 else [],
        }
        for n, own in LINES.items()
    ]
    made = {
        "chain": chain,
        "steps": 5,
        "compiler": "gcc 12",
        "gcov": "gcov 12",
        "files": [{"file": "a.c", "sha256": "0", "lines": rows}],
        "goals": GOALS,
        "justified": [{"file": "a.c", "first": 7, "last": 7, "reason": "</script><b>never</b>"}],
    }
    return f"{chain}-coverage", {**made, **more}


def shown(saved: Saved) -> Page:
    text, _ = report(saved)
    return Page(text)


def page(*documents: tuple[str, dict[str, Any]], source: SourceText | None = None) -> Page:
    unreachable = ("branch:4:3=true", "branch:4:3=false")
    goals = [{"name": name, "verdict": "unreachable"} for name in unreachable]
    chains = tuple(
        SavedChain(data["chain"], {"goals": goals, "chain": {"length": 5}, "controller": {"name": "a"}})
        for _, data in documents
    )
    texts = (source or SourceText("a.c", SOURCE),)
    return shown(Saved(chains, coverage=tuple(documents), sources=texts))


def test_each_line_has_its_count_its_first_step_and_what_is_said_of_it() -> None:
    made = page(coverage())
    assert made.row("1") == ["1", "5", "0", "", "void step(int x) {"]
    assert made.row("3") == ["3", "3", "4", "", "y = 1;"]
    assert made.row("6")[1:4] == ["", "", ""]
    assert made.row("9")[2] == "init"
    assert made.row("9")[4].endswith("\u2028 is no end of a line, nor is \ufffd")
    assert made.row("4")[1:3] == ["proved unreachable", ""]
    assert made.row("5")[1:3] == ["proved unreachable", ""], "its only way in is"
    assert made.row("8")[1:3] == ["not seen", ""]
    assert made.row("7")[1:3] == ["justified", ""]
    assert "justified: </script><b>never</b>" in made.row("7")[4]
    assert '<a href="#step=4" data-trace="chain.json">4</a>' in made.source
    assert [row for row in made.rows if row[0] == "11"] == [], "a row for each line of the file and no more"


@pytest.mark.parametrize(
    ("decision", "entered", "said"),
    [
        ("if (x /* ) */) {", "y = ')';", "proved unreachable"),
        ("if (x) z = 1;", "y = 2;", "not seen"),
        ("if (x) {}", "y = 2;", "not seen"),
        ("if (x) {", "case 2: y = 2;", "not seen"),
        ("if (x) {", "again: y = 2;", "not seen"),
        ("else if (x) {", "} else y = 2;", "not seen"),
    ],
)
def test_a_line_is_proved_unreachable_only_if_the_decision_is_its_only_way_in(
    decision: str, entered: str, said: str
) -> None:
    lines = SOURCE.split("\n")
    lines[3:5] = [f"  {decision}", f"    {entered}"]
    lines[5] = "  } while (0) {" if decision.endswith("{") else lines[5]
    assert page(coverage(), source=SourceText("a.c", "\n".join(lines))).row("5")[1] == said


def test_a_decision_tells_its_outcomes_its_conditions_and_which_of_them_decided() -> None:
    made = page(coverage())
    assert made.row("2")[3] == "1 of 2"
    told = " ".join(made.row("2")[4].split())
    assert f"{WHOLE}; true: in 3 steps, first 4; false: not seen" in told
    assert "x > 1; true: in 2 steps, first 4; false: in 2 steps, first 4; decides the outcome: true: in 2 steps" in told
    assert "if (x); true: proved unreachable; false: proved unreachable" in " ".join(made.row("4")[4].split())


def test_shares_and_lines_that_were_not_executed_stand_above_the_source() -> None:
    made = page(coverage())
    titles = ["file", "lines", "outcomes", "branches()", "conditions()", "mcdc()", "lines not executed"]
    assert titles in [[cell.strip() for cell in row] for row in made.rows]
    assert made.row("a.c")[1:4] == ["4 of 8 (50 %)", "1 of 2 (50 %)", "1 of 2 (50 %), 2 proved unreachable"]
    assert made.row("a.c")[-1] == "4..5 proved unreachable, 7 justified, 8 not seen"
    anchors = [address for address in made.addresses if address.startswith("#source-")]
    assert anchors == ["#source-1", "#source-1-4", "#source-1-7", "#source-1-8"]
    assert {anchor[1:] for anchor in anchors} <= {*made.ids}


def test_several_chains_are_added_up_each_with_its_own_link() -> None:
    second = json.loads(json.dumps(coverage("chain-2.json")[1]))
    second["files"][0]["lines"][4].update(executed(2, 1))
    made = page(coverage(), ("second", second))
    assert made.row("1")[1] == "10"
    assert made.row("5")[1:3] == ["2", "1 chain-2.json"]
    assert '<a href="#step=1" data-trace="chain-2.json">1</a>' in made.source


def test_hostile_names_and_texts_are_text() -> None:
    for evil in [*HOSTILE, "</script><img src=x onerror=alert(1)>", "\u202egnp.exe"]:
        files = [{"file": evil, "sha256": "0", "lines": coverage()[1]["files"][0]["lines"]}]
        made = page(coverage(files=files, gcov=evil), source=SourceText(evil, f"{evil}\n" * 3))
        assert "The text is not shown" not in made.text
        assert made.wrong == []
        assert made.allowed() == {"style": "own", "script": "own"}


def test_a_text_that_is_not_there_is_told_and_its_figures_stay() -> None:
    part = page(coverage(), source=SourceText("a.c", None, "it has changed"))
    assert "The text is not shown: it has changed." in part.text
    assert "4 of 8 (50 %)" in part.text


def test_without_a_measurement_the_part_says_how_to_make_one() -> None:
    sources = [{"file": "a.c", "sha256": "0"}]
    of_code = {"goals": [], "controller": {"name": "a", "sources": sources}}
    assert "--coverage measures it" in shown(Saved((SavedChain("chain.json", of_code),))).text
    machine = {"goals": [], "controller": {"name": "a", "sources": [{"file": "a.dot", "sha256": "0"}]}}
    assert "Annotated source" not in shown(Saved((SavedChain("chain.json", machine),))).headings


@needs_gcov
def test_a_report_shows_what_generate_measured_as_long_as_the_source_is_the_same(tmp_path: Path) -> None:
    write_files(
        tmp_path, {"c.c": program(), "chaincover.toml": project('[[property]]\nid = "p"\ntext = "cover(s->n == 2)"\n')}
    )
    assert chaincover("generate", tmp_path, "-o", tmp_path / "out", "-q", "--coverage").code == 0

    def again(*places: object) -> Page:
        done = chaincover("report", *places, "-o", tmp_path / "page.html")
        assert done.code == 0, done.err
        return Page((tmp_path / "page.html").read_text(encoding="utf-8"))

    whole = again(tmp_path / "out")
    assert whole.row("8")[:3] == ["8", "2", "0"]
    assert again(tmp_path / "out" / "chain.json").rows == whole.rows, "its coverage comes with a chain that is named"
    (tmp_path / "c.c").write_text(program() + "\n")
    assert (
        f"The text is not shown: {tmp_path / 'c.c'} has changed since the result was made"
        in again(tmp_path / "out").text
    )
    chaincover("replay", tmp_path, tmp_path / "out", "--coverage", "-q")
    told = chaincover("report", tmp_path / "out", "-o", tmp_path / "page.html").out
    assert "coverage.json is not shown: it was measured when c.c was another text" in told
