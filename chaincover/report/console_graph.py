"""The K-reachability graph for the terminal: the way that a chain goes, and how far goals are from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise, product
from typing import Any

from bmc.errors import counted, listed
from chaincover.report.console import NARROW, Console, say, shortened
from chaincover.report.distances import Edge, exact_distances, known_distances

LEFT_OUT = "--format json tells all, --format svg draws it"
MOST_ROWS = 30
"""Nodes of a matrix on the terminal. Twice as many: four times as many cells, and two screens at least."""
LEAST_NAMES = 20
"""Characters for the goals of one step, where there are more."""

Rows = list[tuple[str, str, str, str]]


def show_graph(out: Console, name: str, data: Mapping[str, Any]) -> None:
    """The graph's ``data`` (see ``graph_data``): the steps at which the chain covers goals, then the distances as a
    matrix, in as many parts as the terminal's width asks for."""
    nodes = data["nodes"]
    goals = counted(len(nodes) - 2, "goal")
    say(out, f"{name}: distances in steps between {goals}, init and {nodes[-1]}; K = {data['k']}", "bold")
    taken = {(leg["from"], leg["to"]): leg["steps"] for leg in data.get("chain", ())}
    path = ["init", *(after for _, after in taken)] if taken else []
    at = dict(zip(path, accumulate(taken.values(), initial=0), strict=True)) if taken else {}
    known = known_distances(data, exact_distances(data, at))
    if at:
        _show_way(out, at, known)
    _show_matrix(out, data, known, taken)


def _show_way(out: Console, at: Mapping[str, int], known: Mapping[Edge, str]) -> None:
    """A row for each step at which the chain, which is at its nodes in the steps ``at``, covers goals: these, the steps
    since the row before, and what is known of the distance where that is not the same."""
    places = [(step, [*nodes]) for step, nodes in groupby(at, key=at.__getitem__)]
    rows: Rows = [(str(step), "", _names(nodes, out.width), "") for step, nodes in places[:1]]
    for (before, earlier), (step, nodes) in pairwise(places):
        told = {known[edge] for edge in product(earlier, nodes) if edge in known}
        rows.append((str(step), str(step - before), _names(nodes, out.width), _strongest(told, step - before)))
    titles = ("step", "taken", "the chain covers", "distance")
    kept = titles if any(row[-1] for row in rows) else titles[:-1]
    out.table(kept, [row[: len(kept)] for row in rows], right=("step", "taken", "distance"))
    if any(not row[-1] for row in rows[1:]):
        say(out, "where no distance stands, no more is known than that it is not above the steps taken")


def _names(nodes: Sequence[str], width: int) -> str:
    """As many of ``nodes`` as have room in a row, and the number of the others."""
    room = max(LEAST_NAMES, width - len("step  taken    distance  and 999 more") - 2)
    ends = [*accumulate(len(node) + 2 for node in nodes)]
    count = max(1, sum(end <= room for end in ends))
    more = len(nodes) - count
    return ", ".join(nodes[:count]) + (f" and {more} more" if more else "")


def _strongest(told: set[str], taken: int) -> str:
    """Of what is known of distances from goals of one step to goals of another one the most, '' for nothing."""
    numbers = {int(text.removeprefix("≥ ")): text for text in sorted(told, reverse=True) if text not in ("?", "never")}
    if taken in numbers:
        return str(taken)
    return numbers[max(numbers)] if numbers else ""


def _show_matrix(out: Console, data: Mapping[str, Any], known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> None:
    """What is known of the distance from the node of each row to that of each column, which is its number."""
    joined = {node for edge in known for node in edge} | {node for edge in taken for node in edge}
    nodes = [node for node in data["nodes"] if node in joined]
    if len(nodes) > MOST_ROWS or not known:
        many = f"the distances of {counted(len(nodes), 'node')} are too many for a terminal"
        none = f"no distance above K = {data['k']} was looked for"
        say(out, f"{many if known else none}: {LEFT_OUT}")
        return
    _show_distances(out, nodes, known, taken)
    lost = [node for node in data["nodes"] if node not in joined]
    _say_notes(out, data, known, bool(taken), lost)


def _show_distances(out: Console, nodes: Sequence[str], known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> None:
    """The matrix of ``nodes``, in as many parts as the width asks for; where the chain goes there is a star."""
    numbers = {node: number for number, node in enumerate(nodes)}
    room = min(max(len(node) for node in nodes), max(NARROW, out.width // 3))
    names = {node: f"{numbers[node]:>{len(str(len(nodes)))}}  {shortened(node, room)}" for node in nodes}
    columns = [
        (str(numbers[to]), [known.get((node, to), "") + "*" * ((node, to) in taken) for node in nodes[:-1]])
        for to in nodes[1:]
    ]
    left = max(map(len, names.values()))
    for part in _parts(columns, out.width - left):
        cells = zip(*(column for _, column in part), strict=True)
        rows = [(names[node], *row) for node, row in zip(nodes, cells, strict=False)]
        titles = ("from", *(number for number, _ in part))
        out.table(titles, [*rows, (names[nodes[-1]], *("" for _ in part))], right=titles[1:])


def _parts(columns: Sequence[tuple[str, Sequence[str]]], width: int) -> list[list[tuple[str, Sequence[str]]]]:
    """The columns of the matrix in groups that have room beside the names of rows."""
    parts, used = [list[tuple[str, Sequence[str]]]()], 0
    for title, cells in columns:
        wide = 2 + max(len(title), *map(len, cells))
        if parts[-1] and used + wide > width:
            parts.append([])
            used = 0
        parts[-1].append((title, cells))
        used += wide
    return parts


def _say_notes(
    out: Console, data: Mapping[str, Any], known: Mapping[Edge, str], chain: bool, lost: Sequence[str]
) -> None:
    texts = {*known.values()}
    bounds = any(text.startswith("≥") for text in texts)
    notes = [
        "columns are the numbers of the rows",
        *(["* the chain goes there"] if chain else []),
        *(["≥ n: no run takes fewer steps"] if bounds else []),
        *(["never: no run goes there"] if "never" in texts else []),
        *(["? not known"] if "?" in texts else []),
        *([f"empty: not known, no distance above K = {data['k']} was looked for"] if not data.get("exact") else []),
        *([f"nothing is known of {listed(lost)}"] if lost and not data.get("exact") else []),
        *([f"no run covers {listed(lost)}"] if lost and data.get("exact") else []),
    ]
    say(out, "; ".join(notes))
