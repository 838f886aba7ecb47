"""The K-reachability graph for the terminal: how far goals are from each other, and the way that a chain goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bmc.errors import counted
from chaincover.report.console import Console, say, shortened

LEFT_OUT = "--format json tells all, --format svg draws it"


def show_graph(out: Console, name: str, data: Mapping[str, Any]) -> None:
    """The graph's ``data`` (see ``graph_data``): the edges of the chain, then the distances as a matrix, if it fits."""
    nodes, weights = data["nodes"], {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    goals = counted(len(nodes) - 2, "goal")
    say(out, f"{name}: distances in steps between {goals}, init and {nodes[-1]}; K = {data['k']}", "bold")
    chain = {(edge["from"], edge["to"]): edge["steps"] for edge in data.get("chain", ())}
    rows = [(*ends, str(steps), str(weights.get(ends, "not known"))) for ends, steps in chain.items()]
    if rows:
        out.table(("the chain goes from", "to", "steps", "distance"), rows, right=("steps", "distance"))
    _show_matrix(out, data, weights, chain)


def _show_matrix(
    out: Console, data: Mapping[str, Any], weights: Mapping[tuple[str, str], int], chain: Mapping[tuple[str, str], int]
) -> None:
    """The distance from the node of each row to that of each column; nodes are columns by their numbers."""
    nodes, bounds = data["nodes"], {(edge["from"], edge["to"]): f">={edge['at_least']}" for edge in data["open"]}
    unknown = {(edge["from"], edge["to"]) for edge in data["unknown"]}

    def cell(ends: tuple[str, str]) -> str:
        text = str(weights[ends]) if ends in weights else bounds.get(ends, "?" if ends in unknown else "")
        return f"{text}*" if ends in chain else text

    targets = [(str(number), node) for number, node in enumerate(nodes) if number]
    cells = {node: [cell((node, target)) for _, target in targets] for node in nodes[:-1]}
    columns = zip(targets, zip(*cells.values(), strict=True), strict=True)
    room = out.width - sum(2 + max(len(number), *map(len, column)) for (number, _), column in columns) - 4
    if room < min(12, max(map(len, nodes))):
        say(out, f"the {counted(len(nodes), 'row')} of distances are wider than the terminal: {LEFT_OUT}")
        return
    titles = ("from", *(number for number, _ in targets))
    names = [f"{number}  {shortened(node, room)}" for number, node in enumerate(nodes)]
    rows = [(names[number], *cells[node]) for number, node in enumerate(nodes[:-1])]
    out.table(titles, [*rows, (names[-1], *("" for _ in targets))], right=titles[1:])
    notes = [
        "columns are the numbers of the rows",
        *(["* the chain goes there"] if chain else []),
        *(["? not known"] if unknown else []),
    ]
    say(out, "; ".join(notes))
