"""The page of a suite in a real browser: order, filters, details, any pair in the scatter; it looks right everywhere.

Pictures of its parts, light, dark and at the width of a telephone, are left in the folders of the tests.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browsers import WIDTHS, needs_chromium, opened
from suite_rows import EVIL, of_one_text, of_paper, synthetic

from benchmarks.bench.page import write
from benchmarks.bench.row import Row, to_csv, to_line

pytestmark = [pytest.mark.evidence, needs_chromium]

SIZE = 100
"""Rows that are shown at once."""
SOON = 200
"""Milliseconds within which 10,000 rows are filtered or sorted."""


def made(folder: Path, rows: Sequence[Row], changes: Mapping[str, str] | None = None) -> Path:
    """The page of ``rows``, with the files beside it."""
    write(folder, f"The suite “{folder.name}”", rows, changes or {})
    (folder / "rows.csv").write_text(to_csv(rows), errors="replace")
    (folder / "rows.jsonl").write_text("".join(f"{to_line(row)}\n" for row in rows))
    return folder / "index.html"


@pytest.fixture(scope="module", params=["paper", "thousands"])
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], Path]:
    """The rows of a suite and their page."""
    rows, changes = of_paper(), {}
    if request.param == "paper":
        changes = {rows[0].id: "worse: length 9 -> 10", f"{rows[1].id}/{rows[1].ordering}": "better: length 12 -> 9"}
    else:
        rows = synthetic(10_000)
    return rows, made(tmp_path_factory.mktemp(request.param), rows, changes)


def all_of(driver: Any, selector: str, told: str) -> list[Any]:
    """What the expression ``told`` of JavaScript says of each element ``e`` that ``selector`` finds."""
    found: list[Any] = driver.execute_script(
        f"return [...document.querySelectorAll(arguments[0])].map(e => {told})", selector
    )
    return found


def shown(driver: Any) -> list[str]:
    """The models of the rows that are shown."""
    return all_of(driver, "#list tbody tr:not(.detail) th button", "e.title")


def statuses(driver: Any) -> set[str]:
    return {*all_of(driver, "#list td.status", "e.innerText")}


def one(driver: Any, selector: str) -> Any:
    from selenium.webdriver.common.by import By

    return driver.find_element(By.CSS_SELECTOR, selector)


def typed(driver: Any, text: str) -> None:
    """Put ``text`` in place of what the field of search has."""
    from selenium.webdriver.common.keys import Keys

    one(driver, "#text").send_keys(Keys.CONTROL, "a")
    one(driver, "#text").send_keys(text or Keys.DELETE)


def chosen(driver: Any, selector: str, **choice: str) -> None:
    """Choose an option by its ``value``, or by its ``text``."""
    from selenium.webdriver.support.select import Select

    select = Select(one(driver, selector))
    if "value" in choice:
        select.select_by_value(choice["value"])
    else:
        select.select_by_visible_text(choice["text"])


def circles(driver: Any, measure: str) -> list[list[str]]:
    """Place and kind of each point of a scatter."""
    told = "[e.getAttribute('cx'), e.getAttribute('cy'), e.className.baseVal]"
    return all_of(driver, f"#scatter-{measure} circle", told)


@pytest.mark.parametrize("kind", ["empty", "alone", "hostile"])
def test_few_rows_and_hostile_texts_are_shown(tmp_path: Path, kind: str) -> None:
    paper = of_paper()
    rows = {"empty": [], "alone": paper[:1], "hostile": [of_one_text(EVIL), *paper]}[kind]
    with opened(made(tmp_path, rows)) as driver:
        assert len(all_of(driver, "#list tbody th button", "0")) == min(len(rows), SIZE)


def test_rows_are_sorted_by_keyboard_and_what_is_not_known_comes_last(suite: tuple[list[Row], Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    rows, page = suite
    known = sorted((row for row in rows if row.length is not None), key=lambda row: row.length or 0)
    unknown = [row.model for row in rows if row.length is None]
    with opened(page) as driver:
        assert shown(driver) == [row.model for row in rows[:SIZE]]
        number = all_of(driver, "#list thead th", "e.innerText.includes('length')").index(True) + 1
        heading = f"#list thead th:nth-child({number})"
        one(driver, f"{heading} button").send_keys(Keys.ENTER)
        assert one(driver, heading).get_attribute("aria-sort") == "ascending"
        assert shown(driver) == [row.model for row in known[:SIZE]]
        one(driver, f"{heading} button").send_keys(Keys.ENTER)
        assert one(driver, heading).get_attribute("aria-sort") == "descending"
        assert shown(driver)[0] == known[-1].model
        one(driver, "#last").click()
        end = min(len(rows) % SIZE or SIZE, len(unknown))
        assert shown(driver)[-end:] == unknown[-end:]


def test_rows_are_filtered_by_words_and_by_status(suite: tuple[list[Row], Path]) -> None:
    rows, page = suite
    model = rows[7].model
    with opened(page) as driver:
        typed(driver, f'"{model}"')
        assert shown(driver) == [row.model for row in rows if row.model == model][:SIZE]
        typed(driver, f'configuration {model.split()[0]} "finished"')
        assert statuses(driver) <= {"finished"}
        typed(driver, "")
        chosen(driver, "#filter-status", text="time-out")
        assert statuses(driver) == {"time-out"}
        one(driver, "#reset").click()
        assert f"of {len(rows):,}" in one(driver, "#told").text


def test_the_details_of_a_row_are_opened_by_keyboard(suite: tuple[list[Row], Path]) -> None:
    from selenium.webdriver.common.keys import Keys

    rows, page = suite
    with opened(page) as driver:
        button = one(driver, "#list tbody th button")
        button.send_keys(Keys.SPACE)
        assert button.get_attribute("aria-expanded") == "true"
        assert one(driver, "tr.detail a").get_dom_attribute("href") == f"runs/{rows[0].id}/log.txt"
        assert rows[0].source_sha256 in one(driver, "tr.detail").text
        assert len(all_of(driver, "#list tbody tr", "0")) <= SIZE + 1


@pytest.mark.parametrize("action", ["text.value = '9'; text.dispatchEvent(new Event('input'))", "reset.click()"])
def test_ten_thousand_rows_are_filtered_soon(tmp_path: Path, action: str) -> None:
    with opened(made(tmp_path, synthetic(10_000))) as driver:
        taken = driver.execute_script(
            "const [text, reset] = ['text', 'reset'].map(id => document.getElementById(id));"
            f"const start = performance.now(); {action}; document.body.offsetHeight; return performance.now() - start"
        )
        assert taken < SOON


def test_the_script_draws_the_pair_of_the_picture_and_any_other(suite: tuple[list[Row], Path]) -> None:
    _, page = suite
    with opened(page) as driver:
        data = json.loads(one(driver, "#data").get_property("textContent"))["scatter"]
        for order, measure in enumerate(data["values"]):
            chosen(driver, "#measure", value=str(order))
            picture = ElementTree.parse(page.parent / f"scatter-{measure}.svg")
            points = picture.iter("{http://www.w3.org/2000/svg}circle")
            still = [(point.get("cx", ""), point.get("cy", ""), point.get("class")) for point in points]
            for (x, y, kind), (other_x, other_y, other_kind) in zip(circles(driver, measure), still, strict=True):
                assert kind == other_kind
                assert math.hypot(float(x) - float(other_x), float(y) - float(other_y)) < 0.3
            chosen(driver, "#up", value=one(driver, "#across").get_property("value"))
            assert all("unsolved" in kind or "equal" for *_, kind in circles(driver, measure))
            assert "equal on 0" not in one(driver, "#pair-told").text
            chosen(driver, "#up", value=str(data["first"][1]))
        chosen(driver, "#measure", value="0")
        driver.execute_script(
            "document.querySelector('#scatter-seconds circle').dispatchEvent(new Event('click', {bubbles: true}))"
        )
        assert one(driver, "#text").get_property("value") == f'"{data["models"][0]}"'
        assert {*shown(driver)} == {data["models"][0]}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [WIDTHS["desk"], WIDTHS["phone"]])
def test_nothing_is_wider_than_the_window_or_cut_off(suite: tuple[list[Row], Path], width: int, dark: bool) -> None:
    _, page = suite
    with opened(page, width, dark) as driver:
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width  # innerWidth grows with what is too wide
        assert not any(all_of(driver, ".paper tbody .name", "e.scrollWidth > e.clientWidth"))
        for part in ("summary", "table", "plots", "pairs", "rows"):
            picture = page.with_name(f"{width}-{'dark' if dark else 'light'}-{part}.png")
            assert one(driver, f"#{part}").screenshot(str(picture))
