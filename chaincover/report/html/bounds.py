"""Why no shorter chain can be, the graph of distances that a chain goes through, how an earlier result differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.chain import COVERED
from chaincover.formats.distances import Edge, Leg, known_distances, legs_between
from chaincover.formats.drawing import MOST_GOALS, drawn_of, legs_of, svg_of
from chaincover.report.distances import (
    cell,
    implied_ones,
    meaning,
    meaning_of_legs,
    said_of_legs,
    without_distances,
)
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import bounds_of, goals_in, goals_of, length_of

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
    """What is known of distances: titles, rows of cells (each a text, whether the chain goes there, its title), and
    sentences on what stands there and on what does not."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[str, bool, str], ...]], ...]
    meaning: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """The graph of a chain: a drawing where it has few goals, with what that means, the ``legs`` of the chain with how
    they are ``compared`` with the fewest steps and what is ``explained`` of their table, and a matrix where distances
    are known."""

    file: str
    svg: str
    notes: tuple[str, ...]
    legs: tuple[Leg, ...]
    compared: str
    explained: tuple[str, ...]
    matrix: Matrix | None


def graph_of(chain: SavedChain) -> Graph | None:
    """The graph of a chain; None where the result holds neither a chain nor distances."""
    data, own = chain.data["graph"], chain.data.get("chain")
    ends = [node for node in data["nodes"] if node in ("final", "end")]
    hits = {hit["goal"]: hit["step"] for hit in own["hits"]} if own else {}
    places = (
        [("init", 0), *((g, hits[g]) for g in own["order"]), *((e, own["length"]) for e in ends[:1])] if own else []
    )
    at = dict(places)
    known = known_distances(data, at)
    if not at and not known:
        return None
    legs = legs_between(at, known) if at else []
    compared = said_of_legs(legs) if any(leg.fewest for leg in legs) else ""
    matrix = _matrix(data, at, known) if known else None
    svg, notes = _drawing(chain.data["controller"]["name"], data, places, known)
    return Graph(chain.file, svg, tuple(notes), tuple(legs), compared, (*meaning_of_legs(legs),), matrix)


def _drawing(
    name: str, data: Mapping[str, Any], places: Sequence[tuple[str, int]], known: Mapping[Edge, str]
) -> tuple[str, list[str]]:
    """The graph as SVG with what that means; without the goals of the chain that others imply where it has more than
    can be drawn, and '' where there still are more."""
    joined = {"init", *(node for edge in known for node in edge)}
    for shown in (places, [place for place in places if place[0] in joined]):
        nodes = [*dict.fromkeys([*(node for node, _ in shown), *(node for node in data["nodes"] if node in joined)])]
        if len(nodes) - 2 <= MOST_GOALS:
            drawn = drawn_of({**data, "nodes": nodes, "chain": legs_of(shown)})
            left = len(places) - len(shown)
            notes = [*drawn.notes, *([f"Goals that others imply are not drawn: {left}."] if left else [])]
            return svg_of(f"K-reachability graph of {name}", drawn), notes
    return "", []


def _matrix(data: Mapping[str, Any], at: Mapping[str, int], known: Mapping[Edge, str]) -> Matrix:
    """What is ``known`` from each node (a row) to each (a column): first those that the chain is ``at``, in its order.

    Goals that others imply, and goals of which nothing is known, would be empty rows.
    """
    joined = {node for edge in known for node in edge}
    way = [node for node in at if node in joined]
    nodes = [*way, *(node for node in data["nodes"] if node in joined and node not in at)]
    taken = {(a, b): at[b] - at[a] for a, b in pairwise(way)}
    shown, exact = nodes[:MOST_IN_MATRIX], bool(data.get("exact"))
    rows = tuple((a, tuple(_cell((a, b), known, taken) for b in shown[1:])) for a in shown if a not in ("final", "end"))
    more = [f"{len(nodes) - len(shown)} more goals are not shown."] if len(nodes) > len(shown) else []
    notes = (*meaning(known, taken, "Marked", exact), *_absent(data, at, joined), *more)
    return Matrix(tuple(shown[1:]), rows, notes)


def _absent(data: Mapping[str, Any], at: Mapping[str, int], joined: Set[str]) -> Iterator[str]:
    """What is said of goals that are not in the matrix."""
    implied = {node for node in at if node not in data["nodes"]}
    if implied:
        yield implied_ones(len(implied), "")
    lost = dict.fromkeys(node for node in (*at, *data["nodes"]) if node not in joined and node not in implied)
    lost.pop("init", None)
    if lost:
        yield without_distances([*lost], bool(data.get("exact")))


def _cell(edge: Edge, known: Mapping[Edge, str], taken: Mapping[Edge, int]) -> tuple[str, bool, str]:
    """What stands in a cell, whether the chain goes there, and what is said of it to who points at it."""
    told, words = known.get(edge, ""), [f"the chain takes {taken[edge]}"] if edge in taken else []
    if told or words:
        words.insert(0, _in_words(told))
    title = f"{edge[0]} to {edge[1]}: {'; '.join(words)}" if words else ""
    return cell(taken[edge], told) if edge in taken else told, edge in taken, title


def _in_words(told: str) -> str:
    """What is known of a distance, as it is told where there is room."""
    if told.startswith("≥ "):
        return f"at least {counted(int(told[2:]), 'step')}"
    said = {"never": "no run goes there", "?": "a solver gave up", "": "the fewest steps are not known"}.get(told)
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
