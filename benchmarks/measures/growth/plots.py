"""The plots: points, and the power laws fitted to them, as SVG that is the same for the same points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measures.growth.fit import fitted
from benchmarks.measures.growth.methods import CURVES
from benchmarks.measures.growth.points import Point, of_axis
from bmc.errors import UsageError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f5f5f", "#000000")
MARKS = "osD^vP*X"


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram: the value ``name`` over the axis; ``title`` says of what, ``unit`` in what.

    ``fit``: with fitted lines, else with lines from point to point. ``of``: what the families shown begin with.
    """

    name: str
    title: str
    unit: str
    fit: bool = True
    of: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """The diagrams of one axis, side by side."""

    axis: str
    label: str
    panels: tuple[Panel, ...]


SECONDS = "seconds of the processor"
CALLS = "solver calls"
PLOTS = (
    Plot(
        "goals",
        "goals",
        (
            Panel("seconds", "whole graph", SECONDS),
            Panel("queries", "whole graph", CALLS),
            Panel("chain", "one chain, with its proof", SECONDS),
        ),
    ),
    Plot(
        "depth",
        "K in steps",
        (
            Panel("seconds", "whole graph to K", SECONDS),
            Panel("per level", "each level since the K before", SECONDS, fit=False),
            Panel("queries", "whole graph to K", CALLS),
        ),
    ),
    Plot(
        "size",
        "lines of source",
        (
            Panel("read", "reading", SECONDS),
            Panel("seconds", "whole graph of 8 goals", SECONDS),
            Panel("queries", "whole graph of 8 goals", CALLS),
        ),
    ),
    *(
        Plot(
            axis,
            label,
            tuple(
                Panel("chain", curves.pattern, SECONDS, of=f"{curves.pattern} ")
                for curves in CURVES
                if curves.axis == axis
            ),
        )
        for axis, label in (("family-goals", "N: goals"), ("family-size", "T: greatest value of a counter"))
    ),
)
DECADE = 10.0
"""No diagram shows a smaller range of y: scatter is not to look like growth."""


def draw(points: Sequence[Point], folder: Path) -> list[Path]:
    """Write a picture for each axis that ``points`` have to ``folder``; the files. UsageError without matplotlib."""
    pyplot = _pyplot()
    files = []
    for plot in PLOTS:
        families = of_axis(points, plot.axis)
        if families:
            files.append(folder / f"growth-{plot.axis}.svg")
            _figure(pyplot, plot, families, files[-1])
    return files


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise UsageError("plots need matplotlib", hint="pip install 'chaincover[plots]', or --no-plots") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "chaincover", "svg.fonttype": "path", "font.size": 9})
    from matplotlib import pyplot

    return pyplot


def _figure(pyplot: Any, plot: Plot, families: Mapping[str, Sequence[Point]], file: Path) -> None:
    """One picture, its legends below the diagrams."""
    figure, axes = pyplot.subplots(1, len(plot.panels), squeeze=False, figsize=(max(6.0, 4.6 * len(plot.panels)), 5.4))
    for panel, ax in zip(plot.panels, axes[0], strict=True):
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(plot.label)
        ax.set_ylabel(panel.unit)
        ax.set_title(panel.title, fontsize=10)
        ax.grid(True, which="major", alpha=0.3)
        shown = {family.removeprefix(panel.of): row for family, row in families.items() if family.startswith(panel.of)}
        _curves(ax, panel, shown)
        _ticks(ax, sorted({point.x for row in shown.values() for point in row}))
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def _curves(ax: Any, panel: Panel, families: Mapping[str, Sequence[Point]]) -> None:
    for number, (family, row) in enumerate(families.items()):
        shown = [(p.x, p.values[panel.name]) for p in row if p.x > 0 and p.whole(panel.name)]
        if not shown:
            continue
        xs, ys = zip(*shown, strict=True)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        for p in row:
            if p.values.get(panel.name) and not p.whole(panel.name):
                ax.plot(p.x, p.values[panel.name], mark, color=colour, markersize=6, markerfacecolor="none")
        fit = fitted(xs, ys) if panel.fit else None
        if fit is None:
            style = "-"
            ax.plot(xs, ys, style, color=colour, marker=mark, markersize=5, linewidth=1, label=family)
            continue
        law = f"exponent {fit.exponent:.2f}" if fit.close else f"({fit.exponent:.2f}: no power law)"
        ax.plot(xs, ys, mark, color=colour, markersize=5, label=f"{family}: {law}")
        ends = (min(xs), max(xs))
        ax.plot(ends, [fit.at(x) for x in ends], "-" if fit.close else ":", color=colour, linewidth=1)


def _ticks(ax: Any, xs: Sequence[float]) -> None:
    """The x that were measured as ticks, where they are few; plain numbers at all ticks."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    shown = [x for x in xs if x > 0]
    if len(shown) <= 8:
        ax.set_xticks(shown, [f"{x:,.0f}" for x in shown], minor=False)
        ax.set_xticks([], minor=True)
    low, high = ax.get_ylim()
    widen = max(1.0, (DECADE * low / high) ** 0.5)
    ax.set_ylim(low / widen, high * widen)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
