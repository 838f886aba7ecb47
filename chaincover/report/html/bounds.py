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
from chaincover.report.distances import Edge, exact_distances, known_distances
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import bounds_of, goals_in, goals_of, length_of

MOST_DRAWN = 8
"""Goals of a graph that is drawn; above that there is only its matrix. Twice as many: edges upon edges."""

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
    """What is known of distances: titles, and rows of cells, each a text, whether the chain goes there, its title."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, bool, str], ...]], ...]
    left: int


@dataclass(frozen=True)
class Graph:
    """The graph of a chain: a drawing where it has few goals, and a matrix where distances are known.

    ``legs``: from, to, the steps that the chain takes, and what is known of the distance. ``implied``: how many goals
    of the chain are in no matrix.
    """

    file: str
    legs: tuple[tuple[str, str, int, str], ...]
    svg: str
    matrix: Matrix | None
    implied: int


def graph_of(chain: SavedChain) -> Graph | None:
    """The graph of a chain; None where the result holds neither a chain nor distances."""
    data, own = chain.data["graph"], chain.data.get("chain")
    ends = [node for node in data["nodes"] if node in ("final", "end")]
    path = ("init", *own["order"], *ends[:1]) if own else ()
    at = _places(own, ends) if own else {}
    exact = exact_distances(data, at)
    known = known_distances(data, exact)
    way, nodes = _shown_nodes(path, data["nodes"], known)
    taken = {(a, b): at[b] - at[a] for a, b in pairwise(way)}
    legs = tuple(_legs(path, at, known))
    if not legs and not known:
        return None
    drawing = _drawing(chain.data["controller"]["name"], nodes, exact, taken) if len(nodes) - 2 <= MOST_DRAWN else ""
    matrix = _matrix(nodes, known, taken) if known else None
    return Graph(chain.file, legs, drawing, matrix, len(path) - len(way))


def _legs(path: Sequence[str], at: Mapping[str, int], known: Mapping[Edge, str]) -> Iterator[tuple[str, str, int, str]]:
    """The legs of a chain. Where the goal at which a leg begins has no distances, that from the last one which has."""
    joined = {node for edge in known for node in edge}
    last = ""
    for a, b in pairwise(path):
        last = a if a in joined else last
        told = known.get((last, b), "")
        yield a, b, at[b] - at[a], f"{told} from {last}" if told and last != a else told


def _shown_nodes(
    path: tuple[str, ...], nodes: Sequence[str], known: Mapping[Edge, str]
) -> tuple[tuple[str, ...], list[str]]:
    """The nodes of the chain's ``path`` that are shown, and these with all others of which a distance is ``known``."""
    joined = {node for edge in known for node in edge}
    # Goals that others imply have no distances. In a matrix they would be empty rows.
    way = path if len(path) - 2 <= MOST_DRAWN else tuple(node for node in path if node in joined)
    return way, [*way, *(node for node in nodes if node in joined and node not in way)]


def _places(own: Mapping[str, Any], ends: Sequence[str]) -> dict[str, int]:
    """The step at which the chain is at each node: init, its goals, and the end."""
    return {"init": 0} | {hit["goal"]: hit["step"] for hit in own["hits"]} | dict.fromkeys(ends, own["length"])


def _drawing(name: str, nodes: Sequence[str], exact: Mapping[Edge, int], taken: Mapping[Edge, int]) -> str:
    """The chain, each leg with its steps, and the distances but for those that a way over another node replaces at no
    greater cost."""
    edges = []
    for (a, b), weight in exact.items():
        over = any(
            exact[a, c] + exact[c, b] <= weight
            for c in nodes
            if c not in (a, b) and (a, c) in exact and (c, b) in exact and exact[a, c] and exact[c, b]
        )
        if not over or (a, b) in taken:
            edges.append({"from": a, "to": b, "weight": weight})
    chain = [{"from": a, "to": b, "steps": steps} for (a, b), steps in taken.items()]
    return to_svg(name, {"nodes": nodes, "edges": edges, "chain": chain}, styled=False)


def _matrix(nodes: Sequence[str], known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> Matrix:
    """What is ``known`` from each node (a row) to each (a column), with the steps ``taken`` on the way of the chain."""

    def cell(a: str, b: str) -> tuple[str, bool, str]:
        told, steps = known.get((a, b), ""), taken.get((a, b))
        title = f"{a} to {b}: {_in_words(told)}" if told else ""
        if steps is None:
            return told, False, title
        title = f"{title}; " if title else f"{a} to {b}: "
        return (
            f"{steps} ({told})" if told not in ("", str(steps)) else str(steps),
            True,
            f"{title}the chain takes {steps}",
        )

    chosen = nodes[:MOST_IN_MATRIX]
    rows = tuple((a, tuple(cell(a, b) for b in chosen[1:])) for a in chosen if a not in ("final", "end"))
    return Matrix(tuple(chosen[1:]), rows, len(nodes) - len(chosen))


def _in_words(told: str) -> str:
    """What is known of a distance, as it is told where there is room."""
    if told.startswith("≥ "):
        return f"at least {counted(int(told[2:]), 'step')}"
    said = {"never": "no run goes there", "?": "a solver gave up"}.get(told)
    return said or f"the fewest steps are {told}"


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
