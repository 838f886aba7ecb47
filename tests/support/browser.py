"""Look at the page of a suite in a real browser: ``python tests/support/browser.py FOLDER [--browser PROGRAM]``.

It makes pages of the paper's rows and of 10,000 into FOLDER, uses them with mouse and keyboard, checks what they then
show, and leaves pictures in light, dark and at the width of a telephone. It needs playwright, which no test does.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suite_rows import EVIL, of_one_text, of_paper, synthetic

from benchmarks.bench.page import write
from benchmarks.bench.row import Row, to_csv, to_line

LOOKS = {"light": (1400, "light"), "dark": (1400, "dark"), "phone": (390, "light"), "phone-dark": (390, "dark")}
SOON = 200
"""Milliseconds within which 10,000 rows are filtered or sorted."""


def main() -> None:
    """Make the pages, check and picture them."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--browser", help="a Chromium; default: playwright's own")
    given = parser.parse_args()
    paper = of_paper()
    changes = {paper[0].id: "worse: length 9 -> 10", f"{paper[1].id}/{paper[1].ordering}": "better: length 12 -> 9"}
    pages = {"paper": (paper, changes), "thousands": (synthetic(10_000), {})}
    little = {"empty": [], "alone": paper[:1], "hostile": [of_one_text(EVIL), *paper]}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.browser)
        for name, rows in little.items():
            page = browser.new_page()
            trouble = _opened(page, _made(given.folder / name, rows, {}))
            assert len(_shown(page)) == min(len(rows), 100)
            assert not trouble, f"{name}: {trouble}"
            page.close()
        for name, (rows, changed) in pages.items():
            place = _made(given.folder / name, rows, changed)
            for look, (width, scheme) in LOOKS.items():
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                trouble = _opened(page, place)
                if look == "light":
                    _table(page, rows)
                    _pairs(page, place)
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{name}, {look}: the page is {wide} pixels wider than the window"
                cut = page.eval_on_selector_all(
                    ".paper tbody .name", "all => all.some(e => e.scrollWidth > e.clientWidth)"
                )
                assert not cut, f"{name}, {look}: names are cut off"
                _pictures(page, given.folder / f"{name}-{look}")
                assert not trouble, trouble
                page.close()
        browser.close()
    print(f"all is as it should be; look at {given.folder}/*.png")


def _made(folder: Path, rows: Sequence[Row], changes: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, f"The suite “{folder.name}”", rows, changes)
    (folder / "rows.csv").write_text(to_csv(rows), errors="replace")
    (folder / "rows.jsonl").write_text("".join(f"{to_line(row)}\n" for row in rows))
    return folder / "index.html"


def _opened(page: Any, place: Path) -> list[str]:
    """Open a file; whatever it says on the console or asks of the network comes into the list."""
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: trouble.extend({request.url} - {place.as_uri()}))
    page.goto(place.as_uri())
    return trouble


def _shown(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#list tbody tr:not(.detail) th button", "all => all.map(b => b.title)"
    )
    return found


def _heading(page: Any, label: str) -> Any:
    return page.locator("#list thead th").filter(has_text=label).first


def _table(page: Any, rows: Sequence[Row]) -> None:
    """Sorting, filters, pages of rows, details, all by keyboard or mouse."""
    size = 100
    assert _shown(page) == [row.model for row in rows[:size]]
    heading = _heading(page, "length")
    heading.locator("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    known = sorted((row for row in rows if row.length is not None), key=lambda row: row.length or 0)
    assert _shown(page) == [row.model for row in known[:size]]
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert known[-1].model == _shown(page)[0]
    page.locator("#last").click()
    last = len(rows) % size or size
    unknown = [row.model for row in rows if row.length is None]
    assert _shown(page)[-min(last, len(unknown)) :] == unknown[-min(last, len(unknown)) :], (
        "what is not known comes last"
    )
    page.locator("#text").fill(f'"{rows[7].model}"')
    assert _shown(page) == [row.model for row in rows if row.model == rows[7].model][:size]
    page.locator("#text").fill(f'configuration {rows[7].model.split()[0]} "finished"')
    assert set(page.locator("#list td.status").all_inner_texts()) <= {"finished"}
    page.locator("#text").fill("")
    page.locator("#filter-status").select_option(label="time-out")
    assert all(told == "time-out" for told in page.locator("#list td.status").all_inner_texts())
    page.locator("#reset").click()
    assert f"of {len(rows):,}" in page.locator("#told").inner_text()
    button = page.locator("#list tbody th button").first
    button.focus()
    page.keyboard.press("Space")
    assert button.get_attribute("aria-expanded") == "true"
    assert page.locator("tr.detail a").first.get_attribute("href") == f"runs/{rows[0].id}/log.txt"
    assert rows[0].source_sha256 in page.locator("tr.detail").inner_text()
    for action in ("text.value = '9'; text.dispatchEvent(new Event('input'))", "reset.click()"):
        taken = page.evaluate(
            f"() => {{ const [text, reset] = ['text', 'reset'].map(id => document.getElementById(id));"
            f"const start = performance.now(); {action}; document.body.offsetHeight;"
            "return performance.now() - start }"
        )
        assert taken < SOON, f"{taken:.0f} ms for {action}"
    assert page.locator("#list tbody tr").count() <= size + 1
    page.locator("#list tbody tr.detail").first.scroll_into_view_if_needed()


def _circles(page: Any, measure: str) -> list[list[str]]:
    found: list[list[str]] = page.eval_on_selector_all(
        f"#scatter-{measure} circle",
        "all => all.map(c => [c.getAttribute('cx'), c.getAttribute('cy'), c.className.baseVal])",
    )
    return found


def _pairs(page: Any, place: Path) -> None:
    """The script draws the first pair as the picture has it, and any other by the same axes."""
    data = json.loads(page.locator("#data").inner_text())["scatter"]
    for order, measure in enumerate(data["values"]):
        page.locator("#measure").select_option(str(order))
        drawn = _circles(page, measure)
        text = (place.parent / f"scatter-{measure}.svg").read_text()
        still = page.evaluate(
            "text => [...new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('circle')]"
            ".map(c => [c.getAttribute('cx'), c.getAttribute('cy'), c.getAttribute('class')])",
            text,
        )
        assert len(drawn) == len(still)
        for (x, y, kind), (other_x, other_y, other_kind) in zip(drawn, still, strict=True):
            assert kind == other_kind
            assert math.hypot(float(x) - float(other_x), float(y) - float(other_y)) < 0.3
        page.locator("#up").select_option(page.locator("#across").input_value())
        assert all("unsolved" in kind or "equal" for *_, kind in _circles(page, measure))
        assert "equal on 0" not in page.locator("#pair-told").inner_text()
        page.locator("#up").select_option(str(data["first"][1]))
    page.locator("#measure").select_option("0")
    page.locator("#scatter-seconds circle").first.click(force=True)
    assert page.locator("#text").input_value() == f'"{data["models"][0]}"'
    assert set(_shown(page)) == {data["models"][0]}
    page.locator("#reset").click()


def _pictures(page: Any, start: Path) -> None:
    """The parts of the page, one picture each."""
    for part in ("summary", "table", "plots", "pairs", "rows"):
        page.locator(f"#{part}").scroll_into_view_if_needed()
        page.locator(f"#{part}").screenshot(path=f"{start}-{part}.png")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=f"{start}-top.png")


if __name__ == "__main__":
    main()
