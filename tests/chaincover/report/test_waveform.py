"""The waveform as a drawing: what it shows at each step is what the run has there, whatever the names are."""

from __future__ import annotations

import sys
from random import Random
from typing import Any
from xml.etree import ElementTree

import pytest
from drawn_seeds import seeds
from hostile_names import HOSTILE

from bmc.errors import UsageError
from chaincover.report.html.trace import Bar, Trace, Variable
from chaincover.report.picture import Area, Line, Picture, Text, as_png, as_svg, fitted, width_of
from chaincover.report.waveform import LANE, WIDTH, waveform

SVG = "{http://www.w3.org/2000/svg}"


def number(name: str, role: str = "state", **labels: str) -> Variable:
    return Variable(name, name, role, "int", labels)


def trace(columns: dict[str, list[Any]], *goals: tuple[int, str], **more: Any) -> Trace:
    return Trace("run", "chain", len(next(iter(columns.values()))) - 1, columns, goals, **more)


def texts(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Text)]


def place(picture: Picture, text: str) -> Text:
    return next(shape for shape in picture.shapes if isinstance(shape, Text) and shape.text == text)


def heights(picture: Picture, name: str, ink: str = "ink") -> dict[float, float]:
    """The height of the line in the lane of a variable, by where it begins to have that height."""
    middle = place(picture, name).y
    found = {}
    for shape in picture.shapes:
        if isinstance(shape, Line) and shape.ink == ink and all(abs(y - middle) < LANE / 2 for _, y in shape.points):
            for (x, y), (behind, same) in zip(shape.points[::2], shape.points[1::2], strict=True):
                assert y == same
                assert x < behind
                found[x] = y
    return found


@seeds(30)
def test_a_line_is_as_high_as_the_values_are_large(seed: int) -> None:
    """Eight steps at most: nothing is folded. A greater value stands higher, an equal one at the same height."""
    draw = Random(seed)
    values = [draw.randint(-4, 4) for _ in range(draw.randint(2, 9))]
    picture = waveform(trace({"v": values}), [number("v")])
    line = heights(picture, "v")
    steps = [step for step, value in enumerate(values) if step == 0 or value != values[step - 1]]
    assert len(line) == len(steps)
    assert [*line] == sorted(line)
    shown = dict(zip(steps, line.values(), strict=True))
    for a in steps:
        for b in steps:
            assert (values[a] < values[b]) == (shown[a] > shown[b])


def test_modes_have_their_names_and_waiting_is_folded() -> None:
    columns = {"mode": ["OFF"] * 3 + ["ON"] * 60 + ["OFF"] * 2, "timer": [0] * 3 + [*range(60)] + [0, 0]}
    run = trace(columns, (3, "starts"), (63, "ends"))
    picture = waveform(run, [number("mode", OFF="off"), number("timer")], 0.1)
    found = texts(picture)
    assert "step (0.1 s)" in found
    assert [text for text in found if text in ("off", "ON")] == ["off", "ON", "off"]
    (first, behind), *others = run.folds()
    assert not others
    assert f"⋯ {behind - first} steps" in [text.removesuffix(" ⋯") for text in found]
    assert f"{columns['timer'][first]}..{columns['timer'][behind - 1]}" in found  # a slope from the first to the last
    assert picture.width < WIDTH
    assert {"starts", "ends"} <= {*found}


def test_deadlines_are_bars_with_what_is_left() -> None:
    held = Bar("reacts", "F[0,9]", 1, 4, 10)
    run = trace({"v": [0, 1, 0, 2, 0, 1, 0]}, (4, "reacts"), deadlines=(held,))
    picture = waveform(run, [number("v")])
    told = place(picture, "3 of 9 steps, 6 left")
    assert told.x + width_of(told.text) <= picture.width
    missed = Trace("run", "violation", 6, run.columns, (), ((4, "reacts"),), (Bar("reacts", "F[0,3]", 1, 4, 4, False),))
    picture = waveform(missed, [number("v")])
    assert {"✗ failed after 3 steps", "✗ reacts", "reacts F[0,3]"} <= {*texts(picture)}
    assert place(picture, "✗ reacts").ink == "bad"
    bar = next(s for s in picture.shapes if isinstance(s, Area) and s.ink == "bad" and s.corners[0][1] > 40)
    begin, end = bar.corners[0][0], bar.corners[1][0]
    line = [*heights(picture, "v")]
    assert (begin, end) == (line[1], line[4])


def test_a_stretch_of_a_run_shows_its_steps_alone() -> None:
    run = trace({"v": [5, 6, 7, 8, 9], "i": [1, 2, 3, 4, None]}, (0, "early"), (3, "late"))
    found = texts(waveform(run, [number("v"), number("i", "inputs")], None, (2, 3)))
    assert {"7", "8", "3", "4", "late"} <= {*found}
    assert not {"5", "6", "9", "early"} & {*found}
    whole = texts(waveform(run, [number("i", "inputs")]))
    assert "None" not in whole  # behind the last step there is no input


@pytest.mark.parametrize("steps", [20_000])
def test_of_a_long_run_no_value_is_lost_that_a_pixel_can_show(steps: int) -> None:
    column = [0] * (steps + 1)
    column[7777] = 1
    labels = [Variable("m", "m", "state", "int", {"0": "A", "1": "B"})]
    other = [(value * 7919) % 5 for value in range(steps + 1)]
    picture = waveform(trace({"v": column, "o": other, "m": other}), [number("v"), number("o"), *labels])
    assert picture.width <= WIDTH + 8
    middle = place(picture, "v").y
    lines = [s.points for s in picture.shapes if isinstance(s, Line) and abs(s.points[0][1] - middle) < LANE / 2]
    spans = [points for points in lines if len(points) == 2 and points[0][0] == points[1][0]]
    tall = [points[0][0] for points in spans if abs(points[0][1] - points[1][1]) > LANE / 3]
    assert 1 <= len(tall) <= 2
    left = min(points[0][0] for points in spans)
    assert (tall[0] - left) / (picture.width - 8 - left) == pytest.approx(7777 / steps, abs=0.01)
    assert len(as_svg(picture)) < 1_000_000


@seeds(20)
def test_names_of_goals_lie_upon_nothing(seed: int) -> None:
    """Names that are drawn share no place, and each stands beside its flag, within the drawing."""
    steps = [(seed * (k + 3)) % 23 for k in range(12)]
    goals = [(step, f"goal_{'x' * ((seed >> k) % 9)}{k}") for k, step in enumerate(steps)]
    picture = waveform(trace({"v": [*range(24)]}, *sorted(goals)), [number("v")])
    shown = [s for s in picture.shapes if isinstance(s, Text) and s.text.startswith("goal_")]
    assert shown
    for one in shown:
        assert one.x >= 0
        assert one.x + width_of(one.text) <= picture.width + 1
        for other in shown:
            apart = one.x + width_of(one.text) <= other.x or other.x + width_of(other.text) <= one.x
            assert one is other or apart or one.y != other.y


def test_a_name_of_any_kind_stays_text() -> None:
    goals = [(step, name) for step, name in enumerate(HOSTILE)]
    columns = {name: [*range(len(HOSTILE) + 1)] for name in HOSTILE}
    run = Trace("<b>&", "chain", len(HOSTILE), columns, tuple(goals), ((2, "]]>\ud800"),))
    picture = waveform(run, [Variable(name, name, "outputs", "int", {"3": name}) for name in HOSTILE])
    drawing = ElementTree.fromstring(as_svg(picture))
    assert drawing.get("aria-label") == f"<b>&: {len(HOSTILE)} steps"
    assert {each.tag.removeprefix(SVG) for each in drawing.iter()} == {"svg", "title", "desc", "style", "path", "text"}
    assert as_svg(picture) == as_svg(waveform(run, [Variable(n, n, "outputs", "int", {"3": n}) for n in HOSTILE]))


def test_colours_follow_the_reader_and_do_not_leave_the_drawing() -> None:
    text = as_svg(waveform(trace({"v": [0, 1]}), [number("v")]))
    style = text[text.index("<style>") : text.index("</style>")]
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name in ("ink", "ground", "good"):
        assert f".chaincover-drawing .{name} " in light
        assert f".chaincover-drawing .{name} " in dark
    rules = [rule.strip(" {}") for rule in style.removeprefix("<style>").split("}")]
    assert all(rule.startswith((".chaincover-drawing ", "@media")) for rule in rules if rule)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.slow
def test_a_png_is_as_large_as_the_drawing_and_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = waveform(trace({"v": [0, 1, 3]}, (1, "g")), [number("v")])
    few = waveform(trace({"$x^2$ $": [0, 1]}, (0, HOSTILE[-1]), (1, HOSTILE[-2])), [number("$x^2$ $")])
    assert as_png(few).startswith(b"\x89PNG")
    content = as_png(picture)
    size = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    assert size == pytest.approx((2 * picture.width, 2 * picture.height), abs=2)
    assert content == as_png(picture)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match="matplotlib, which is not installed") as refused:
        as_png(picture)
    assert "chaincover[plots]" in refused.value.hint


def test_a_text_is_cut_where_it_does_not_fit() -> None:
    assert fitted("mode", width_of("mode")) == "mode"
    assert fitted("modes", width_of("mode")) == "mod…"
    assert fitted("modes", width_of("mo")) == ""
