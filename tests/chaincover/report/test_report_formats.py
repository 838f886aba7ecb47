"""The report for other readers: Markdown, CSV and SARIF say what the result says, and no name leaves its place."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT, Outcome, chaincover
from findings import DIVISION, STEP, results
from hostile_names import HOSTILE as ALL
from jsonschema import Draft4Validator
from markdown_it import MarkdownIt

from bmc.errors import printable
from chaincover.report import markdown
from chaincover.report.html.saved import read_saved

SARIF = Draft4Validator(json.loads((ROOT / "tests" / "support" / "sarif" / "sarif-schema-2.1.0.json").read_text()))

HOSTILE = [name.replace("\ud800", "").replace("\0", "") for name in ALL]
"""Those that a result file can hold: half of a pair of Unicode and NUL are refused when it is read."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return results(tmp_path_factory.mktemp("level"))


def report(place: Path, form: str, *more: object, cwd: Path | None = None) -> str:
    output = place.parent / f"written.{form}"
    outcome = chaincover("report", place, "--format", form, "-o", output, "-q", *more, cwd=cwd)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    return output.read_text(encoding="utf-8")


def document(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "chain.json").read_text())
    return data


def written(folder: Path, data: Mapping[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "chain.json").write_text(json.dumps(data))
    return folder


def hostile(data: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The result with goals of these names, and properties and texts; all can fail, and there is no chain."""
    made = copy.deepcopy(dict(data))
    goal, ruling = data["goals"][0], data["requirements"]["rulings"][0]
    rest = {"requirement": "", "verdict": "undecided", "step": None}
    made["controller"]["name"] = HOSTILE[2]
    made["goals"] = [{**goal, **rest, "name": name, "property": name, "detail": name} for name in names]
    read = {"variable": HOSTILE[10], "step": 1, "actual": HOSTILE[11], "expected": HOSTILE[12]}
    made["requirements"]["rulings"] = [{**ruling, "goal": name, "values": [read], "test": None} for name in names]
    made["chain"] = None
    return made


# Markdown


def parsed(text: str) -> list[list[str]]:
    """The rows of all tables, as a reader sees them; no HTML is in the text but what sets a name in another font."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    assert {token.type for token in tokens} <= {
        *("heading_open", "inline", "heading_close", "paragraph_open", "paragraph_close", "table_open", "table_close"),
        *("thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close"),
        *("td_open", "td_close", "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
    }
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        for child in token.children or ():
            assert child.type in ("text", "html_inline", "text_special", "strong_open", "strong_close"), child
            assert child.type != "html_inline" or child.content in ("<code>", "</code>", "<br>")
        if token.type == "inline" and token.level == 4 and rows:
            rows[-1].append("".join(child.content for child in token.children or () if child.type != "html_inline"))
    return rows


def test_markdown_says_what_failed_where_and_what_is_not_covered(folder: Path) -> None:
    text = report(folder, "markdown")
    rows = parsed(text)
    missed = "1 requirement can fail; 1 goal is unreachable: full; one chain of 4 steps (2 s) covers 2 of 3 goals"
    assert f"{missed}, proved minimal." in text
    failed = next(row for row in rows if row[0] == "falls (L-1) can fail")
    assert failed[1] == "3"
    assert "level is 2 at step 4, expected 1." in failed[2]
    assert any(row[0].startswith("falls (L-1) failed on") and row[1] == "3" for row in rows)
    assert any(row[0].startswith("possible undefined behaviour: division by zero") for row in rows)
    (full,) = (row for row in rows if row[0] == "full")
    assert full[1:4] == ["unreachable", "no run covers it: all 5 reachable states were searched", "yes"]
    assert "next" in next(row for row in rows if row[0] == "goals")
    assert "ranges" in full[4], "what can be done, as the terminal says it"
    assert text == report(folder, "markdown")


def test_markdown_tells_of_sources_that_changed_and_not_of_those_it_would_not_show(
    folder: Path, tmp_path: Path
) -> None:
    alone = written(tmp_path / "alone", document(folder))
    assert "The source" not in report(alone, "markdown")
    (alone / "level.c").write_text("int changed;")
    assert f"The source level.c is not shown: {alone / 'level.c'} has changed since" in report(alone, "markdown")


def test_markdown_tells_what_differs_from_an_earlier_result(folder: Path, tmp_path: Path) -> None:
    data = document(folder)
    data["goals"][1]["verdict"] = "undecided"
    data["bounds"]["length"] = 9
    before = written(tmp_path / "before", data)
    text = report(folder, "markdown", "--earlier", before)
    assert "- The length was 9 steps, and is 4 steps." in text
    assert "- <code>rises</code>: undecided before, covered now" in text
    assert "Nothing differs" in report(folder, "markdown", "--earlier", folder)


def test_markdown_takes_less_than_sixty_lines_whatever_the_result(folder: Path, tmp_path: Path) -> None:
    data = hostile(document(folder), HOSTILE)
    goals = [(goal, k) for goal in data["goals"] for k in range(40)]
    data["goals"] = [{**goal, "name": f"{goal['name']}{k}", "detail": f"{k}{goal['name']}"} for goal, k in goals]
    data["goals"] += [{**data["goals"][0], "name": f"b{k}", "generated": f"states({k})"} for k in range(40)]
    text = report(written(tmp_path / "hostile", data), "markdown", "--earlier", folder)
    assert 50 < len(text.splitlines()) < 60
    rows = parsed(text)
    assert {len(row) for row in rows} == {3, 5, 43}  # findings; goals; figures: one a criterion, and two more
    left = [int(found) for found in re.findall(r"^and (\d+) more$", text, re.M)]
    assert left[0] == len(HOSTILE) - sum(row[0].endswith("can fail") for row in rows)
    assert left[1] == len(goals) - sum(row[1] == "undecided" for row in rows)


def test_a_name_of_any_kind_stays_in_its_place_in_markdown(folder: Path, tmp_path: Path) -> None:
    found: list[str] = []
    for first in range(0, len(HOSTILE), 5):
        place = written(tmp_path / "hostile", hostile(document(folder), HOSTILE[first : first + 5]))
        text, _ = markdown.report(read_saved([str(place)]))
        rows = parsed(text)
        assert {len(row) for row in rows} <= {2, 3, 5}
        assert all(cell.replace("\u200b", "").isprintable() for row in rows for cell in row)
        assert "@SUM" not in text  # nobody is told who is called like a part of a name
        found += [row[0].removesuffix(" can fail") for row in rows if row[0].endswith(" can fail")]
    assert [name.replace("\u200b", "") for name in found] == [printable(name) for name in HOSTILE]


def test_a_goal_that_has_no_way_to_the_end_is_told_as_proved_only_if_it_is(folder: Path, tmp_path: Path) -> None:
    data = document(folder)
    data["goals"][0] |= {"verdict": "no-way-to-final", "detail": "reached, but no run goes on: within K = 3"}
    data["goals"][1] |= {"verdict": "excluded", "detail": "no run covers it together with falls"}
    data["settings"]["bound"] = 3
    for bound, proved in ((3, "no"), (None, "yes")):
        data["settings"]["bound"] = bound
        rows = parsed(report(written(tmp_path / "r", data), "markdown"))
        shown = [row[3] for row in rows if row[0] in ("falls", "rises", "full") and len(row) == 5]
        assert shown == [proved, "no", "yes"]


# CSV


def table(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text))]


def test_csv_has_a_row_for_each_goal_of_chain_and_judgement(folder: Path) -> None:
    rows = table(report(folder, "csv"))
    data = document(folder)
    assert [row["goal"] for row in rows] == 2 * [goal["name"] for goal in data["goals"]]
    falls = rows[0]
    assert (falls["requirement"], falls["verdict"], falls["ruling"]) == ("L-1", "covered", "can fail")
    assert (falls["run"], falls["step"], falls["seconds"], falls["violated at step"]) == ("chain.json", "3", "1.5", "3")
    hits = {hit["goal"]: str(hit["step"]) for hit in data["chain"]["hits"]}
    assert {row["goal"]: row["step"] for row in rows if row["run"] == "chain.json"} == hits
    judged = {row["goal"]: row for row in rows if row["run"] == "judged.json"}
    assert {name: row["ruling"] for name, row in judged.items()} == {
        "falls": "failed",
        "rises": "held",
        "full": "not exercised",
    }


def test_csv_has_no_formula_and_no_cell_too_many(folder: Path, tmp_path: Path) -> None:
    text = report(written(tmp_path / "h", hostile(document(folder), HOSTILE)), "csv")
    cells = [*csv.reader(io.StringIO(text))]
    assert {len(row) for row in cells} == {len(cells[0])}
    assert len(cells) == 1 + len(HOSTILE)
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in cells for cell in row)


def test_half_a_table_is_not_taken_for_a_whole_one(folder: Path, tmp_path: Path) -> None:
    data = document(folder)
    del data["goals"][1]["verdict"]
    outcome = chaincover("report", written(tmp_path / "d", data), "--format", "csv")
    assert (outcome.code, outcome.out) == (3, "")
    assert "the result is damaged (it has no entry 'verdict')" in outcome.err
    assert [place.name for place in (tmp_path / "d").iterdir()] == ["chain.json"]
    assert "cannot be made: the result is damaged" in report(tmp_path / "d", "markdown")


# SARIF


def log(text: str) -> dict[str, Any]:
    """The only run of a log that the schema allows."""
    data = json.loads(text)
    assert [error.message for error in SARIF.iter_errors(data)] == []
    (run,) = data["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["kind"] == "fail" or result["level"] == "none"
    found: dict[str, Any] = run
    return found


def places(run: Mapping[str, Any], rule: str) -> list[tuple[str, int, int]]:
    found = []
    for result in run["results"]:
        if result["ruleId"] == rule:
            physical = result["locations"][0]["physicalLocation"]
            region = physical.get("region", {})
            place = physical["artifactLocation"]["uri"], region.get("startLine", 0), region.get("startColumn", 0)
            found.append(place)
    return found


def test_sarif_says_where_what_failed(folder: Path) -> None:
    run = log(report(folder, "sarif", cwd=folder.parent))
    (division,) = places(run, "undefined-behaviour")
    line = (folder.parent / "level.c").read_text().splitlines()[DIVISION - 1]
    assert division == ("level.c", DIVISION, line.index("10") + 1)
    assert places(run, "requirement-fails") == 3 * [("level.c", STEP, 0)]  # can fail, on the chain, judged
    first = run["results"][0]
    assert first["properties"]["step"] == 3
    assert first["properties"]["values"] == [{"variable": "level", "step": 4, "actual": "2", "expected": "1"}]
    assert first["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "falls"
    (source,) = run["artifacts"]
    assert source["hashes"]["sha-256"] == document(folder)["controller"]["sources"][0]["sha256"]
    assert run["invocations"][0]["toolExecutionNotifications"] == []


def test_sarif_names_files_elsewhere_as_a_whole_and_unknown_ones_by_name(folder: Path, tmp_path: Path) -> None:
    elsewhere = log(report(folder, "sarif", cwd=tmp_path))
    assert places(elsewhere, "requirement-fails")[0] == ((folder.parent / "level.c").as_uri(), STEP, 0)
    alone = log(report(written(tmp_path / "alone", document(folder)), "sarif"))
    assert places(alone, "requirement-fails")[0] == ("level.c", 0, 0)
    missing = [each["message"]["text"] for each in alone["invocations"][0]["toolExecutionNotifications"]]
    assert missing[0].startswith("There is no run.json beside chain.json")
    assert any(text.startswith("The source level.c is not shown") for text in missing)


def test_sarif_of_hostile_names_and_of_what_is_open(folder: Path, tmp_path: Path) -> None:
    place = written(tmp_path / "h", hostile(document(folder), HOSTILE))
    checked = json.loads((folder / "check.json").read_text())
    told = {"steps_from_init": None, "undecided": True, "searched": False, "kind": "[x](http://e)"}
    checked["undefined_behaviour"] = [{**told, "where": "a:b c.c:7"}, {**told, "where": "None"}]
    checked["controller"] = document(place)["controller"]["name"]
    checked["compared"] = {"compiler": "cc", "steps": 10, "differences": 2, "stopped": ""}
    (place / "check.json").write_text(json.dumps(checked))
    run = log(report(place, "sarif"))
    assert sum(result["ruleId"] == "requirement-fails" for result in run["results"]) == len(HOSTILE)
    open_ones = [result for result in run["results"] if result["kind"] == "open"]
    assert [len(result["locations"]) for result in open_ones] == [1, 0]
    assert open_ones[0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%3Ab%20c.c"},
        "region": {"startLine": 7},
    }
    assert r"\[x](http://e)" in open_ones[0]["message"]["text"]
    assert any(result["ruleId"] == "model-differs" for result in run["results"])


# the command


def test_the_format_follows_the_name_of_the_file_or_the_option(folder: Path, tmp_path: Path) -> None:
    for name, begins in (("a.md", "## "), ("a.csv", "requirement,"), ("a.sarif", "{"), ("a.htm", "<!DOCTYPE html>")):
        outcome = chaincover("report", folder, "-o", tmp_path / name)
        assert outcome.out.endswith(f"written to {tmp_path / name}\n")
        assert (tmp_path / name).read_text().startswith(begins)
    assert chaincover("report", folder, "--format", "csv", "-o", tmp_path / "a.md", "-q").code == 0
    assert (tmp_path / "a.md").read_text().startswith("requirement,")
    assert chaincover("report", folder, "--format", "sarif", "-q").code == 0
    assert (folder / "report.sarif").exists()


def test_the_page_shows_what_check_found(folder: Path) -> None:
    page = report(folder, "html")
    assert "possible undefined behaviour: division by zero" in page
    assert "cannot be made" not in page


@pytest.mark.slow
def test_a_result_of_several_chains_has_its_violation(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "several"
    assert chaincover("generate", folder.parent, "--several", "--no-replay", "-q", "-o", out).code == 1
    rows = parsed(report(out, "markdown"))
    assert any(row[0] == "falls (L-1) can fail" for row in rows)
    page = report(out, "html")
    assert "cannot be made" not in page
    assert "violation of falls" in page
    assert plotted(out / "violation-falls.csv", tmp_path / "v.svg").code == 0
    assert "✗ falls" in (tmp_path / "v.svg").read_text()
    refused = plotted(out, tmp_path / "w.svg")
    assert (refused.code, "several chains" in refused.err) == (3, True)


# plot


def plotted(chain: Path, output: Path, *more: object) -> Outcome:
    return chaincover("plot", chain, "-o", output, *more)


@pytest.mark.slow
def test_plot_draws_a_chain_and_a_violation(folder: Path, tmp_path: Path) -> None:
    assert plotted(folder, tmp_path / "c.svg").out == f"written to {tmp_path / 'c.svg'}\n"
    drawn = (tmp_path / "c.svg").read_text()
    for text in (">fill<", ">level<", ">✗ falls<", ">rises<", ">step (0.5 s)<"):
        assert text in drawn
    assert plotted(folder / "violation-falls.csv", tmp_path / "v.svg", "-q", "-s", "level").out == ""
    violation = (tmp_path / "v.svg").read_text()
    assert ">✗ falls<" in violation
    assert ">fill<" not in violation
    assert plotted(folder, tmp_path / "p.png", "-s", "lev*", "--from", 1, "--to", 3).code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-s", "levle"], 3, "unknown variable 'levle'"),
        (["-o", "x.pdf"], 2, "names no kind of drawing"),
        (["--from", "9"], 3, "no stretch from step 9"),
        (["--from", "3", "--to", "2"], 3, "no stretch from step 3 to 2"),
    ],
)
def test_plot_says_what_is_wrong(folder: Path, tmp_path: Path, options: list[str], code: int, message: str) -> None:
    outcome = chaincover("plot", folder, "-o", "y.svg", *options, cwd=tmp_path)
    assert outcome.code == code
    assert message in outcome.err
    assert "next: " in outcome.err
    assert [*tmp_path.iterdir()] == []


def test_plot_refuses_what_is_no_run(folder: Path, tmp_path: Path) -> None:
    lone = tmp_path / "violation-falls.csv"
    lone.write_bytes((folder / "violation-falls.csv").read_bytes())
    for place, message in (
        (lone, "no result beside this table"),
        (folder / "chain.csv", "this is no table of a violation"),
        (folder / "judged.json", "this is no chain"),
        (folder / "violation-rises.csv", "no result beside this table"),
        (tmp_path / "none", "none"),
    ):
        outcome = plotted(place, tmp_path / "x.svg")
        assert (outcome.code, message in outcome.err) == (3, True), (place, outcome.err)
    data = {**document(folder), "chain": None}
    outcome = plotted(written(tmp_path / "e", data), tmp_path / "x.svg")
    assert "holds no chain" in outcome.err
    data = document(folder)
    del data["chain"]["hits"]
    assert "the result is damaged" in plotted(written(tmp_path / "e", data), tmp_path / "x.svg").err
