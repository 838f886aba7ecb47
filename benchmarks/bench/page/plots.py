"""The plots of a suite: Figs 9 to 11 of the paper, runs solved within a time, and two configurations side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

from benchmarks.bench.page.results import Cell, Results
from benchmarks.bench.page.svg import Frame, Line, Point, axis, lines, scatter
from bmc.records import dataclass
from chaincover.report.html.kit import number

LEAST_SECONDS = 0.001
"""Shorter times are drawn as this one: a logarithmic axis has no zero."""
BORDER = 0.93
SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Sum:
    """A figure of the paper: what is added up over models; ``of`` says of which cells."""

    name: str
    title: str
    label: str
    of: Callable[[Cell], bool]
    value: Callable[[Cell], float | None]
    log: bool = False


SUMS = (
    Sum("fig9-lengths", "Accumulated lengths (Fig. 9)", "steps", lambda c: c.complete, lambda c: c.length),
    Sum("fig10-runtimes", "Accumulated runtimes (Fig. 10)", SECONDS, lambda c: c.solved, lambda c: c.seconds, log=True),
    Sum("fig11-test-cases", "Accumulated test cases (Fig. 11)", "test cases", lambda c: c.complete, lambda c: c.chains),
)
MEASURES: tuple[tuple[str, str, Callable[[Cell], float | None]], ...] = (
    ("seconds", SECONDS, lambda c: max(c.seconds, LEAST_SECONDS) if c.solved else None),
    ("length", "length in steps", lambda c: c.length if c.complete else None),
)


def all_plots(results: Results) -> dict[str, str]:
    """All plots by name; those that need two configurations are left out where there is one."""
    drawn = {each.name: _accumulated(results, each) for each in SUMS}
    drawn["quantile"] = _quantile(
        results, "quantile", "Runs that cover all goals within a time", lambda cell: cell.solved
    )
    drawn["quantile-minimal"] = _quantile(
        results,
        "quantile-minimal",
        "Runs with a proved minimum within a time",
        lambda cell: cell.solved and cell.minimal,
    )
    pair = first_pair(results)
    if pair is not None:
        for measure, label, value in MEASURES:
            drawn[f"scatter-{measure}"] = _scatter(results, pair, measure, label, value)
    return drawn


def _accumulated(results: Results, each: Sum) -> str:
    """What a configuration's k least results sum up to, over k: a line ends where no further model is solved."""
    models = results.of_publication()
    shown = []
    for configuration in results.configurations:
        values = sorted(_known(map(each.value, filter(each.of, results.of(configuration, models)))))
        sums = [max(total, LEAST_SECONDS) if each.log else total for total in accumulate(values)]
        shown.append(Line(configuration, tuple(enumerate(map(float, sums), 1))))
    x = axis("models, for each configuration in rising order", [float(len(models))], whole=True)
    y = axis(each.label, (value for line in shown for _, value in line.points), each.log, whole=not each.log)
    told = f"{each.label} summed up over the models, of each configuration the least first. " + _ends(shown)
    return lines(Frame(each.name, each.title, told, x, y), shown, "No run covered all goals.")


def _quantile(results: Results, name: str, title: str, solved: Callable[[Cell], bool]) -> str:
    shown = []
    for configuration in results.configurations:
        times = sorted(max(cell.seconds, LEAST_SECONDS) for cell in results.of(configuration) if solved(cell))
        shown.append(Line(configuration, tuple((float(order), time) for order, time in enumerate(times, 1))))
    x = axis("models solved", [float(len(results.models))], whole=True)
    y = axis(SECONDS, (time for line in shown for _, time in line.points), log=True)
    told = "For each configuration, the number of models solved within the seconds of each. " + _ends(shown)
    return lines(Frame(name, title, told, x, y), shown, "There are no such runs.")


def _ends(shown: Sequence[Line]) -> str:
    """The last point of each line in words, for who does not see them."""
    return "; ".join(
        f"{line.label}: " + (f"{len(line.points)} models, {number(line.points[-1][1])}" if line.points else "none")
        for line in shown
    )


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def first_pair(results: Results) -> tuple[int, int] | None:
    """The first two configurations that both ran; None where there are no two."""
    ran = [
        order
        for order, configuration in enumerate(results.configurations)
        if any(cell.ran for cell in results.of(configuration))
    ]
    return (ran[0], ran[1]) if len(ran) > 1 else None


def _scatter(
    results: Results, pair: tuple[int, int], measure: str, label: str, value: Callable[[Cell], float | None]
) -> str:
    every = _known(value(cell) for name in results.configurations for cell in results.of(name) if cell.ran)
    across, up = (results.configurations[order] for order in pair)
    points = []
    for key, model in results.models.items():
        one, other = results.cell(key, across), results.cell(key, up)
        if one is not None and other is not None and one.ran and other.ran:
            x, y = value(one), value(other)
            points.append(Point(f"{model.name}: {told(x)}, {told(y)}", x, y))
    frame = Frame(
        f"scatter-{measure}",
        f"{'Time' if measure == 'seconds' else 'Length'} of two configurations",
        f"A point for each model: {label} with {across} (across) and with {up} (up); on the border if not solved.",
        axis(f"{across}: {label}", every, log=True),
        axis(f"{up}: {label}", every, log=True),
        height=448,
        border=BORDER,
    )
    return scatter(frame, points)


def told(value: float | None) -> str:
    return "not solved" if value is None else number(value)


def scatter_data(results: Results) -> dict[str, Any]:
    """What the page's script draws the scatter of any two from: by measure and configuration, a value for each model.

    None where there is no run, 0 where it is not solved; values are never 0.
    """
    values: dict[str, list[list[float | None]]] = {}
    for measure, _, value in MEASURES:
        values[measure] = [
            [_point(results.cell(key, configuration), value) for key in results.models]
            for configuration in results.configurations
        ]
    return {
        "configurations": list(results.configurations),
        "models": [model.name for model in results.models.values()],
        "families": [model.family for model in results.models.values()],
        "labels": {measure: label for measure, label, _ in MEASURES},
        "values": values,
        "first": first_pair(results),
    }


def _point(cell: Cell | None, value: Callable[[Cell], float | None]) -> float | None:
    if cell is None or not cell.ran:
        return None
    found = value(cell)
    return 0 if found is None else float(f"{max(found, LEAST_SECONDS):.4g}")
