"""The graph of distances in words: the legs of a chain with the fewest steps known, and what a matrix of it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bmc.ending import INTERRUPT, TERMINATED
from bmc.errors import counted, listed
from chaincover.formats.distances import BELOW_ZERO, SINCE, UNKNOWN, Edge, Leg

if TYPE_CHECKING:
    from chaincover.graph.reachability import CoveringGraph


def said_of_search(found: CoveringGraph, most: int | None) -> str:
    """Why the search for distances stopped, and what to do for more of them; '' where none are left to be found.
    ``most``: the largest K, None without one."""
    graph = found.graph
    complete = graph.depth >= 0 and {*graph.lower} <= {*graph.weights, *graph.unknown}
    if graph.exact or (complete and not found.stopped_by):
        return ""
    if found.stopped_by in (INTERRUPT, TERMINATED):
        why = "since the run was called off: begin again for more"
    elif found.stopped_by:
        why = f"because of the {found.stopped_by}: allow more (--{found.stopped_by.replace(' ', '-')})"
    elif found.used_up:
        why = "since the effort was used up: allow more (--effort)"
    elif most is not None and graph.depth >= most:
        why = "since K may not be larger: allow more (--bound)"
    else:
        why = (
            "since the distances up to there make a path through all goals: 'generate' with more --effort decides "
            "more of them, and 'graph' with its chain shows these too"
        )
    at = f"at K = {graph.depth}" if graph.depth >= 0 else "before any distance was decided"
    return f"This search stopped {at}, {why}."


def said_of_legs(legs: Sequence[Leg]) -> str:
    """How the legs of a chain compare with the fewest steps, in a sentence or two."""
    own = legs[1:]
    longer, shortest = sum(leg.longer for leg in own), sum(leg.shortest for leg in own)
    if own and shortest == len(own):
        return "Each leg takes the fewest steps in which any run comes from goals of one step to all those of the next."
    unknown = len(own) - longer - shortest
    parts = [
        f"{shortest} of {counted(len(own), 'leg')} {_take(shortest)} the fewest steps that any run takes",
        *([f"{longer} {_take(longer)} more"] if longer else []),
        *([f"of {unknown} the fewest steps are not known"] if unknown else []),
    ]
    why = (
        " The fewest steps are those between two goals alone, from whichever state suits best. The chain comes from "
        "one state and goes on to other goals, so it may need more."
    )
    return f"{', '.join(parts)}.{why if longer else ''}"


def meaning_of_legs(legs: Sequence[Leg]) -> Iterator[str]:
    """What stands in a table of these legs, a sentence for each kind of entry that a reader may not know."""
    if any("since" in leg.compared for leg in legs):
        yield SINCE
    if any(leg.fewest.startswith("-") for leg in legs):
        yield BELOW_ZERO


def _take(number: int) -> str:
    return "takes" if number == 1 else "take"


def meaning(
    known: Mapping[Edge, str], taken: Mapping[Edge, int], marked: str, exact: bool, star: str = ""
) -> Iterator[str]:
    """What stands in a matrix of distances, a sentence for each kind of cell that it has.

    ``marked`` says how the way of the chain is marked, in whose cells ``star`` stands behind the steps ``taken``.
    """
    yield "From the goal of a row to that of a column: the fewest steps that any run takes, 0 in the same step."
    longer = [edge for edge, steps in taken.items() if known.get(edge, "?") not in ("?", str(steps))]
    if taken:
        most = max(longer, key=taken.__getitem__, default=None)
        example = f"; {_example(most, taken[most], known[most], star)}" if most else ""
        yield f"{marked}: the way of the chain, with the steps that it takes{example}."
    if any(known.get(edge, "?") == "?" for edge in taken):
        yield UNKNOWN
    texts = {*known.values()}
    if any(text.startswith("≥") for text in texts):
        yield "≥ n: no run takes fewer than n steps; whether one takes n is not known."
    if any(text.startswith("-") for text in texts):
        yield BELOW_ZERO
    if "never" in texts:
        yield "never: no run goes there."
    if "?" in texts:
        yield "?: a solver gave up."
    if not exact:
        yield "Empty: nothing is known that says more than 0."


def _example(edge: Edge, steps: int, told: str, star: str) -> str:
    """A cell of the way of the chain that holds two numbers, explained."""
    few = f"no run takes fewer than {told[2:]}" if told.startswith("≥") else f"the fewest are {told}"
    return f"{cell(steps, told, star)} from {edge[0]} to {edge[1]} says that it takes {steps}, and that {few}"


def cell(steps: int, told: str, star: str = "") -> str:
    """A cell on the way of a chain: the steps that it takes, and in brackets what is known of the fewest unless these
    are as many."""
    return f"{steps}{star}" if told == str(steps) else f"{steps}{star} ({told or '?'})"


def implied_ones(number: int, where: str) -> str:
    """That goals which others imply are not in the matrix, and ``where`` their distances are."""
    one = number == 1
    return (
        f"{counted(number, 'goal')} {'is' if one else 'are'} not in it: wherever another goal of it is covered, "
        f"{'it is' if one else 'each of them is'} covered too ('implied'), and needs no distance of its own{where}."
    )


def without_distances(names: Sequence[str], exact: bool) -> str:
    """That nothing is known of these goals, so that they are in no matrix."""
    return f"{'No run covers' if exact else 'No distance is known of'} {listed(names)}."
