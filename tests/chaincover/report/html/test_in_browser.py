"""The report in a real browser: sort, filter, permalink, zoom, fold, cursors; no barrier for assistive technology."""

from __future__ import annotations

import json
import random
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from browsers import WIDTHS, needs_chromium, opened, violations
from command_line import MODELS, ROOT, chaincover, write_files

from chaincover.project.names import without_front

pytestmark = [pytest.mark.evidence, needs_chromium]

WINDOW_EXT_2 = ROOT / "benchmarks/paper/window/window_ext_2.toml"

REDRAW = 16.0
"""Milliseconds of the renderer's processor that one redraw of 10,000 steps of 40 variables may take."""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a result of the window, with its page."""
    folder = tmp_path_factory.mktemp("window")
    ended = chaincover("generate", MODELS / "window", "-o", folder, "-q", "--report", "--cover", "states(is_c1_window)")
    assert ended.code == 0, ended.err
    return folder


def rows(driver: Any, table: str) -> list[list[str]]:
    """The rows of a table that are shown, as texts."""
    found: list[list[str]] = driver.execute_script(
        "return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)].filter(row => !row.hidden)"
        ".map(row => [...row.cells].map(cell => cell.textContent.trim()))",
        table,
    )
    return found


def pressed(driver: Any, *keys: str) -> None:
    from selenium.webdriver.common.by import By

    driver.find_element(By.ID, "wave-scroll").send_keys(*keys)


def state(driver: Any) -> dict[str, Any]:
    found: dict[str, Any] = driver.execute_script("return chaincoverWave.state()")
    return found


def test_the_field_find_takes_a_step_as_a_word_and_a_number(window: Path) -> None:
    from selenium.webdriver.common.by import By

    with opened(window / "report.html") as driver:
        for text, step in (("step 3", 3), ("2", 2)):
            driver.find_element(By.ID, "wave-find").clear()
            driver.find_element(By.ID, "wave-find").send_keys(text)
            driver.find_element(By.ID, "wave-next").click()
            assert state(driver)["cursor"] == step


def test_on_paper_all_parts_are_open_and_on_a_phone_the_table_of_goals_fits(window: Path) -> None:
    with opened(window / "report.html", WIDTHS["phone"]) as driver:
        wide = "const own = document.getElementById('goals'); return [own.scrollWidth, own.parentElement.clientWidth]"
        needed, room = driver.execute_script(wide)
        assert needed <= room
        closed = "return document.querySelectorAll('details:not([open])').length"
        before = driver.execute_script(closed)
        driver.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert (driver.execute_script(closed), before > 0) == (0, True)
        driver.execute_script("dispatchEvent(new Event('afterprint'))")
        assert driver.execute_script(closed) == before


def test_the_table_of_goals_is_sorted_and_filtered(window: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    with opened(window / "report.html") as driver:
        everything = rows(driver, "goals")
        button = next(each for each in driver.find_elements(By.CSS_SELECTOR, "#goals th button") if each.text == "step")
        button.click()
        steps = [int(row[4]) for row in rows(driver, "goals")]
        assert steps == sorted(steps)
        button.click()
        assert [int(row[4]) for row in rows(driver, "goals")] == sorted(steps, reverse=True)
        driver.find_element(By.ID, "goal-text").send_keys("pinch")
        assert all("pinch" in " ".join(row) for row in rows(driver, "goals"))
        driver.find_element(By.ID, "goal-text").clear()
        Select(driver.find_element(By.ID, "goal-criterion")).select_by_visible_text("written")
        driver.find_element(By.ID, "goal-text").send_keys(" ")
        assert len(rows(driver, "goals")) == 8 < len(everything)


def test_a_closed_table_of_coverage_goals_opens_where_something_in_it_is_looked_for(tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By

    covered = ("--cover", "mcdc()", "--cover", "branches()")
    chaincover("generate", MODELS / "cruise", *covered, "-o", tmp_path, "-q", "--report", "--no-replay")
    seen = "return [...document.querySelectorAll('#traceability details')].map(each => [each.open, each.hidden])"
    with opened(tmp_path / "report.html") as driver:
        assert driver.execute_script(seen) == [[False, False], [False, False]]
        driver.find_element(By.ID, "goal-text").send_keys("mcdc:")
        assert driver.execute_script(seen) == [[True, False], [False, True]]
        driver.find_element(By.ID, "goal-text").clear()
        driver.find_element(By.ID, "goal-text").send_keys(" ")
        assert [hidden for _, hidden in driver.execute_script(seen)] == [False, False]


def test_cursors_and_the_table_say_what_the_chain_says(window: Path) -> None:
    document = json.loads((window / "chain.json").read_text())
    chain, controller = document["chain"], document["controller"]
    variables = [*controller["inputs"], *controller["state"], *controller["outputs"]]
    names = [variable["name"] for variable in variables]
    labels = {variable["name"]: without_front(variable.get("labels", {})) for variable in variables}
    with opened(window / "report.html") as driver:
        for step in random.Random(7).sample(range(1, chain["length"]), 8):
            driver.get(f"{driver.current_url.partition('#')[0]}#step={step}")
            assert state(driver)["cursor"] == step
            earlier, inputs = chain["steps"][step - 1], chain["steps"][step]["inputs"]
            before = {**earlier["state"], **earlier["outputs"], **inputs}
            for at, name in enumerate(names):
                shown = driver.execute_script("return chaincoverWave.shown(arguments[0], arguments[1])", at, step)
                assert shown == labels[name].get(str(before[name]), str(before[name])), (step, name)
            marked = driver.execute_script(
                "return document.querySelector('#wave-table tr.marked').cells[0].textContent.trim()"
            )
            assert marked == f"{step} ◀"


def test_the_waveform_is_used_by_keyboard(window: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    chain = json.loads((window / "chain.json").read_text())["chain"]
    with opened(window / "report.html") as driver:
        pressed(driver, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
        assert state(driver)["cursor"] == 2
        assert driver.current_url.endswith("#step=2")
        pressed(driver, Keys.SHIFT, Keys.ARROW_RIGHT)
        assert state(driver)["second"] == 3
        said = driver.execute_script("return document.getElementById('wave-told').textContent")
        assert "difference: 1 step (0.05 s)" in said
        driver.execute_script("document.activeElement.blur()")
        pressed(driver, Keys.END)
        assert state(driver)["cursor"] == chain["length"]
        pressed(driver, Keys.HOME, "g")
        assert state(driver)["cursor"] == min(hit["step"] for hit in chain["hits"] if hit["step"])
        unit = state(driver)["unit"]
        pressed(driver, "+")
        assert state(driver)["unit"] >= unit
        pressed(driver, "-", "-")
        assert state(driver)["unit"] < unit * 1.6


def test_waiting_is_folded_and_unfolded(tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By

    chaincover("generate", MODELS / "belt", "-o", tmp_path, "-q", "--report")
    with opened(tmp_path / "report.html") as driver:
        folded = [row[0] for row in rows(driver, "wave-table")]
        assert "23..499" in folded
        driver.find_element(By.ID, "wave-fold").click()
        assert "23..499" not in [row[0] for row in rows(driver, "wave-table")]


def test_a_recording_is_drawn_beside_the_chain_and_its_difference_is_found_by_a_key(
    window: Path, tmp_path: Path
) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    lines = (window / "chain.csv").read_text().splitlines()
    column = lines[0].split(",").index("*rty_moveUp")
    cells = lines[8].split(",")
    recorded = [
        *lines[:8],
        ",".join([*cells[:column], str(1 - int(cells[column])), *cells[column + 1 :]]),
        *lines[9:-1],
    ]
    (tmp_path / "run.csv").write_text("\n".join(recorded) + "\n")
    ended = chaincover("judge", MODELS / "window", window, tmp_path / "run.csv", "-o", tmp_path / "judged.json", "-q")
    assert ended.code == 1, ended.err
    page = tmp_path / "report.html"
    chaincover("report", window / "chain.json", tmp_path / "judged.json", "-o", page, "-q")
    with opened(page) as driver:
        Select(driver.find_element(By.ID, "wave-trace")).select_by_visible_text("judged.json (run.csv)")
        assert driver.find_element(By.ID, "wave-beside").get_property("value") == "0"
        pressed(driver, "d")
        (row,) = [row for row in rows(driver, "wave-table") if any("≠" in cell for cell in row)]
        assert row[0] == f"{state(driver)['cursor']} ◀"
        assert "≠ (expected " in " ".join(row)


def test_flags_have_names_as_many_as_fit_and_else_their_numbers_and_nothing_overlaps(tmp_path: Path) -> None:
    """Eighteen goals within 62 steps; a pole goes through no text, and where the pointer rests all goals are told."""
    chaincover("generate", WINDOW_EXT_2, "-o", tmp_path, "-q", "--report", "--no-replay")
    for width, least in ((1280, 14), (390, 3)):
        with opened(tmp_path / "report.html", width) as driver:
            flags = settled(driver)["flags"]
            told = [flag for flag in flags if flag["text"]]
            assert sum(not flag["text"].isdigit() for flag in told) >= least
            assert all(flag["text"] == str(flag["number"]) for flag in told if flag["text"].isdigit())
            for one, other in permutations(told, 2):
                apart = one["end"] <= other["begin"] or other["end"] <= one["begin"]
                assert one["row"] != other["row"] or apart, (one, other)
                through = other["begin"] < one["x"] < other["end"]
                assert not (one["row"] < other["row"] and through), "a pole reaches down from its row"
            rows_of_flags = rows(driver, "wave-flag-table")
            assert [row[0] for row in rows_of_flags] == [str(number + 1) for number in range(len(rows_of_flags))]
            title = driver.execute_script("return chaincoverWave.titleAt(arguments[0], 40)", told[-1]["x"] + 1)
            assert title == f"{told[-1]['number']}: step {told[-1]['step']}" + title[title.index(" (") :]
            assert title.endswith(rows_of_flags[told[-1]["number"] - 1][2])


def settled(driver: Any) -> dict[str, Any]:
    """The state of the waveform once it is drawn."""
    driver.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => { chaincoverWave.draw(); done() })"
    )
    return state(driver)


def test_a_deadline_that_nobody_judged_is_told_beside_the_run(tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    files = {"c.c": TIMER, "chaincover.toml": TIMED}
    write_files(tmp_path, files)
    chaincover("generate", tmp_path, "-o", tmp_path / "out", "-q", "--report")
    with opened(tmp_path / "out" / "report.html") as driver:
        Select(driver.find_element(By.ID, "wave-trace")).select_by_visible_text("violation of low")
        said = driver.find_element(By.ID, "wave-told").text
        assert "deadlines of soon are not known for this run" in said


TIMER = """\
static unsigned char n;
void init(void) { n = 0; }
void step(_Bool up) { if (up && n < 9) n++; }
"""
TIMED = """\
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
state = ["n"]
[[property]]
id = "soon"
text = "G(n == 1 && up -> F[0,3](n >= 2))"
[[property]]
id = "low"
text = "G(n == 2 && up -> X(n == 2))"
"""


@pytest.mark.parametrize("name", ["window", "belt", "kiln"])
def test_no_barrier_is_serious_and_nothing_is_wider_than_the_window(tmp_path: Path, name: str) -> None:
    chaincover("generate", MODELS / name, "-o", tmp_path, "-q")
    chaincover("replay", MODELS / name, tmp_path, "-o", tmp_path / "judged.json", "-q")
    chaincover("report", tmp_path, "-q")
    for width in WIDTHS.values():
        for dark in (False, True):
            with opened(tmp_path / "report.html", width, dark) as driver:
                driver.execute_script("document.querySelectorAll('details').forEach(each => { each.open = true })")
                assert violations(driver) == [], (width, dark)
                wide = driver.execute_script("return document.documentElement.scrollWidth")
                assert wide <= width, (width, dark)  # innerWidth grows with what is too wide


def test_on_a_phone_the_drawing_of_the_graph_lies_within_the_window(window: Path) -> None:
    with opened(window / "report.html", WIDTHS["phone"]) as driver:
        right = "return document.querySelector('#graph svg').getBoundingClientRect().right"
        assert driver.execute_script(right) <= WIDTHS["phone"]


def test_ten_thousand_steps_of_forty_variables_are_redrawn_soon(window: Path, tmp_path: Path) -> None:
    document = json.loads((window / "chain.json").read_text())
    draw = random.Random(1)
    inputs, outputs = [f"in{number}" for number in range(20)], [f"out{number}" for number in range(20)]

    def values(names: list[str]) -> dict[str, int]:
        return {name: draw.getrandbits(32) for name in names}

    document["controller"] |= {
        "inputs": [{"name": name, "type": "uint32_t", "values": "0..4294967295"} for name in inputs],
        "state": [],
        "outputs": [{"name": name, "type": "uint32_t"} for name in outputs],
    }
    document["chain"] |= {
        "length": 10_000,
        "initial": {"state": {}, "outputs": values(outputs), "chosen": {}},
        "steps": [
            {"step": step, "inputs": values(inputs), "state": {}, "outputs": values(outputs), "goals": [], "serves": []}
            for step in range(10_000)
        ],
    }
    (tmp_path / "chain.json").write_text(json.dumps(document))
    assert chaincover("report", tmp_path, "-q").code == 0
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    with opened(tmp_path / "report.html") as driver:
        driver.execute_script("document.getElementById('wave-all').click()")
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        took = []
        for _ in range(200):
            begun = busy(driver)
            driver.execute_async_script(
                "const done = arguments[0]; requestAnimationFrame(() => { chaincoverWave.draw(); done() })"
            )
            took.append(1000 * (busy(driver) - begun))
        assert median(took) <= REDRAW


def busy(driver: Any) -> float:
    """Seconds of processor time that the renderer has worked."""
    metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
