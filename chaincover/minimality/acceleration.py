"""Chains and bounds in jumps over the steps that only move a counter, on the graph of ``chaincover.graph.accelerated``.

The lightest path from the start through all events of the goals to an end bounds all chains from below; where its arcs
are those of a run, this is a shortest chain. The search is A*: the estimate is the exact weight of the way over the
farthest missing event to an end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import inf
from typing import TypeVar

from bmc.explicit.input_classes import TooManyValues
from bmc.explicit.scope import Inputs
from bmc.invariants.counters import Cells, candidates, find_counters
from bmc.invariants.induction import Prover
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from chaincover.certificate import Acceleration
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.graph.accelerated import MOST_EVENTS, Arc, JumpGraph, Jumps, scope_of, seen_by
from chaincover.graph.counter_groups import Moves
from chaincover.graph.enumerated import ENUMERATING, STATES_PER_UNIT
from chaincover.known import Board, Reason
from chaincover.minimality.induction import with_value_facts
from chaincover.orderings.bound import ACCELERATED
from chaincover.problem import Problem
from properties.goal import Events
from properties.progression import Progression, bits

KEPT = (0, 2, 8, 32, 128)
"""For how many steps a counter's value is kept that something else moves too: more where a bound leaves a gap."""

WORD = 64
"""Bits that a variable of a node may have at most."""

COMPARED = 16
"""A place is compared with so many at the same node that the search has passed, whether one of them dominates it."""

PER_UNIT = 250_000
"""Arcs that are followed in about a unit of work."""

MOST_PLACES = 400_000
"""Nodes with events covered that a search keeps: some 200 MB. What it has proved until then counts."""

PORTION = 20_000
"""Arcs that are followed before the limits are asked."""


@dataclass(frozen=True)
class Distances:
    """For each node the least weight to an end (``to_end``), and that over each event to an end (``over``)."""

    to_end: Sequence[float]
    over: Sequence[Sequence[float]]


def distances(graph: JumpGraph, events: int, runs: bool) -> Distances:
    """The least weights; ``runs``: by arcs of runs only."""
    arcs: list[tuple[int, Arc]] = [
        (node, arc) for node, out in enumerate(graph.arcs) for arc in out if not runs or arc.moves is not None
    ]
    backward: list[list[tuple[int, int]]] = [[] for _ in range(graph.size)]
    for source, arc in arcs:
        backward[arc.target].append((source, arc.weight))
    to_end = _lightest(backward, {node: 0.0 for node, end in enumerate(graph.ends) if end})
    over = []
    for event in range(events):
        begin: dict[int, float] = {}
        for source, arc in arcs:
            if arc.mask >> event & 1:
                weight = arc.weight + to_end[arc.target]
                if weight < begin.get(source, inf):
                    begin[source] = weight
        over.append(_lightest(backward, begin))
    return Distances(to_end, over)


def _lightest(backward: Sequence[Sequence[tuple[int, int]]], begin: dict[int, float]) -> list[float]:
    found = [inf] * len(backward)
    queue: list[tuple[float, int]] = []
    for node, weight in begin.items():
        found[node] = weight
        heappush(queue, (weight, node))
    while queue:
        weight, node = heappop(queue)
        if weight > found[node]:
            continue
        for source, step in backward[node]:
            if weight + step < found[source]:
                found[source] = weight + step
                heappush(queue, (weight + step, source))
    return found


class LightestPath:
    """The lightest path from the start through all of ``events`` (as bits) to an end.

    ``lower`` is the proved bound so far; ``path`` is there once it is found; where the search is ``finished`` without
    one, there is none.
    """

    def __init__(self, graph: JumpGraph, events: int, ahead: Distances) -> None:
        self._graph, self._events, self._ahead = graph, events, ahead
        self.lower: float = 0
        self.finished = False
        self.path: list[Arc] | None = None

    def advance(self) -> Iterator[int]:
        """Search; yields the arcs followed."""
        arcs, wanted = self._graph.arcs, self._events
        first = self._graph.begun & wanted
        queue: list[tuple[float, float, int, int]] = []
        best: dict[tuple[int, int], float] = {(0, first): 0}
        before: dict[tuple[int, int], tuple[tuple[int, int], Arc]] = {}
        passed: dict[int, list[tuple[int, float]]] = {}
        estimate = self._estimate(0, first)
        if estimate < inf:
            heappush(queue, (estimate, 0, 0, first))
        followed = 0
        while queue:
            total, back, node, mask = heappop(queue)
            so_far = -back
            if so_far > best[node, mask] or _dominated(passed.get(node, ()), mask, so_far):
                continue
            here = passed.setdefault(node, [])
            if len(here) < COMPARED:
                here.append((mask, so_far))
            self.lower = max(self.lower, total)
            if mask == wanted and self._graph.ends[node]:
                self.path = _traced(before, (node, mask))
                break
            for arc in arcs[node]:
                key, weight = (arc.target, mask | arc.mask & wanted), so_far + arc.weight
                if weight < best.get(key, inf) and not _dominated(passed.get(arc.target, ()), key[1], weight):
                    ahead = self._estimate(*key)
                    if ahead < inf:
                        best[key] = weight
                        before[key] = (node, mask), arc
                        heappush(queue, (weight + ahead, -weight, *key))
            followed += len(arcs[node]) + 1
            if followed >= PORTION:
                yield followed
                followed = 0
            if len(best) > MOST_PLACES:
                return
        self.finished = True
        yield followed

    def _estimate(self, node: int, mask: int) -> float:
        least, missing, over = self._ahead.to_end[node], self._events & ~mask, self._ahead.over
        while missing:
            low = missing & -missing
            least = max(least, over[low.bit_length() - 1][node])
            missing ^= low
        return least


def _dominated(passed: Sequence[tuple[int, float]], mask: int, weight: float) -> bool:
    """Whether the search has passed the same node with no more weight and no fewer events."""
    return any(not mask & ~other and earlier <= weight for other, earlier in passed)


class ShortestRun:
    """The shortest run along arcs of ``graph`` that covers all goals of ``problem``, whole, and gets to an end.

    ``ahead`` are the distances by arcs of runs. ``path`` is there once it is found.
    """

    def __init__(self, graph: JumpGraph, problem: Problem, ahead: Distances) -> None:
        self._graph, self._ahead = graph, ahead
        self._progression = Progression(problem.goals, {var.name for var in problem.system.inputs})
        of_goal = Events.of(problem.goals, problem.system).of_goal
        self._events = [[event for event in of_goal[goal.name] if event < MOST_EVENTS] for goal in problem.goals]
        self._settled = 2 * max((goal.length for goal in problem.goals), default=0) + 2
        self._simulator = Simulator(graph.system)
        self._slots: dict[tuple[int, Moves], list[tuple[int, int]]] = {}
        self._moved: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.path: list[Arc] | None = None

    def advance(self) -> Iterator[int]:
        """Search; yields the arcs followed."""
        graph, everything = self._graph, (1 << len(self._events)) - 1
        begun = self._progression.begin_all(self._progression.state_class(graph.state(0)))
        start = 0, self._wanted(begun.pending, begun.completed), begun.completed
        best: dict[Place, float] = {start: 0}
        before: dict[Place, tuple[Place, Arc]] = {}
        passed: dict[tuple[int, int], list[tuple[int, float]]] = {}
        queue = [(self._estimate(start), 0.0, start)]
        followed = 0
        while queue:
            total, back, place = heappop(queue)
            node, pending, covered = place
            if total == inf:
                break
            if -back > best[place] or _dominated(passed.get((node, pending), ()), covered, -back):
                continue
            passed.setdefault((node, pending), []).append((covered, -back))
            if covered == everything and graph.ends[node]:
                self.path = _traced(before, place)
                break
            for number, arc in enumerate(graph.arcs[node]):
                if arc.moves is None:
                    continue
                after, completed = self._follow(node, number, arc, pending)
                completed |= covered
                key, weight = (arc.target, self._wanted(after, completed), completed), arc.weight - back
                if weight < best.get(key, inf):
                    best[key], before[key] = weight, (place, arc)
                    heappush(queue, (weight + self._estimate(key), -weight, key))
            followed += len(graph.arcs[node]) + 1
            if followed >= PORTION:
                yield followed
                followed = 0
            if len(best) > MOST_PLACES:
                return
        yield followed

    def _wanted(self, pending: int, covered: int) -> int:
        """``pending`` without the progress of goals that are covered."""
        progress = self._progression.progress
        return sum(1 << number for number in bits(pending) if not covered >> progress[number].goal & 1)

    def _estimate(self, place: Place) -> float:
        node, pending, covered = place
        under_way = {self._progression.progress[number].goal for number in bits(pending)}
        least = self._ahead.to_end[node]
        for goal, events in enumerate(self._events):
            if not covered >> goal & 1 and goal not in under_way:
                least = max([least, *(self._ahead.over[event][node] for event in events)])
        return least

    def _follow(self, node: int, number: int, arc: Arc, pending: int) -> tuple[int, int]:
        """What is pending after an arc, and the goals completed on it."""
        key = node, number, pending
        if key not in self._moved:
            completed = 0
            for given, state in self._classes(node, arc):
                onward, begun = self._progression.advance(pending, given, state), self._progression.begin_all(state)
                pending = onward.pending | begun.pending
                completed |= onward.completed | begun.completed
            self._moved[key] = pending, completed
        return self._moved[key]

    def _classes(self, node: int, arc: Arc) -> list[tuple[int, int]]:
        """The classes of input and next state along an arc; of many alike only as many as goals can tell."""
        assert arc.moves is not None
        key = node, arc.moves
        if key not in self._slots:
            found, state = [], self._graph.state(node)
            for sequence, count in arc.moves:
                for choice in sequence * min(count, self._settled):
                    given = self._graph.inputs[choice]
                    state = self._simulator.step(state, given)
                    found.append((self._progression.input_class(given), self._progression.state_class(state)))
            last = self._progression.state_class(self._graph.state(arc.target))
            self._slots[key] = [*found[:-1], (found[-1][0], last)]
        return self._slots[key]


Place = tuple[int, int, int]
"""A node, the progress of goals under way, and the goals covered."""

Key = TypeVar("Key", bound=tuple[int, ...])


def _traced(before: Mapping[Key, tuple[Key, Arc]], key: Key) -> list[Arc]:
    path = []
    while key in before:
        key, arc = before[key]
        path.append(arc)
    return path[::-1]


def accelerate(board: Board) -> None:
    """Jump over what counters do between the values that matter: chains, bounds and verdicts without all values."""
    if board.options.engine != ENUMERATING or board.options.bound is not None or board.known.no_chain:
        return
    cells = _cells(board)
    if cells is None:
        return
    claim = Acceleration(dict(cells.starts), 0, 0)
    for kept in KEPT:
        claim = replace(claim, kept=kept)
        chosen = _chosen(board, claim)
        if chosen is None:
            return
        claim, jumps = chosen
        assert jumps.graph is not None
        board.accelerated = claim
        _search(board, jumps.graph, claim)
        if board.settled or board.known.no_chain:
            return
        claim = replace(claim, slow=jumps.slow)


def _cells(board: Board) -> Cells | None:
    """The counters of the system with their cells."""
    problem = board.known.problem
    if any(var.type.bits > WORD for var in problem.system.state) or not candidates(scope_of(problem).system):
        return None
    board.say("accelerate: cells of counters")
    problem = with_value_facts(board)
    limits = board.limits
    prover = Prover(board.engine, limits.for_query, limits.question())
    return find_counters(scope_of(problem).system, seen_by(problem), prover, limits.check)


def _chosen(board: Board, claim: Acceleration) -> tuple[Acceleration, Jumps] | None:
    """The graph of jumps, and ``claim`` with the counters that are jumped over; None where there is none.

    Where not all are, the graph with the fewest nodes is taken: without those that are not, or without another one. A
    timer behind a divider of the step's rate is only jumped over where the values of the divider are walked through.
    """
    jumps = _built(board, claim, inf)
    if jumps is None or jumps.jumped == claim.cells.keys():
        return None if jumps is None else (claim, jumps)
    best: tuple[Acceleration, Jumps] | None = None
    for left_out in ((), *((name,) for name in sorted(jumps.jumped))):
        names, made = claim.cells.keys() - left_out if left_out else jumps.jumped, None
        while names and (made is None or made.jumped != names):
            names = names if made is None else made.jumped
            fewer = replace(claim, cells={name: claim.cells[name] for name in claim.cells if name in names})
            most = inf if best is None or best[1].graph is None else best[1].graph.size - 1
            made = _built(board, fewer, most) if names else None
            if made is None:
                break
            if made.jumped == names:
                best = fewer, made
    return best


def _built(board: Board, claim: Acceleration, most: float) -> Jumps | None:
    """The graph of jumps; None where there are too many inputs, or more than ``most`` nodes."""
    board.say(f"accelerate: jumps of {told(claim.cells)}")
    scope = scope_of(board.problem)
    inputs = Inputs(scope)
    try:
        for work in inputs.prepare():
            board.limits.spend(work / STATES_PER_UNIT)
            board.limits.check()
        if inputs.every is None:
            return None
        jumps = Jumps(board.problem, scope, inputs, claim)
        for work in jumps.advance():
            board.limits.spend(work / STATES_PER_UNIT)
            board.limits.check()
            if jumps.size > most:
                return None
    except TooManyValues:
        return None
    return None if jumps.graph is None else jumps


def _search(board: Board, graph: JumpGraph, claim: Acceleration) -> None:
    """What ``graph`` tells: goals that no chain covers, a bound, and chains."""
    problem = board.problem
    events = Events.of(problem.goals, problem.system)
    number = min(events.number, MOST_EVENTS)
    _offer_nearest(board, graph, (1 << number) - 1)
    ahead = distances(graph, number, runs=False)
    board.limits.spend(sum(map(len, graph.arcs)) * (number + 1) / PER_UNIT)
    board.limits.check()
    if _rule_out(board, graph, claim, ahead):
        return
    search = LightestPath(graph, (1 << number) - 1, ahead)
    for followed in search.advance():
        board.limits.spend(followed / PER_UNIT)
        _prove(board, search, claim)
        board.limits.check()
    if search.finished and search.path is None:
        board.tell(no_chain=f"all jumps of {told(claim.cells)} were searched")
        return
    run = None if search.path is None else graph.run(problem, search.path)
    if run is not None:
        board.offer(run)
    if board.settled:
        return
    runs = ShortestRun(graph, problem, distances(graph, number, runs=True))
    for followed in runs.advance():
        board.limits.spend(followed / PER_UNIT)
        board.limits.check()
    found = None if runs.path is None else graph.run(problem, runs.path)
    if found is not None:
        board.offer(found)


def told(counters: Iterable[str]) -> str:
    """The counters, as text."""
    return ", ".join(f"'{name}'" for name in counters)


def _prove(board: Board, search: LightestPath, claim: Acceleration) -> None:
    lower = int(-(-search.lower // 1))
    if lower > board.known.lower:
        board.prove(acceleration=replace(claim, bound=lower), basis=ACCELERATED)


def _rule_out(board: Board, graph: JumpGraph, claim: Acceleration, ahead: Distances) -> bool:
    """Whether there are goals that no run covers, or that none covers on a way to an end; they get their verdict."""
    happens, reached, todo = graph.begun, {0}, [0]
    while todo:
        for arc in graph.arcs[todo.pop()]:
            happens |= arc.mask
            if arc.target not in reached:
                reached.add(arc.target)
                todo.append(arc.target)
    how = f"all jumps of {told(claim.cells)} were searched"
    gone: dict[str, Reason] = {}
    for goal, numbers in Events.of(board.problem.goals, board.problem.system).of_goal.items():
        known = [event for event in numbers if event < MOST_EVENTS]
        if any(not happens >> event & 1 for event in known):
            gone[goal] = Reason(UNREACHABLE, f"no run covers it: {how}")
        elif any(not graph.begun >> event & 1 and ahead.over[event][0] == inf for event in known):
            gone[goal] = Reason(NO_WAY_TO_FINAL, f"reached, but no run goes on to the final condition: {how}")
    if gone:
        board.rule_out(gone)
    return bool(gone)


def _offer_nearest(board: Board, graph: JumpGraph, wanted: int) -> None:
    """Offer the run that goes to the nearest missing event, again and again, and then to an end."""
    path: list[Arc] = []
    node, mask = 0, graph.begun & wanted
    while True:
        missing = wanted & ~mask
        onward = _nearest(graph, node, missing)
        if onward is None:
            break
        board.limits.spend(sum(map(len, graph.arcs)) / PER_UNIT)
        board.limits.check()
        path += onward
        for arc in onward:
            node, mask = arc.target, mask | arc.mask & wanted
        if not missing:
            break
    if not graph.ends[node]:
        path += _nearest(graph, node, 0) or []
    run = graph.run(board.problem, path)
    if run is not None:
        board.offer(run)


def _nearest(graph: JumpGraph, start: int, missing: int) -> list[Arc] | None:
    """The lightest run from ``start`` to one of the events ``missing`` (none: to an end); None if there is none."""
    best: dict[int, float] = {start: 0}
    before: dict[int, tuple[int, Arc]] = {}
    queue: list[tuple[float, int]] = [(0, start)]
    while queue:
        weight, node = heappop(queue)
        if weight > best[node]:
            continue
        last = before.get(node)
        if graph.ends[node] if not missing else last is not None and last[1].mask & missing:
            return _back(before, start, node)
        for arc in graph.arcs[node]:
            if arc.moves is None:
                continue
            if missing and arc.mask & missing and arc.target == start:
                continue
            if weight + arc.weight < best.get(arc.target, inf):
                best[arc.target] = weight + arc.weight
                before[arc.target] = node, arc
                heappush(queue, (weight + arc.weight, arc.target))
    return None


def _back(before: dict[int, tuple[int, Arc]], start: int, node: int) -> list[Arc]:
    path = []
    while node != start:
        node, arc = before[node]
        path.append(arc)
    return path[::-1]
