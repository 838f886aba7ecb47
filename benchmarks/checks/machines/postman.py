"""The shortest inputs that take every reachable transition of a machine, by the directed Chinese postman problem.

``python -m benchmarks postman`` writes ``expected.json``. Nothing of the search is used here: a run that takes
each arrow at least once is a flow of at least 1 on each arrow, and a least one is found by networkx.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
import networkx as nx

from benchmarks import FOLDER
from bmc.models.mealy.dot import read_machine

HERE = FOLDER / "machines"
FILES = sorted(HERE.glob("*/*.dot"))
END = ("end",)
"""Where a run may end; a state is a string."""

Arrow = tuple[str, str]


def reachable(arrows: Sequence[Arrow], start: str) -> list[Arrow]:
    """The arrows that a run from ``start`` can take."""
    met, todo = {start}, [start]
    for state in todo:
        todo += (fresh := {target for source, target in arrows if source == state} - met)
        met |= fresh
    return [arrow for arrow in arrows if arrow[0] in met]


def closed_tour(arrows: Sequence[Arrow]) -> int | None:
    """The length of a shortest run that takes every arrow and ends where it began; None if there is none."""
    try:
        return len(arrows) + int(nx.min_cost_flow_cost(_network(arrows)))
    except nx.NetworkXUnfeasible:
        return None


def fewest_runs(arrows: Sequence[Arrow], start: str) -> tuple[int, int]:
    """The least number of runs from ``start`` that take every arrow together, and the least length of so many."""
    network = _network(arrows)
    dear = (len(arrows) + 1) * (len(network) + 1)  # more than a run can save
    for state in list(network):
        network.add_edge(state, END, weight=0)
    network.add_edge(END, start, weight=dear)
    network.nodes[END]["demand"] = 1  # one run at least
    network.nodes[start]["demand"] = network.nodes[start].get("demand", 0) - 1
    runs, length = divmod(int(nx.min_cost_flow_cost(network)), dear)
    return 1 + runs, len(arrows) + length


def _network(arrows: Sequence[Arrow]) -> nx.DiGraph:
    """What may flow besides 1 on each arrow, and must so that as much leaves a state as enters it."""
    network = nx.DiGraph()
    network.add_edges_from(arrows, weight=1)
    demand = dict.fromkeys(network, 0)
    for source, target in arrows:
        demand[source] += 1
        demand[target] -= 1
    nx.set_node_attributes(network, demand, "demand")
    return network


def expected(file: Path) -> dict[str, object]:
    """What is known of the machine in ``file``."""
    machine = read_machine(str(file), partial=True)
    arrows = reachable([(each.source, each.target) for each in machine.transitions], machine.start)
    runs, length = fewest_runs(arrows, machine.start)
    return {
        "kind": "mealy" if machine.first is None else "moore",
        "partial": len(machine.transitions) < len(machine.states) * len(machine.inputs),
        "states": len(machine.states),
        "inputs": len(machine.inputs),
        "transitions": len(machine.transitions),
        "reachable": len(arrows),
        "runs": runs,
        "steps": length,
        "closed": closed_tour(arrows),
    }


@click.command()
def main() -> None:
    found = {file.relative_to(HERE).as_posix(): expected(file) for file in FILES}
    (HERE / "expected.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
