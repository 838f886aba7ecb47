"""The K-reachability graph for the terminal: the way that a chain goes, and how far goals are from each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, filterfalse, pairwise, zip_longest
from typing import Any

from bmc.errors import counted
from chaincover.formats.distances import Edge, known_distances, legs_between, steps_at
from chaincover.report.console import NARROW, Console, say, shortened
from chaincover.report.distances import cell, implied_ones, meaning, meaning_of_legs, said_of_legs, without_distances

WHOLE = "--format json has all distances"
MOST_ROWS = 30
"""Nodes of a matrix on the terminal. Twice as many: four times as many cells, and two screens at least."""
LEAST_NAMES = 20
"""Characters for the goals of one step, where there are more."""
_PIECES = re.compile(r"[^_:=>.,(]*[_:=>.,(]*")
"""The parts of a goal's name between which a title may be broken."""


def show_graph(
    out: Console,
    name: str,
    data: Mapping[str, Any],
    implied: Mapping[str, str] | None = None,
    notes: Iterable[str] = (),
) -> None:
    """The graph's ``data`` (see ``graph_data``): the steps at which the chain covers goals, then the distances as a
    matrix, in as many parts as the terminal's width asks for.

    ``implied``: of goals that others imply these others. Where there are too many for a matrix they are left out.
    ``notes`` on the search stand below.
    """
    nodes = data["nodes"]
    sought = "" if data.get("exact") or data["k"] < 0 else f"; sought up to K = {data['k']} steps"
    say(out, f"{name}: fewest steps between {counted(len(nodes) - 2, 'goal')}, init and {nodes[-1]}{sought}", "bold")
    at = steps_at(data.get("chain", ()))
    known = known_distances(data, at)
    if at:
        _show_way(out, at, known)
    _show_matrix(out, data, known, at, implied or {})
    for note in notes:
        say(out, note)


def _show_way(out: Console, at: Mapping[str, int], known: Mapping[Edge, str]) -> None:
    """A row for each step at which the chain, which is at its nodes in the steps ``at``, covers goals: the steps since
    the row before, and the fewest that are known."""
    legs = legs_between(at, known)
    fewest = max(len("fewest"), *(len(leg.compared) for leg in legs))
    room = out.width - len("step  taken    ") - fewest
    rows = [(str(leg.step), str(leg.taken), leg.compared, _names(leg.goals, room)) for leg in legs[1:]]
    first = [(str(leg.step), "", "", _names(leg.goals, room)) for leg in legs[:1]]
    titles = ("step", "taken", "fewest", "the chain covers")
    compared = any(leg.fewest for leg in legs)
    kept = [0, 1, 2, 3] if compared else [0, 1, 3]
    table = [[row[part] for part in kept] for row in (titles, *first, *rows)]
    out.table(table[0], table[1:], right=titles[:3])
    if compared:
        for sentence in (said_of_legs(legs), *meaning_of_legs(legs)):
            say(out, sentence)


def _names(nodes: Sequence[str], width: int) -> str:
    """As many of ``nodes`` as have room in a row, and the number of the others."""
    room = max(LEAST_NAMES, width - len(" and 999 more"))
    ends = [*accumulate(len(node) + 2 for node in nodes)]
    count = max(1, sum(end <= room for end in ends))
    more = len(nodes) - count
    return ", ".join(nodes[:count]) + (f" and {more} more" if more else "")


def _show_matrix(
    out: Console, data: Mapping[str, Any], known: Mapping[Edge, str], at: Mapping[str, int], implied: Mapping[str, str]
) -> None:
    """What is known of the distance from the node of each row to that of each column, in the order of the chain."""
    joined = set(at).union(*known)
    nodes = [node for node in dict.fromkeys([*at, *data["nodes"]]) if node in joined]
    say(out, "")
    if not known:
        above = f" above K = {data['k']}" if data["k"] >= 0 else ""
        say(out, f"no distance{above} was looked for: {WHOLE}")
        return
    left = _left_out(nodes, implied)
    nodes = list(filterfalse(left.__contains__, nodes))
    if len(nodes) > MOST_ROWS:
        besides = "" if at else ", and with the folder of a chain its legs are shown"
        say(out, f"The matrix of {counted(len(nodes), 'node')} is too large for a terminal: {WHOLE}{besides}.")
        return
    taken = {(a, b): at[b] - at[a] for a, b in pairwise(node for node in at if node not in left)}
    _show_distances(out, nodes, known, taken)
    exact, lost = bool(data.get("exact")), [node for node in data["nodes"] if node not in joined]
    sentences = [
        *meaning(known, taken, "*", exact, "*"),
        *([implied_ones(len(left), f"; {WHOLE}")] if left else []),
        *([without_distances(lost, exact)] if lost else []),
    ]
    for sentence in sentences:
        say(out, sentence)


def _left_out(nodes: Sequence[str], implied: Mapping[str, str]) -> set[str]:
    """The goals that others of ``nodes`` imply, where these are too many for a matrix."""
    return {node for node, by in implied.items() if {node, by} <= {*nodes}} if len(nodes) > MOST_ROWS else set()


def _show_distances(out: Console, nodes: Sequence[str], known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> None:
    """The matrix of ``nodes``. Titles of columns are their names, in several lines if need be, where all fit; else
    numbers, in as many parts as the width asks for."""
    room = min(max(len(node) for node in nodes), max(NARROW, out.width // 3))
    names = [shortened(node, room) for node in nodes]
    cells = [[_cell((a, b), known, taken) for a in nodes[:-1]] for b in nodes[1:]]
    for most in (max(map(len, nodes)), NARROW, NARROW // 2, 1):
        titles = [_broken(node, max(most, *map(len, column))) for node, column in zip(nodes[1:], cells, strict=True)]
        widths = [max(map(len, (*title, *column))) for title, column in zip(titles, cells, strict=True)]
        if room + sum(widths) + 2 * len(widths) <= out.width:
            _show_part(out, names[:-1], titles, cells)
            return
    width = len(str(len(nodes)))
    names = [f"{number:>{width}}  {name}" for number, name in enumerate(names)]
    for part in _parts(cells, out.width - max(map(len, names))):
        _show_part(out, names, [[str(number + 1)] for number in part], [cells[number] for number in part])
    say(out, "The columns are the numbers of the rows.")


def _cell(edge: Edge, known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> str:
    return cell(taken[edge], known.get(edge, ""), "*") if edge in taken else known.get(edge, "")


def _broken(name: str, most: int) -> list[str]:
    """The name of a goal in lines of so many characters at ``most``, but for parts of it that are longer."""
    pieces = [piece for piece in _PIECES.findall(name) if piece]
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1] + piece) > most:
            lines.append("")
        lines[-1] += piece
    return lines


def _show_part(
    out: Console, names: Sequence[str], titles: Sequence[Sequence[str]], columns: Sequence[Sequence[str]]
) -> None:
    """These columns beside the names of all rows; titles of several lines stand on the first row."""
    high = max(map(len, titles))
    heads = [["from", *[""] * (high - 1)], *([""] * (high - len(title)) + [*title] for title in titles)]
    first, *others = zip(*heads, strict=True)
    rows = [*others, *zip_longest(names, *columns, fillvalue="")]
    out.table(first, rows, right=[title for title in first if title != "from"])


def _parts(columns: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """The numbers of the columns of a matrix in groups that have room beside the names of rows."""
    parts, used = [list[int]()], 0
    for number, cells in enumerate(columns):
        wide = 2 + max(len(str(number + 1)), *map(len, cells))
        if parts[-1] and used + wide > width:
            parts.append([])
            used = 0
        parts[-1].append(number)
        used += wide
    return parts
