"""Why no shorter chain can be, the graph of distances that a chain goes through, how an earlier result differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.chain import COVERED
from chaincover.formats.drawing import to_svg
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import bounds_of, goals_in, goals_of, length_of

MOST_DRAWN = 8
"""Goals of a graph that is drawn; a matrix of distances shows more. Twice as many: a drawing of edges upon edges."""

MOST_IN_MATRIX = 64
"""Goals of a matrix in the page. Twice as many: four times as many cells."""


def why(chain: SavedChain) -> dict[str, Any]:
    """Three sentences on the bound of a chain, and the claims of its certificate by kind."""
    bounds, certificate = chain.data["bounds"], chain.data.get("certificate")
    covered = sum(goal["verdict"] == COVERED for goal in chain.data["goals"])
    length, lower = bounds["length"], bounds["lower"]
    goals = "all goals that can be covered" if length is None else f"the same {counted(covered, 'goal')}"
    first = (
        f"Every chain through {goals} has at least {counted(lower, 'step')}."
        if lower
        else f"No lower bound is proved for chains through {goals}."
    )
    second = f"This rests on: {bounds['basis']}." if bounds.get("basis") else "Nothing more is known of the bound."
    claims = Counter(_kind(claim) for claim in certificate["claims"]) if certificate else Counter[str]()
    return {
        "file": chain.file,
        "sentences": [first, second, _length(length, lower, bounds["minimal"])],
        "claims": sorted(claims.items()),
    }


def _length(length: int | None, lower: int, minimal: bool) -> str:
    """What the bound says of the chain's length."""
    if length is None:
        return "There is no chain."
    own = f"The chain has {counted(length, 'step')}"
    if minimal:
        return f"{own}, so it is minimal."
    return f"{own}, so a chain that is shorter by up to {counted(length - lower, 'step')} is not excluded."


_KINDS = {
    "inductive": "invariants, each kept by every step",
    "prices": "prices of states or goals that add up to the bound",
    "simulates": "maps of states onto those of a smaller system",
}


def _kind(claim: Mapping[str, Any]) -> str:
    """A claim of the certificate, in words."""
    if claim["claim"] != "never":
        return _KINDS.get(claim["claim"], str(claim["claim"]))
    if "path" in claim:
        return "distances: from one goal to another in fewer steps is impossible"
    if "searched" in claim:
        return "searches of all reachable states with the goals covered"
    return "runs of fewer steps, or any, that cover these goals do not exist"


@dataclass(frozen=True)
class Matrix:
    """Distances in steps: titles, and rows of cells, each a text, whether the chain goes that way, and its title."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, bool, str], ...]], ...]
    left: int


@dataclass(frozen=True)
class Graph:
    """The graph of a chain: a drawing where it has few goals, else a matrix; ``path``: the chain's nodes in order."""

    file: str
    path: tuple[str, ...]
    legs: tuple[tuple[str, str, int, str], ...]
    svg: str
    matrix: Matrix | None


def graph_of(chain: SavedChain) -> Graph | None:
    """The graph of a chain; None where the result holds no distances."""
    data, own = chain.data["graph"], chain.data.get("chain")
    weights = {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    ends = [node for node in data["nodes"] if node in ("final", "end")]
    path = ("init", *own["order"], *ends[:1]) if own else ()
    legs = _legs(own, path, weights) if own else ()
    if not weights:
        return Graph(chain.file, path, legs, "", None) if legs else None
    joined = _joined(data)
    way = tuple(node for node in path if node in joined)  # without goals that others imply: they have no distances
    nodes = [*way, *(node for node in data["nodes"] if node in joined and node not in way)]
    if len(nodes) - 2 <= MOST_DRAWN:
        drawn = to_svg(chain.data["controller"]["name"], {**_lean(data, way), "nodes": nodes}, way, styled=False)
        return Graph(chain.file, path, legs, drawn, None)
    return Graph(chain.file, path, legs, "", _matrix(nodes, weights, set(pairwise(way)), data))


def _joined(data: Mapping[str, Any]) -> set[str]:
    """The nodes of which a distance is known, or a bound, or that a solver gave up on."""
    pairs = (*data["edges"], *data.get("open", ()), *data.get("unknown", ()))
    return {node for pair in pairs for node in (pair["from"], pair["to"])}


def _legs(
    own: Mapping[str, Any], path: tuple[str, ...], weights: Mapping[tuple[str, str], int]
) -> tuple[tuple[str, str, int, str], ...]:
    """Each leg of the chain: from, to, steps, and the distance that is proved, '' where none is known."""
    steps = {hit["goal"]: hit["step"] for hit in own["hits"]} | {"init": 0}
    found = []
    for a, b in pairwise(path):
        taken = steps.get(b, own["length"]) - steps[a]
        known = weights.get((a, b))
        found.append((a, b, taken, "" if known is None else str(known)))
    return tuple(found)


def _lean(data: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The graph without edges that a way over another node replaces at no greater cost, but for those of the path."""
    weights = {(edge["from"], edge["to"]): edge["weight"] for edge in data["edges"]}
    kept, used = [], set(pairwise(path))
    for (a, b), weight in weights.items():
        over = any(
            weights[a, c] + weights[c, b] <= weight
            for c in data["nodes"]
            if c not in (a, b) and (a, c) in weights and (c, b) in weights and weights[a, c] and weights[c, b]
        )
        if not over or (a, b) in used:
            kept.append({"from": a, "to": b, "weight": weight})
    return {**data, "edges": kept}


def _matrix(
    nodes: list[str], weights: Mapping[tuple[str, str], int], used: set[tuple[str, str]], data: Mapping[str, Any]
) -> Matrix:
    """Distances from each node (a row) to each (a column); ``used`` are those of the way of the chain."""
    least = {(pair["from"], pair["to"]): pair["at_least"] for pair in data.get("open", ())}
    unknown = {(pair["from"], pair["to"]) for pair in data.get("unknown", ())}
    chosen = nodes[:MOST_IN_MATRIX]
    rows = []
    for a in chosen:
        cells = []
        for b in chosen:
            if a == b:
                cells.append(("", False, ""))
            elif (a, b) in weights:
                cells.append((str(weights[a, b]), (a, b) in used, f"{a} to {b}: {counted(weights[a, b], 'step')}"))
            elif (a, b) in unknown:
                cells.append(("?", False, f"{a} to {b}: a solver gave up"))
            else:
                bound = least.get((a, b))
                told = f"≥{bound}" if bound is not None else ""
                cells.append((told, False, f"{a} to {b}: at least {bound} steps" if told else ""))
        rows.append((a, tuple(cells)))
    return Matrix(tuple(chosen), tuple(rows), len(nodes) - len(chosen))


def change(saved: Saved) -> dict[str, Any] | None:
    """What differs from an earlier result: sentences, and each goal whose verdict or property is another one."""
    if saved.earlier is None:
        return None
    rows = [*_changed_goals(goals_in(saved.earlier), goals_of(saved))]
    old_bounds, length = saved.earlier.get("bounds") or saved.earlier, length_of(saved)
    lower, _ = bounds_of(saved)
    sentences = []
    if old_bounds.get("length") != length:
        sentences.append(f"The length was {_told(old_bounds.get('length'))}, and is {_told(length)}.")
    if old_bounds.get("lower") != lower:
        sentences.append(f"The lower bound was {_told(old_bounds.get('lower'))}, and is {_told(lower)}.")
    changed = _changed_sources(saved.earlier, saved.first)
    if changed:
        sentences.append(f"These sources are others: {', '.join(changed)}.")
    if not sentences and not rows:
        sentences.append("Nothing differs: the same sources, goals, verdicts, length and bound.")
    return {"sentences": sentences, "rows": rows}


def _changed_goals(
    earlier: Sequence[Mapping[str, Any]], goals: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, str]]:
    """Each goal that is another one than that of the same name ``earlier``, with what it was and what it is."""
    before, now = ({goal["name"]: goal for goal in each} for each in (earlier, goals))
    for name in {**before, **now}:
        old, new = before.get(name), now.get(name)
        if old is None:
            yield name, "there was none", now[name]["verdict"]
        elif new is None:
            yield name, old["verdict"], "removed"
        elif old["verdict"] != new["verdict"]:
            yield name, old["verdict"], new["verdict"]
        elif old.get("property") != new.get("property"):
            yield name, str(old.get("property")), str(new.get("property"))


def _told(steps: object) -> str:
    return counted(steps, "step") if isinstance(steps, int) else "unknown"


def _changed_sources(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The files that one of the results has with other bytes, or alone."""
    old, new = (
        {each["file"]: each["sha256"] for each in (document.get("controller") or {}).get("sources", ())}
        if isinstance(document.get("controller"), dict)
        else {}
        for document in (before, now)
    )
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
