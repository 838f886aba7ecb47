"""The bound from the order of goals, computed anew: depth first over all orders, with start times as longest paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bmc.errors import UsageError
from chaincover.certificate import Certificate
from chaincover.orderings import missing_library
from chaincover.orderings.asp import AspOrdering
from chaincover.orderings.cpsat import CpsatOrdering
from chaincover.orderings.protocol import Limit, Ordering, OrderingProblem
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, Line, limited
from chaincover.weights import INIT

CHECK = "order bound"

Path = tuple[str, ...]


def needed_edges(certificate: Certificate) -> list[tuple[str, str]]:
    """The pairs of nodes for which the certificate has to have a bound."""
    goals, end = certificate.goals, certificate.end
    if not goals:
        return [(INIT, end)]
    pairs = [(INIT, b) for b in goals] + [(a, b) for a in goals for b in goals if a != b]
    return pairs + [(a, end) for a in goals]


def order_bound(certificate: Certificate, clock: Clock) -> Line:
    """Whether no order of the goals takes less than the certificate says, by its own facts."""
    edges: dict[tuple[str, str], int] = {}
    for fact in certificate.edges:
        edges[fact.source, fact.target] = max(fact.at_least, edges.get((fact.source, fact.target), 0))
    missing = [
        f"the certificate has no bound for {a} -> {b}" for a, b in needed_edges(certificate) if (a, b) not in edges
    ]
    if missing:
        return Line(CHECK, WRONG, f"{len(missing)} bounds are missing", limited(missing))
    claimed = certificate.order_bound
    far = max((edges[INIT, g] + edges[g, certificate.end] for g in certificate.goals), default=0)
    if far >= claimed:
        return Line(CHECK, HOLDS, f"{claimed}: init to one goal and on to the end already takes {far}")
    paths = {fact.path: fact.at_least for fact in sorted(certificate.paths, key=lambda f: f.at_least)}
    search = _Search(certificate.goals, certificate.end, edges, paths, claimed, clock.limits.orders)
    order = search.shorter()
    if order is not None:
        text = f"{claimed} is claimed, but by the same facts an order takes {max(search.cost, far)}"
        return Line(CHECK, WRONG, text, (" -> ".join((INIT, *order, certificate.end)),))
    if search.left > 0:
        return Line(CHECK, HOLDS, f"{claimed}: no order of {len(certificate.goals)} goals takes less")
    return _by_backend(certificate, edges, paths, far, clock)


@dataclass
class _Search:
    """Looks for an order that takes less than ``below``; ``left`` partial orders may still be looked at.

    ``seen`` holds, for the goals passed and the last nodes, the start times of those nodes with which the search has
    been there: with none of them earlier it need not go on. Only as many last nodes count as the longest path fact has.
    """

    goals: Sequence[str]
    end: str
    edges: Mapping[tuple[str, str], int]
    paths: Mapping[Path, int]
    below: int
    left: int
    cost: int = 0
    seen: dict[tuple[frozenset[str], Path], list[tuple[int, ...]]] = field(default_factory=dict)

    def shorter(self) -> tuple[str, ...] | None:
        """An order of the goals that takes less, None if there is none (or no work ``left``)."""
        self._span = max([1, *(len(path) - 1 for path in self.paths)])
        self._least = {
            b: min((w for (_, target), w in self.edges.items() if target == b), default=0)
            for b in (*self.goals, self.end)
        }
        return self._extend((INIT,), (0,), frozenset(self.goals))

    def _extend(self, walked: Path, times: tuple[int, ...], rest: frozenset[str]) -> tuple[str, ...] | None:
        self.left -= 1
        if self.left <= 0 or not self._worth(walked, times, rest):
            return None
        if not rest:
            total = self._start(walked, times, self.end)
            self.cost = total
            return walked[1:] if total < self.below else None
        following = sorted((self._start(walked, times, node), node) for node in rest)
        for time, node in following:
            found = self._extend((*walked, node), (*times, time), rest - {node})
            if found is not None:
                return found
        return None

    def _worth(self, walked: Path, times: tuple[int, ...], rest: frozenset[str]) -> bool:
        """Whether less than ``below`` may come of it, and no search has been here as early."""
        if times[-1] + sum(self._least[node] for node in rest) + self._least[self.end] >= self.below:
            return False
        late = times[-self._span :]
        known = self.seen.setdefault((rest, walked[-self._span :]), [])
        if any(all(a <= b for a, b in zip(old, late, strict=True)) for old in known):
            return False
        known.append(late)
        return True

    def _start(self, walked: Path, times: tuple[int, ...], node: str) -> int:
        """The least start time of ``node`` after ``walked``."""
        longer = (*walked, node)
        start = times[-1] + self.edges[walked[-1], node]
        for path, steps in self.paths.items():
            if path == longer[-len(path) :]:
                start = max(start, times[len(longer) - len(path)] + steps)
        return start


def _by_backend(
    certificate: Certificate, edges: Mapping[tuple[str, str], int], paths: Mapping[Path, int], far: int, clock: Clock
) -> Line:
    """The answer of an ordering backend that proves, where there are too many orders."""
    problem = OrderingProblem(certificate.goals, edges, INIT, certificate.end, least=paths)
    said, claimed = "too many orders to look at one by one", certificate.order_bound
    backends: list[tuple[str, Ordering]] = [("asp", AspOrdering("usc")), ("cpsat", CpsatOrdering())]
    for name, backend in backends:
        if missing_library(name) or clock.over:
            continue
        try:
            found = backend.solve(problem, Limit(clock.left, clock.limits.effort))
        except UsageError:
            continue
        if found.path and found.cost < claimed and far < claimed:
            text = f"{claimed} is claimed, but by the same facts an order takes {max(found.cost, far)}"
            return Line(CHECK, WRONG, text, (" -> ".join(found.path),))
        if found.lower_bound >= claimed or (found.proved and not found.path):
            return Line(CHECK, HOLDS, f"{claimed}: {said}; proved by {found.by}")
    return Line(CHECK, OPEN, f"{claimed}: {said}, and no ordering backend finished")
