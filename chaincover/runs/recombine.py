"""Shorter chains from parts of known runs, joined in other orders: a cyclic best-first search by simulation alone.

A node of the search is a state with the goals covered on the way to it. It goes on by the last parts of known ways to
each missing goal, of 1, 2, 4 and more steps, and from states that are most like it; then steps of the part that led to
a node are left out (``chaincover.runs.cuts``). The nodes of as many goals are a layer. The best node of each layer goes
on (G. K. Kao, E. C. Sewell, S. H. Jacobson: A branch, bound, and remember algorithm for the 1|r_i|Σt_i scheduling
problem, 2009): that with the fewest steps so far and, for its missing goals, in the best chain.

A goal that has a test, but is not covered by the best chain, is joined to it first (``chaincover.runs.joining``).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from bmc.evaluation.vectors import Column
from bmc.explicit.batch import NEVER
from bmc.system.transition import Run
from chaincover.chain import Chain
from chaincover.known import Board, Lead
from chaincover.runs.budget import Share
from chaincover.runs.cuts import WORTH, Cuts, Part, in_reach, worth
from chaincover.runs.side_by_side import SideBySide, Start, Way
from chaincover.weights import FINAL

ALIKE = 3
"""Nodes of the same goals that go on. With twice as many, other orders of goals are tried later."""

KNOWN = 7
"""Ways to a goal whose last parts are tried. With twice as many, a node goes on in twice as many ways."""

FIRST = 3
"""The place of the first known way to a goal that another one may take the place of: before it are the shortest test,
with and without steps that it does not need, and that of the chain."""

LIKE = 4
"""Steps of a way before which its states are most like that of a node: from there it is tried. With twice as many, a
node goes on in more ways."""

DETOUR = 2, 16
"""Times the steps of the shortest way to a goal, and steps besides, that a part of another one has at most. With twice
as many, goals are met from more states, and ways that lead nowhere are followed for twice as long."""

FOLLOWED = 2048
"""Ways that are followed side by side. With twice as many, worse nodes go on beside the best ones."""

NODES = 1 << 14
"""Nodes after which the search is over. With twice as many, it takes twice the memory."""

PATIENCE = 2.0
"""Units of work without a shorter chain after which the search is over, besides twice as many as led to the last one.
With twice as many, bounds of small programs come later."""

COARSE = 4
"""Where less than one step in so many was left out of the chain that is there at first, its parts come next. With twice
as many, it is somewhat shorter sooner, and other orders of its goals are tried later."""

SHORT = 64
"""Steps of a short way. Ways of up to twice, four times and so on as many have as much work each. With twice as many,
more work goes into long ways."""


class Node(NamedTuple):
    """Where a run of ``steps`` steps leads, the last ones from the node ``parent`` on by ``way``."""

    start: Start
    steps: int
    parent: int
    way: Way

    @property
    def key(self) -> bytes:
        """Which goals are covered."""
        return self.start.covered.tobytes()


class _Cut(NamedTuple):
    """Work: to leave out steps of ``part``, which led to ``node``."""

    node: int
    part: Part

    @property
    def way(self) -> Way:
        """The steps of the part."""
        return self.part.way


class Onward(NamedTuple):
    """Work: to follow ``way`` from ``node`` on."""

    node: int
    way: Way


class Recombination:
    """One search from the start of the best ``chain``, for the goals that it covers; repeatable.

    ``lengths`` has for each goal the steps of a test of which no more steps were left out, and is added to. Where it is
    ``ample``, it has the work of ``share``.
    """

    def __init__(self, board: Board, lengths: dict[str, int], share: Share, ample: bool) -> None:
        self._board, self._limits = board, board.limits
        chain = board.known.chain
        assert chain is not None
        self.chain, self._length = chain, self._most(chain)
        self._problem = problem = board.known.problem.of(self._goals(chain))
        ample = ample and not board.known.graph.exact
        self._ways = SideBySide(problem, self._limits, share.check if ample else self._limits.check)
        self._cuts = Cuts(self._ways)
        self._names = [goal.name for goal in problem.targets]
        self._known: list[list[Way]] = [[] for _ in self._names]
        self._nodes: list[Node] = []
        self._best: dict[bytes, list[int]] = {}
        self._layers: list[list[tuple[int, int]]] = [[] for _ in range(len(self._names) + 1)]
        self._waiting: dict[tuple[type, int], list[_Cut | Onward]] = {}
        self._spent: dict[tuple[type, int], float] = {}
        self._turn = 0
        self._lead: Lead | None = None
        self._rest = np.zeros(len(self._names), np.int64)
        state = {var.name: chain.run.states[0][var.name] for var in problem.system.state}
        self._start = Start(state, np.array([self._ends.get(name) == 0 for name in self._names], bool))
        self._every, begun = np.full(len(self._names), True), self._limits.spent
        if ample:
            share.begin()
        for place, test in self._tests():
            self._known[place].append(self._ways.note(test))
        self._prepare(lengths)
        self._begun, self._improved = begun, self._limits.spent
        self._add(Node(self._start, 0, 0, np.zeros(0, np.int64)))
        self._onward(0)
        self._take_lead()

    def _goals(self, chain: Chain) -> Set[str]:
        """The goals of the search, where ``chain`` is the best one."""
        return chain.goals & {*self._board.known.targets}

    def _most(self, chain: Chain) -> int:
        """The steps that a chain has fewer of which is sought, where ``chain`` is the best one."""
        return chain.length

    def _prepare(self, lengths: dict[str, int]) -> None:
        """Leave out steps of the chain and of tests, and note what is left."""
        self._cut_chain(Part(self._start, self._ways.note(self.chain.run), self._every, self._start), COARSE)
        self._look_at_tests(lengths)
        self._look_at_chain()

    def _take_lead(self) -> None:
        """Note the best run of the board through some goals: its parts, and the states in which it covers them."""
        lead = self._board.lead
        if lead is None or lead is self._lead or not self._start.state.items() <= lead.run.states[0].items():
            return
        self._lead = lead
        way = self._ways.note(lead.run)
        met = self._ways.follow([self._start], [way], self._every[:, None])
        for place in np.argsort(met.steps, kind="stable").tolist():
            steps, end = int(met.steps[place]), met.end(place)
            for goal in np.flatnonzero(met.first[:, 0] == steps).tolist():
                self._known[goal].insert(FIRST, way[:steps])
                del self._known[goal][KNOWN:]
            if self._add(Node(end, steps, 0, way[:steps])):
                self._settle(len(self._nodes) - 1, Part(self._start, way[:steps], end.covered, end))

    @property
    def _ends(self) -> dict[str, int]:
        """The steps after which the chain has covered each goal."""
        names, over = self._problem.by_name, self._problem.over
        ends = {hit.goal: over(hit.goal, hit.step) for hit in self.chain.hits if hit.goal in names}
        return ends if self._problem.final is None else {**ends, FINAL: self.chain.length}

    def _cut_chain(self, part: Part, each: int) -> None:
        """Leave out steps of a chain, and offer what is left each time, as long as that is one in ``each``."""
        while True:
            (shorter,) = self._cuts.once([part])
            if len(shorter.way) < len(part.way) and self._board.offer(self._ways.run(self._start, shorter.way)):
                self._improved = self._limits.spent
            if not worth(part, shorter, each):
                return
            part = shorter

    def _tests(self) -> list[tuple[int, Run]]:
        """The shortest known run to each goal, by its place, from where the chain begins."""
        seen = ((place, self._board.known.seen.get(name)) for place, name in enumerate(self._names))
        start = self._start.state.items()
        return [(place, run) for place, run in seen if run and run.length and start <= run.states[0].items()]

    def _look_at_tests(self, lengths: dict[str, int]) -> None:
        """Note the shortest run to each goal, without steps that it does not need."""
        tests = []
        for place, test in self._tests():
            needed = np.arange(len(self._names)) == place
            tests.append(Part(self._start, self._ways.note(test), needed, self._start))
        names = [self._names[int(part.needed.argmax())] for part in tests]
        fresh = [len(part.way) < lengths.get(name, NEVER) for name, part in zip(names, tests, strict=True)]
        shorter = iter(self._cuts.shortest([part for part, new in zip(tests, fresh, strict=True) if new]))
        for name, part, new in zip(names, tests, fresh, strict=True):
            best = next(shorter) if new else part
            lengths[name] = min(len(best.way), lengths.get(name, NEVER))
            self._known[self._names.index(name)].insert(0, best.way)
            if len(best.way) < len(part.way):
                self._board.offer(self._ways.run(self._start, best.way))

    def _look_at_chain(self) -> bool:
        """Note the best chain, where it is another one; whether it covers the same goals."""
        chain = self._board.known.chain
        if chain is None or {*self._problem.names} != self._goals(chain):
            return False
        if self._rest.any() and chain is self.chain:
            return True
        self.chain, self._length, before = chain, self._most(chain), 0
        whole = self._ways.note(chain.run)
        for name, end in sorted(self._ends.items(), key=lambda each: each[1]):
            place = self._names.index(name)
            self._rest[place], before = end - before, end
            if end:
                known = self._known[place]
                self._known[place] = [*known[: FIRST - 1], whole[:end], *known[FIRST:]]
        self._layers = [[(self._worth(self._nodes[n]), n) for _, n in layer] for layer in self._layers]
        for layer in self._layers:
            heapify(layer)
        return True

    def _learn(self, place: int, way: Way) -> None:
        """Note a way to the goal at ``place``, in the place of the longest one if there are enough."""
        ways = self._known[place]
        if len(ways) < KNOWN:
            ways.append(way)
            return
        longest = max(range(FIRST, KNOWN), key=lambda number: len(ways[number]))
        if len(way) < len(ways[longest]):
            ways[longest] = way

    def _worth(self, node: Node) -> int:
        """The steps of a chain by ``node``, if its missing goals take as many as in the best chain."""
        return node.steps + int(self._rest[~node.start.covered].sum())

    def _is_better(self, key: bytes, steps: int) -> bool:
        alike = self._best.get(key, [])
        return steps < self._length and steps not in alike and (len(alike) < ALIKE or steps < alike[-1])

    def _goes_on(self, number: int) -> bool:
        node = self._nodes[number]
        return node.steps < self._length and node.steps in self._best[node.key]

    def _add(self, node: Node) -> bool:
        """Take a node that is better than others of the same goals; whether it is."""
        if not self._is_better(node.key, node.steps):
            return False
        self._best[node.key] = sorted([*self._best.get(node.key, []), node.steps])[:ALIKE]
        self._nodes.append(node)
        return True

    def go_on(self) -> bool:
        """Let the best node of each layer go on; whether there may be shorter chains."""
        self._take_lead()
        idle = self._limits.spent - self._improved
        if not self._look_at_chain() or idle > PATIENCE + 2 * (self._improved - self._begun):
            return False
        if len(self._nodes) >= NODES:
            return False
        for _ in self._layers:
            if sum(map(len, self._waiting.values())) >= FOLLOWED:
                break
            self._turn = (self._turn + 1) % len(self._layers)
            layer = self._layers[self._turn]
            while layer:
                _, number = heappop(layer)
                if self._goes_on(number):
                    self._onward(number)
                    break
        if not self._waiting:
            return any(self._layers)
        kind = min(self._waiting, key=lambda each: self._spent.get(each, 0.0))
        before = self._limits.spent
        self._work(kind)
        self._spent[kind] = self._spent.get(kind, 0.0) + self._limits.spent - before
        return True

    def _wait(self, work: _Cut | Onward) -> None:
        """Note what is to be done, with other work on ways of about as many steps."""
        kind = type(work), (max(0, len(work.way) - 1) // SHORT).bit_length()
        self._waiting.setdefault(kind, []).append(work)

    def _work(self, kind: tuple[type, int]) -> None:
        """Do the best of what waits and is of that kind."""
        waiting = [work for work in self._waiting.pop(kind) if self._goes_on(work.node)]
        waiting.sort(key=lambda work: self._worth(self._nodes[work.node]))
        most = in_reach([work.way for work in waiting]) if kind[0] is _Cut else FOLLOWED
        if waiting[most:]:
            self._waiting[kind] = waiting[most:]
        if not waiting:
            return
        if kind[0] is _Cut:
            self._cut([work for work in waiting[:most] if isinstance(work, _Cut)])
        else:
            self._follow([work for work in waiting[:most] if isinstance(work, Onward)])

    def _cut(self, works: Sequence[_Cut]) -> None:
        """Leave out steps of the parts that led to nodes, which go on where no more can be."""
        for work, part in zip(works, self._cuts.once([work.part for work in works]), strict=True):
            number, further = work.node, worth(work.part, part)
            if len(part.way) < len(work.way):
                node = self._nodes[number]
                if node.steps in self._best[node.key]:
                    self._best[node.key].remove(node.steps)
                made = Node(part.end, node.steps - len(work.way) + len(part.way), node.parent, part.way)
                if not self._add(made):
                    continue
                number = len(self._nodes) - 1
            if further:
                self._wait(_Cut(number, part))
            else:
                self._settle(number, part)

    def _settle(self, number: int, part: Part) -> None:
        """Let a node go on in its layer, or offer the chain that it ends."""
        node = self._nodes[number]
        for place in np.flatnonzero(part.needed).tolist():
            self._learn(place, part.way)
        if node.start.covered.all():
            self._finish(number)
        else:
            self._push(number)

    def _push(self, number: int) -> None:
        """Let a node go on in its layer."""
        node = self._nodes[number]
        heappush(self._layers[int(node.start.covered.sum())], (self._worth(node), number))

    def _follow(self, works: Sequence[Onward]) -> None:
        """Follow ways from nodes to others."""
        starts, ways = [self._nodes[work.node].start for work in works], [work.way for work in works]
        met = self._ways.follow(starts, ways, np.stack([self._sought(start.covered) for start in starts], axis=1))
        before = np.array([self._nodes[work.node].steps for work in works])
        for place in np.argsort(before[met.columns] + met.steps, kind="stable").tolist():
            work, steps = works[int(met.columns[place])], int(met.steps[place])
            own, covers = self._nodes[work.node], met.first[:, met.columns[place]] <= steps
            if self._is_better(covers.tobytes(), own.steps + steps):
                self._add(Node(met.end(place), own.steps + steps, work.node, work.way[:steps]))
                self._arrive(len(self._nodes) - 1)

    def _sought(self, covered: Column) -> Column:
        """The goals that a node goes on to which has ``covered`` some, and without which no way from it ends."""
        return np.full(len(covered), True)

    def _arrive(self, number: int) -> None:
        """Offer the chain that ends with a new node, or let steps be left out on the way to it."""
        node = self._nodes[number]
        before = self._nodes[node.parent].start
        if node.start.covered.all():
            self._finish(number)
        else:
            self._wait(_Cut(number, Part(before, node.way, node.start.covered & ~before.covered, node.start)))

    def _finish(self, number: int) -> None:
        """Offer the chain that ends with a node, then without steps that it does not need."""
        self._cut_chain(Part(self._start, self._offer(number), self._every, self._start), WORTH)
        self._look_at_chain()

    def _offer(self, number: int) -> Way:
        """Offer the chain that ends with a node; its way."""
        ways = []
        while number:
            ways.append(self._nodes[number].way)
            number = self._nodes[number].parent
        way = np.concatenate(ways[::-1])
        if self._board.offer(self._ways.run(self._start, way)):
            self._improved = self._limits.spent
        return way

    def _longest(self, place: int) -> int:
        """The steps of parts of known ways to the goal at ``place``, at most."""
        times, more = DETOUR
        return times * min(map(len, self._known[place])) + more

    def _onward(self, number: int) -> None:
        """Let a node go on by the last parts of known ways to each goal that is missing, short ones first."""
        node, parts = self._nodes[number], dict[bytes, Way]()
        state = {name: np.array([value]) for name, value in node.start.state.items()}
        missing = np.flatnonzero(self._sought(node.start.covered) & ~node.start.covered).tolist()
        for place in missing:
            if (self._names[place] == FINAL and len(missing) > 1) or not self._known[place]:
                continue
            most = min(self._length - node.steps, self._longest(place))
            for way in self._known[place]:
                alike = _nearest(self._ways.apart(way, state)[0][::-1]) + 1
                lasts = {len(way), *(1 << k for k in range(len(way).bit_length())), *alike.tolist()}
                for last in sorted(each for each in lasts if each < most):
                    part = way[len(way) - last :]
                    parts[part.tobytes()] = part
        for part in sorted(parts.values(), key=len)[:FOLLOWED]:
            self._wait(Onward(number, part))


def _nearest(apart: Column) -> Column:
    """The places of the least of the values that are no greater than those beside them."""
    least = np.flatnonzero((apart <= np.r_[np.inf, apart[:-1]]) & (apart < np.r_[apart[1:], np.inf]))
    found: Column = least[np.argsort(apart[least], kind="stable")[:LIKE]]
    return found
