"""The waveform of a run as a drawing: goals as flags, deadlines as bars, a lane for each variable, waiting folded.

It looks like the waveform of the report's page, but that all names of goals are there, one below the other if need be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.report.html.trace import Bar, Trace, Variable
from chaincover.report.picture import Area, Line, Picture, Shape, Text, box, fitted, width_of

WIDTH = 1000.0
"""Pixels of a drawing at most. Twice as many: twice as many steps before these are drawn narrower."""

WIDEST_STEP, FOLD = 48.0, 6
"""Pixels of a step at most (twice as many: short runs are drawn wider), and how many steps wide a stretch of waiting is
(twice as many: more room for its number of steps, less for the others)."""

LANE, RULER, FLAG = 30.0, 24.0, 17.0
"""Heights in pixels: of a variable's lane, of the ruler, of a row of goals. Twice as high: twice as high drawings."""

MOST_FLAG_ROWS = 6
"""Rows of names of goals; where more meet, names are cut. Twice as many: less is cut where many goals are close."""

LEFT = (90.0, 260.0)
"""Pixels for the names of variables, at least and at most. Twice as many at most: longer names before they are cut."""

DENSE = 0.75
"""Pixels of a step below which a lane shows what the values of each pixel span. Twice as many: so from half as many
steps on."""

ROLES = {"inputs": ("input", "accent"), "state": ("state", "ink"), "outputs": ("output", "good")}
"""What a variable's role is called, and the colour of its line."""

Span = tuple[int, int]
"""A first step, and the one behind the last."""


@dataclass(frozen=True)
class Layout:
    """Where each step from ``first`` to ``last`` stands: ``places`` has them in widths of a step, from ``left`` on."""

    first: int
    last: int
    folds: tuple[Span, ...]
    places: Sequence[float]
    left: float
    unit: float

    @property
    def narrow(self) -> bool:
        """Whether stretches of waiting have no room for their number of steps."""
        return FOLD * self.unit < width_of("0000")

    @property
    def right(self) -> float:
        """Where the last step ends."""
        return self.left + self.places[-1] * self.unit

    def x(self, step: int) -> float:
        """Where a step begins; of one outside of the drawing the nearest border."""
        return self.left + self.places[min(max(step, self.first), self.last + 1) - self.first] * self.unit

    def fold_at(self, step: int) -> Span | None:
        """The stretch of waiting that a step is in."""
        place = bisect_right(self.folds, (step, self.last + 2)) - 1
        return self.folds[place] if place >= 0 and self.folds[place][0] <= step < self.folds[place][1] else None


def waveform(
    trace: Trace, shown: Sequence[Variable], period: float | None = None, steps: tuple[int, int | None] = (0, None)
) -> Picture:
    """The run of ``trace`` with a lane for each variable of ``shown``, from the first to the last of ``steps``.

    At step k stand the values before the step with the inputs of the step. ``period``: seconds that a step takes.
    """
    first, last = steps[0], trace.length if steps[1] is None else min(steps[1], trace.length)
    lay = _layout(trace, shown, first, last)
    flags = _Flags.of(trace, lay)
    bars = [bar for bar in trace.deadlines if bar.first <= last and bar.last >= first]
    top = RULER + flags.height
    height = top + LANE * (len(bars) + len(shown)) + 2
    drawn_bars = [shape for order, bar in enumerate(bars) for shape in _bar(bar, trace, lay, top + order * LANE)]
    told = (shape for shape in drawn_bars if isinstance(shape, Text) and shape.anchor == "start")
    ends = [shape.x + width_of(shape.text) for shape in told]
    width = max(lay.right, flags.right, lay.left + width_of("nothing"), *ends) + 8
    shapes: list[Shape] = [box(0, 0, width, height, "ground")]
    if not lay.narrow:
        shapes += [box(lay.x(a), RULER, lay.x(b) - lay.x(a), height - RULER - 2, "raised") for a, b in lay.folds]
    shapes += [Line(((lay.x(step), top), (lay.x(step), height - 2)), "grid") for step in flags.steps]
    shapes += _ruler(lay, width, period)
    shapes += flags.shapes(lay)
    shapes += drawn_bars
    for order, variable in enumerate(shown):
        shapes += _lane(variable, trace.columns[variable.name], lay, top + (len(bars) + order) * LANE)
    return Picture(width, height, _title(trace, period), _description(trace), tuple(shapes))


def _title(trace: Trace, period: float | None) -> str:
    time = f" of {period:.9g} s" if period else ""
    return f"{trace.name}: {counted(trace.length, 'step')}{time}"


def _description(trace: Trace) -> str:
    told = [f"{goal} fails at step {step}" for step, goal in trace.failed]
    told += [f"{goal} is covered at step {step}" for step, goal in trace.goals]
    return listed(told) or "No goal is covered."


def _layout(trace: Trace, shown: Sequence[Variable], first: int, last: int) -> Layout:
    folds = [(max(a, first), min(b, last + 1)) for a, b in trace.folds()]
    folds = [(a, b) for a, b in folds if b - a > FOLD]
    behind = dict(folds)
    places, step, at = [], first, 0.0
    while step <= last:
        end = behind.get(step, step + 1)
        wide = FOLD if step in behind else 1
        places += [at + wide * place / (end - step) for place in range(end - step)]
        at, step = at + wide, end
    names = [*(f"{var.short} {ROLES[var.role][0]}" for var in shown), *(f"{b.goal} {b.asked}" for b in trace.deadlines)]
    left = min(LEFT[1], max(LEFT[0], 18 + max(map(width_of, names), default=0.0)))
    unit = min(WIDEST_STEP, (WIDTH - left - 8) / max(at, 1))
    return Layout(first, last, tuple(folds), [*places, at], left, unit)


@dataclass(frozen=True)
class _Flags:
    """The flags of goals and failures: each with its step, its text, whether it failed, its row, and where the text
    stands; the last ``rows`` is how many there are."""

    flags: tuple[tuple[int, str, bool, int, float], ...]
    rows: int
    right: float
    steps: tuple[int, ...] = field(default=())

    @property
    def height(self) -> float:
        """Pixels of all rows."""
        return 7 + FLAG * max(self.rows, 1)

    @staticmethod
    def of(trace: Trace, lay: Layout) -> _Flags:
        """Those within the drawing, each in the first row with room for its name."""
        marks = sorted([*((step, True, goal) for step, goal in trace.failed), *((s, False, g) for s, g in trace.goals)])
        marks = [mark for mark in marks if lay.first <= mark[0] <= lay.last]
        ends: list[float] = []
        placed = []
        for step, failed, goal in marks:
            text, at = (f"✗ {goal}" if failed else goal), lay.x(step) + 12
            if at + width_of(text) > WIDTH - 8:
                text = fitted(text, lay.x(step) - 12 - lay.left)
                at = lay.x(step) - 12 - width_of(text)
            row = next((row for row, end in enumerate(ends) if end <= min(at, lay.x(step)) - 4), len(ends))
            if row == MOST_FLAG_ROWS:
                row = min(range(row), key=lambda each: ends[each])
                text = fitted(text, WIDTH - 8 - max(at, ends[row])) if ends[row] <= at else ""
            ends += [0.0] * (row + 1 - len(ends))
            ends[row] = max(ends[row], at + width_of(text) + 4, lay.x(step) + 12)
            placed.append((step, text, failed, row, at))
        steps = tuple(dict.fromkeys(step for step, *_ in placed))
        return _Flags(tuple(placed), len(ends), max(ends, default=0.0), steps)

    def shapes(self, lay: Layout) -> Iterator[Shape]:
        """Flags at poles that go down to the lanes, and their names; without room for a name the pole alone."""
        yield Text(6, RULER + 4 + FLAG / 2, "goals", "faint")
        bottom = RULER + self.height
        for step, _, failed, row, _ in self.flags:
            yield Line(((lay.x(step), RULER + 4 + row * FLAG), (lay.x(step), bottom)), "bad" if failed else "good", 1.5)
        for step, text, failed, row, at in self.flags:
            if not text:
                continue
            x, y = lay.x(step), RULER + 4 + row * FLAG
            tip = x + 9 if at >= x else x - 9
            yield Area(((x, y), (tip, y + 5), (x, y + 10)), "bad" if failed else "good")
            yield box(at - 2, y - 1, width_of(text) + 4, FLAG - 3, "ground")  # before the poles of flags in rows above
            yield Text(at, y + 6, text, "bad" if failed else "ink")


def _ruler(lay: Layout, width: float, period: float | None) -> Iterator[Shape]:
    """Numbers of steps; of a stretch of waiting how many."""
    yield box(0, 0, width, RULER, "raised")
    yield Text(6, RULER / 2, f"step ({period:.9g} s)" if period else "step", "faint")
    every = _steps_apart(lay.unit)
    free, step, behind = lay.left, lay.first, -1
    begins = [] if lay.narrow else [lay.x(first) for first, _ in lay.folds]
    while step <= lay.last:
        fold = None if lay.narrow else lay.fold_at(step)
        if fold is not None:
            yield from _waiting(lay, fold)
            free, step, behind = lay.x(fold[1]), fold[1], fold[1]
            continue
        x = lay.x(step)
        place = bisect_right(begins, x)
        room = min(width, begins[place]) if place < len(begins) else width
        if (lay.narrow or step % every == 0 or step == behind) and x >= free and x + width_of(str(step)) + 2 <= room:
            yield Line(((x, RULER - 5), (x, RULER)), "faint")
            yield Text(x + 2, RULER / 2, str(step), "faint")
            free = x + width_of(str(step)) + (60 if lay.narrow else 8)
        step += 1


def _steps_apart(unit: float) -> int:
    """Every how many steps, each ``unit`` pixels wide, there is room for a number: 1, 2, 5, 10, ..."""
    every = 1
    while every * unit < 40:
        every = every * 5 // 2 if str(every).startswith("2") else every * 2
    return every


def _waiting(lay: Layout, fold: Span) -> Iterator[Shape]:
    """A stretch of waiting on the ruler, with its number of steps as far as there is room."""
    a, b = lay.x(fold[0]), lay.x(fold[1])
    yield box(a, 0, b - a, RULER, "grid")
    steps = fold[1] - fold[0]
    texts = (f"⋯ {steps} steps ⋯", f"⋯ {steps} steps", f"⋯ {steps}", f"{steps}")
    text = next((text for text in texts if width_of(text) <= b - a - 2), "")
    if text:
        yield Text((a + b) / 2, RULER / 2, text, "ink", "middle")


def _bar(bar: Bar, trace: Trace, lay: Layout, top: float) -> Iterator[Shape]:
    """A deadline: what was used of it, and with a dashed border what was left."""
    yield from _name(f"{bar.goal} {bar.asked}", "", lay, top)
    begin, check, end = (lay.x(step) for step in (bar.first, bar.check, bar.last))
    over = (bar.last - trace.length) * lay.unit if bar.last > lay.last else 0.0
    end = min(lay.right, end + max(0.0, over))
    y, high = top + 8, LANE - 16
    yield box(begin, y, max(2.0, check - begin), high, "bad" if bar.held is False else "open")
    if end > check:
        corners = ((check, y), (end, y), (end, y + high), (check, y + high), (check, y))
        yield Line(corners, "open", 1, True)
    text = bar.told
    if width_of(text) <= check - begin - 8:
        yield Text(begin + 4, top + LANE / 2, text, "ground")
    elif width_of(text) <= begin - lay.left - 4 and begin - lay.left > lay.right - end:
        yield Text(begin - 5, top + LANE / 2, text, "ink", "end")
    else:
        yield Text(max(check, end) + 5, top + LANE / 2, fitted(text, WIDTH - max(check, end) - 5), "ink")


def _name(name: str, role: str, lay: Layout, top: float) -> Iterator[Shape]:
    """What a lane shows, and a line below it."""
    yield Line(((0, top + LANE - 0.5), (lay.right, top + LANE - 0.5)), "grid")
    room = lay.left - 12 - (width_of(role) + 6 if role else 0)
    yield Text(6, top + LANE / 2, fitted(name, room))
    if role:
        yield Text(lay.left - 6, top + LANE / 2, role, "faint", "end")


def _lane(variable: Variable, column: Sequence[Any], lay: Layout, top: float) -> Iterator[Shape]:
    """A variable: modes by name in boxes, numbers and flags as a line with steps."""
    role, ink = ROLES[variable.role]
    yield from _name(variable.short, role, lay, top)
    window = [value for value in column[lay.first : lay.last + 1] if value is not None]
    if not window:
        yield Text(lay.left + 5, top + LANE / 2, "not known", "faint")
    elif variable.labels or any(isinstance(value, str) for value in window):
        yield from _modes(variable, column, lay, top, ink)
    else:
        yield from _numbers(variable, column, lay, top, ink)


def _spans(column: Sequence[Any], lay: Layout) -> Iterator[Span]:
    """Stretches over which a value stays, or which are folded as one; those of which nothing is known are left out."""
    step = lay.first
    while step <= lay.last:
        fold, end = lay.fold_at(step), step + 1
        if fold is not None and column[fold[0]] != column[fold[1] - 1]:
            end = fold[1]
        else:
            while end <= lay.last and column[end] == column[step] and _stays(column, lay.fold_at(end)):
                end += 1
        if column[step] is not None:
            yield step, end
        step = end


def _stays(column: Sequence[Any], fold: Span | None) -> bool:
    """Whether a value does not change in a stretch of waiting."""
    return fold is None or column[fold[0]] == column[fold[1] - 1]


def _modes(variable: Variable, column: Sequence[Any], lay: Layout, top: float, ink: str) -> Iterator[Shape]:
    """A box with the name of each mode."""
    low, middle, high = top + 5, top + LANE / 2, top + LANE - 5
    drawn = lay.left - 1
    for step, end in _spans(column, lay):
        a, b = lay.x(step), lay.x(end)
        if lay.unit < DENSE and b - a < 1:  # several modes a pixel
            if a >= drawn + 1:
                yield Line(((a, low), (a, high)), ink)
                drawn = a
            continue
        cut = min(4.0, (b - a) / 3)
        corners = ((a + cut, low), (b - cut, low), (b, middle), (b - cut, high), (a + cut, high), (a, middle))
        yield Line((*corners, corners[0]), ink, 1.5)
        begun, over = variable.called(column[step]), variable.called(column[end - 1])
        text = fitted(begun if begun == over else f"{begun}..{over}", b - a - 2)
        if text:
            yield Text((a + b) / 2, middle, text, "ink", "middle")


def _numbers(variable: Variable, column: Sequence[Any], lay: Layout, top: float, ink: str) -> Iterator[Shape]:
    """A line with steps; a value that counts while nothing else happens is a slope. Numbers have their values."""
    known = [value for value in column if value is not None]
    low, high = min(known), max(known)
    flag = low >= 0 and high <= 1 and all(value == int(value) for value in known)
    least, span = (0, 0.5) if flag else (low, (high / 2 - low / 2) or 1)

    def y(value: float) -> float:
        return top + LANE - 6 - (value / 2 - least / 2) / span * (LANE - 12)  # halves: no difference overflows

    if lay.unit < DENSE:
        yield from _dense(column, lay, y, ink)
        return
    spans = [*_spans(column, lay)]
    points: list[tuple[float, float]] = []
    for (step, end), following in pairwise([*spans, (lay.last + 2, 0)]):
        points += [(lay.x(step), y(column[step])), (lay.x(end), y(column[end - 1]))]
        if following[0] != end:
            yield Line(tuple(points), ink, 1.5)
            points = []
        begun, over = variable.called(column[step]), variable.called(column[end - 1])
        text = begun if begun == over else f"{begun}..{over}"
        if not flag and width_of(text) <= lay.x(end) - lay.x(step) - 4:
            yield Text(lay.x(step) + 4, _beside(y(column[step]), y(column[end - 1]), top), text)


def _beside(begin: float, end: float, top: float) -> float:
    """The height of a number above or below a line that goes from one height to another: where there is more room."""
    middle = top + LANE / 2 - 1
    if min(begin, end) > middle:
        return min(begin, end) - 7
    if max(begin, end) <= middle:
        return max(begin, end) + 8
    return top + 8 if begin > end else top + LANE - 8


def _dense(column: Sequence[Any], lay: Layout, y: Callable[[float], float], ink: str) -> Iterator[Shape]:
    """Where several steps share a pixel: a line from the least to the greatest value of each pixel."""
    pixels: dict[int, tuple[float, float]] = {}
    before = None
    for step in range(lay.first, lay.last + 1):
        value, pixel = column[step], int(lay.x(step))
        if value is not None:
            least, most = pixels.get(pixel, (value, value) if before is None else (before, before))
            pixels[pixel] = min(least, value), max(most, value)
        before = value
    for pixel, (least, most) in pixels.items():
        yield Line(((pixel + 0.5, y(least) + 0.7), (pixel + 0.5, y(most) - 0.7)), ink)
