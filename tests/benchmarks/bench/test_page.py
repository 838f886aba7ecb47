"""The page of a suite's results: Table 1, the data of its table of rows, its plots; no text breaks out of it."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from suite_rows import EVIL, PAPER, of_one_text, of_paper, row, stopped, synthetic

from benchmarks.bench.page import __main__ as command
from benchmarks.bench.page import plots, write
from benchmarks.bench.page.data import table_data
from benchmarks.bench.page.results import Results
from benchmarks.bench.page.svg import axis
from benchmarks.bench.row import Row, from_line, to_csv, to_line
from chaincover.report.html import kit


class Page(HTMLParser):
    """The elements of a page, the text of its tables' cells, and the addresses it names."""

    VOID = ("meta", "input", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.cells: list[list[str]] = []
        self.addresses: list[str] = []
        self.text = ""
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]
        self.wrong += [name for name, _ in attributes if name.startswith("on")]
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            return
        self.text += data
        if "td" in self.open or "th" in self.open:
            self.cells[-1][-1] += data

    def line(self, first: str) -> list[str]:
        """The cells of the last row whose first one is this."""
        return next(cells for cells in reversed(self.cells) if cells and cells[0] == first)


def made(folder: Path, rows: list[Row], changes: Mapping[str, str] | None = None) -> Page:
    """The page of ``rows``, after what every page must be: well formed, with nothing fetched, pictures that are XML."""
    files = write(folder, "A suite", rows, changes or {})
    assert files[-1] == folder / "index.html"
    assert sorted(place.name for place in folder.iterdir()) == sorted(place.name for place in files)
    for place in files[:-1]:
        assert ElementTree.parse(place).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    page = Page((folder / "index.html").read_text(encoding="utf-8"))
    assert not page.wrong
    assert not page.open
    assert all(re.match(r"(#|[\w.-]+$)", address) for address in page.addresses)
    return page


def data(folder: Path) -> dict[str, Any]:
    """What the page's script reads."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    document: dict[str, Any] = json.loads(found[1])
    return document


def column(table: Mapping[str, Any], name: str) -> list[Any]:
    found = next(each for each in table["columns"] if each["name"] == name)
    return [found["words"][cell] for cell in found["cells"]] if "words" in found else found["cells"]


@pytest.mark.evidence
def test_ten_thousand_rows_pass_through_json_lines_table_and_page(tmp_path: Path) -> None:
    rows = synthetic(10_000)
    assert [from_line(to_line(each)) for each in rows[::100]] == rows[::100]
    assert to_csv(rows).count("\n") == 10_001
    page = made(tmp_path, rows)
    table = data(tmp_path)["table"]
    assert table["rows"] == 10_000
    assert column(table, "model") == [each.model for each in rows]
    assert column(table, "length") == [each.length for each in rows]
    assert table["links"][17] == [f"runs/{17:012x}/log.txt", f"runs/{17:012x}/chain.json"]
    assert len(page.line("model 999")) > 10
    assert (tmp_path / "index.html").stat().st_size < 10_000_000


def test_table_1_has_the_papers_rows_in_order_beside_its_numbers(tmp_path: Path) -> None:
    page = made(tmp_path, [from_line(to_line(each)) for each in of_paper()])
    names = [cells[0] for cells in page.cells if re.match(r"(Cruise|Window|Alarm|Elevator|Robotarm)", cells[0])]
    assert names == [entry["name"] for entry in tomllib.loads(PAPER.read_text())["row"]]
    cruise = page.line("Cruise 1")
    assert cruise[1:4] == ["3b", "3b", "4"]
    assert cruise[6:8] == ["1", "9✓"]
    assert cruise[-12:] == ["1", "9", "0.53", "1", "9", "0.88", "3", "18", "3.67", "2.8", "24.6", "0.54"]
    extended = page.line("Window Ext 1")
    assert extended[-2:] == ["33 % cov.", "t/o"]
    assert "50\u202f% cov." in extended
    assert "missing" in extended
    assert "sizes compare, lengths and times do not" in page.text


def test_a_length_that_is_not_proved_is_told_with_its_bound(tmp_path: Path) -> None:
    open_row = {"length": 77, "lower": 71, "minimal": False}
    page = made(tmp_path, [row(model="Robotarm 3", **open_row), row(model="Cruise 1")])
    assert "77≥71" in page.line("Robotarm 3")
    assert "9✓" in page.line("Cruise 1")


def test_the_best_of_each_measure_is_bold_among_the_runs_that_cover_all_goals(tmp_path: Path) -> None:
    page = made(
        tmp_path,
        [
            row(configuration="one chain", length=9, processor_seconds=3.0),
            row(configuration="resets", chains=3, length=8, processor_seconds=2.0, minimal=False, lower=None),
            row(configuration="part", length=5, covered=3, undecided=1, processor_seconds=1.0),
        ],
    )
    assert [page.line(name)[4:6] for name in ("resets", "part")] == [["1", "1"], ["0", "0"]]
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<b>([\d.]+)</b>", text) == ["1", "8", "2"]
    assert "75&#8239;%" in text


def test_a_goal_that_some_run_proved_uncoverable_is_asked_of_no_configuration() -> None:
    proved = row(configuration="proves", covered=3, impossible=1)
    silent = row(configuration="random", covered=3, undecided=1, minimal=False)
    lazy = row(configuration="lazy", covered=2, undecided=2, minimal=False)
    results = Results([proved, silent, lazy])
    assert [results.of(name)[0].complete for name in results.configurations] == [True, True, False]


def test_a_time_out_with_a_chain_tells_length_and_limit(tmp_path: Path) -> None:
    page = made(tmp_path, [row(status="time-out", seconds=120.0, minimal=False, lower=7)])
    assert page.line("cruise")[-3:] == ["1", "9≥7", "t.o."]
    assert 'title="time-out after 120 s"' in (tmp_path / "index.html").read_text()
    cell = Results([row(status="time-out")]).of("chaincover")[0]
    assert (cell.complete, cell.solved) == (True, False)


def test_seeds_are_averaged_and_other_settings_kept_apart() -> None:
    rows = [row(settings={"K": k, "seed": seed}, seed=seed, length=9 + seed) for k in (5, 10) for seed in (0, 1, 2)]
    results = Results(rows)
    assert results.configurations == ("chaincover K=5", "chaincover K=10")
    cell = results.of("chaincover K=10")[0]
    assert (len(cell.rows), cell.length) == (3, 10)
    assert cell.spread == "lengths of 3 runs, with quartiles: 9, 9.5, 10, 10.5, 11"
    assert Results([row(settings={"seed": 1}), row(settings={"seed": 2, "K": 3})]).configurations == (
        "chaincover",
        "chaincover K=3",
    )


def test_backends_of_one_comparison_have_the_seconds_of_their_own_stage() -> None:
    rows = [row(ordering=name, stages={"graph": 3.0, "final": own}) for name, own in (("tsp", 1.0), ("exact", 2.0))]
    results = Results(rows)
    assert [results.of(name)[0].seconds for name in results.configurations] == [1.0, 2.0]


def test_a_run_that_told_no_goals_stays_with_its_model() -> None:
    results = Results([row(), row(configuration="other", goals=0, covered=0, length=None, status="missing")])
    assert len(results.models) == 1
    assert results.of("other")[0].model.goals == 4


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row(seconds=0.0, processor_seconds=0.0)],
        [row(configuration=name, seconds=0.0, processor_seconds=0.0) for name in ("a", "b")],
        [stopped(configuration=name, model=model) for name in ("a", "b") for model in ("m", "n")],
        [stopped(status="missing", seconds=0.0, processor_seconds=0.0, files=(), log="")],
        [row(goals=0, covered=0, length=0, chains=0, lower=0)],
        [row(seconds=float("inf"), processor_seconds=float("nan"))],
    ],
    ids=["none", "without times", "pair without times", "all time-outs", "missing", "zero goals", "no numbers"],
)
def test_pages_of_little(tmp_path: Path, rows: list[Row]) -> None:
    made(tmp_path, rows)
    assert data(tmp_path)["table"]["rows"] == len(rows)


def test_no_text_of_a_row_breaks_out_of_its_place(tmp_path: Path) -> None:
    """Texts of rows and changes are hostile: the page has the elements that it has without them."""
    hostile, tame = of_one_text(EVIL), of_one_text("x")
    pages = []
    for name, each in (("hostile", hostile), ("tame", tame)):
        (tmp_path / name).mkdir()
        other = row(configuration=f"{name} too")
        pages.append(made(tmp_path / name, [each, other], {f"{each.id}/{each.ordering}": f"worse: {each.note}"}))
    assert pages[0].tags == pages[1].tags
    table = data(tmp_path / "hostile")["table"]
    assert column(table, "model")[0] == EVIL
    assert EVIL in column(table, "settings")[0]
    for text in ((tmp_path / "hostile" / place).read_text() for place in ("index.html", "scatter-seconds.svg")):
        assert "<script>alert" not in text
        assert "\x1b" not in text


def test_links_stay_below_the_folder() -> None:
    assert kit.link("runs/a b/log#1.txt") == "runs/a%20b/log%231.txt"
    assert kit.link("javascript:alert(1)") == "javascript%3Aalert%281%29"
    for outside in ("/etc/passwd", "../other/log.txt", "runs/../../x", "C:/x", "a\\b", ""):
        assert kit.link(outside) == ""
    rows = [
        row(id="r", files=("/abs/chain.json", "chain.csv"), log="../log.txt", project="/home/someone/my/project.toml")
    ]
    table = table_data(rows, {})
    assert table["links"] == [["", "runs/r/chain.csv"]]
    assert column(table, "project") == ["project.toml"]


def test_changed_rows_are_marked_by_id_and_ordering(tmp_path: Path) -> None:
    rows = [row(id="r", configuration="compare", ordering=ordering) for ordering in ("tsp", "exact")]
    page = made(tmp_path, rows, {"r/exact": "worse: length 9 -> 10"})
    assert column(data(tmp_path)["table"], "change") == ["", "worse: length 9 -> 10"]
    assert "1 row changed since the earlier run" in page.text
    assert [cell for cell in page.line("cruise") if "◆" in cell] == ["9✓ ◆"]


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    kept = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        kept.append({place.name: place.read_bytes() for place in write(tmp_path / name, "A suite", of_paper(), {})})
    assert kept[0] == kept[1]
    assert b"/" + tmp_path.name.encode() not in kept[0]["index.html"]


def test_points_of_the_first_pair_stand_where_the_script_puts_them(tmp_path: Path) -> None:
    """The script places a point by the frame's ends and the data; what is not solved is on the border."""
    rows = [row(configuration=name, model=model, processor_seconds=seconds) for name, model, seconds in (
        ("a", "m", 0.5), ("a", "n", 20.0), ("b", "m", 3.0))]  # fmt: skip
    made(tmp_path, [*rows, stopped(configuration="b", model="n")])
    picture = ElementTree.parse(tmp_path / "scatter-seconds.svg").getroot()
    group = next(each for each in picture.iter() if each.get("class") == "points")
    low, high, border = (float(group.attrib[f"data-{name}"]) for name in ("low", "high", "border"))
    assert (low, high, border) == (0.5, 20.0, plots.BORDER)
    left, top, bottom = (float(group.attrib[f"data-{name}"]) for name in ("left", "top", "bottom"))
    circles = list(group)
    assert [circle.get("class") for circle in circles] == ["point", "point unsolved"]
    assert float(circles[0].attrib["cx"]) == left, "the least of all is at the axis"
    share = math.log(3.0 / 0.5) / math.log(20.0 / 0.5)
    assert float(circles[0].attrib["cy"]) == pytest.approx(bottom - border * (bottom - top) * share, abs=0.1)
    assert float(circles[1].attrib["cy"]) == top
    assert data(tmp_path)["scatter"]["values"]["seconds"] == [[0.5, 20.0], [3.0, 0]]


def test_a_figure_adds_up_and_ends_where_no_further_model_is_covered(tmp_path: Path) -> None:
    rows = [row(model=f"m{length}", length=length) for length in (7, 3, 5)]
    rows += [row(model="m3", configuration="b"), stopped(model="m5", configuration="b")]
    made(tmp_path, rows)
    picture = ElementTree.parse(tmp_path / "fig9-lengths.svg").getroot()
    titles = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[2:5] == ["chaincover: 1, 3", "chaincover: 2, 8", "chaincover: 3, 15"]
    assert titles[-1] == "b: 1, 9"


def test_the_command_makes_page_and_table_again(tmp_path: Path) -> None:
    rows = [row(), row(configuration="other")]
    (tmp_path / "rows.jsonl").write_text("".join(to_line(each) + "\n" for each in rows) + '{"id": "half a li')
    (tmp_path / "suite.toml").write_text('title = "My suite"\n')
    done = CliRunner().invoke(command.main, [str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "rows.csv").read_text() == to_csv(rows)
    (tmp_path / "rows.jsonl").write_text("".join(to_line(each) + "\n" for each in reversed(rows)))
    assert CliRunner().invoke(command.main, [str(tmp_path)]).exit_code == 0
    assert (tmp_path / "rows.csv").read_text() == to_csv(rows), "the order is that of the table, not of the runs"
    assert "<h1>My suite</h1>" in (tmp_path / "index.html").read_text()


def test_the_command_names_a_wrong_line_and_a_wrong_folder(tmp_path: Path) -> None:
    done = CliRunner().invoke(command.main, [str(tmp_path)])
    assert done.exit_code == 2
    assert "no results of a suite" in done.output
    (tmp_path / "rows.jsonl").write_text(to_line(row()) + "\nnonsense\n")
    done = CliRunner().invoke(command.main, [str(tmp_path)])
    assert done.exit_code == 2
    assert "rows.jsonl:2" in done.output
    assert "--resume" in done.output


@pytest.mark.parametrize("values", [[], [1.0], [0.013, 0.02], [3.0, 700.0], [1e-3, 1e7], [9.99, 10.01]])
def test_an_axis_shows_all_values_and_has_ticks_among_them(values: list[float]) -> None:
    for log in (False, True):
        made_of = axis("", values, log)
        assert made_of.low < made_of.high
        assert all(made_of.low <= value <= made_of.high for value in values)
        assert 2 <= len(made_of.ticks()) <= 10
        assert all(0 <= made_of.at(tick) <= 1 for tick in made_of.ticks())
