"""Search over (state, goals under way, goals covered) on the table: is there a chain shorter than claimed?

Breadth first. A node is left out where no run from it can cover a goal that is left and come to the end soon enough
(the exact distances of one goal at a time tell that), and where a run was in the same state as early with all that this
one has, and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from bmc.records import dataclass
from bmc.system.transition import Valuation
from chaincover.verify.dominance import Dominance
from chaincover.verify.limits import Clock
from chaincover.verify.states import distinct, runs
from chaincover.verify.vectors import WORD, Column
from chaincover.verify.watch import FAR, Watch

BLOCK = 1 << 18
"""Moves that are made at once."""
MOVES_PER_NODE = 50
"""Moves looked at, times the limit of nodes, before the search is given up."""


class Ahead(Protocol):
    """A lower bound on the steps that are still to come."""

    def __call__(self, states: Column, missing: Column) -> Column:
        """The steps from each of ``states`` to an end over the ``missing`` goals, which have a mark in its row."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``length`` is that of the shortest chain, with its ``inputs`` and the ``start`` state; None if there is none.

    ``complete``: whether all runs shorter than asked for were searched, else a limit came first.
    """

    complete: bool
    nodes: int
    length: int | None = None
    start: Valuation | None = None
    inputs: tuple[Valuation, ...] = ()


def search(
    watch: Watch,
    goals: Sequence[str],
    clock: Clock,
    below: int | None = None,
    ahead: Ahead | None = None,
) -> Outcome:
    """The shortest run of fewer than ``below`` steps (None: of any length) that covers ``goals`` and ends as asked.

    ``ahead`` bounds what a run over all of them still takes.
    """
    sweep = _Sweep(watch, goals, clock, len(goals))
    sweep.ahead = ahead
    return _shortest(sweep, watch, below)


def search_some(watch: Watch, goals: Sequence[str], clock: Clock, enough: int) -> Outcome:
    """The shortest run that covers at least ``enough`` of ``goals`` and ends as asked."""
    return _shortest(_Sweep(watch, goals, clock, enough), watch, None)


def _shortest(sweep: _Sweep, watch: Watch, below: int | None) -> Outcome:
    for length, nodes in sweep.layers(below):
        fitting = np.flatnonzero(sweep.over(nodes))
        if len(fitting):
            moves, start = sweep.way(length, int(fitting[0]))
            inputs = tuple(watch.table.inputs.choice(int(watch.table.choice[m])) for m in moves)
            return Outcome(True, sweep.count, length, watch.table.state(start), inputs)
    return Outcome(not sweep.stopped, sweep.count)


def covers(watch: Watch, goals: Sequence[str], clock: Clock) -> dict[frozenset[str], int] | None:
    """Sets of ``goals`` that some run to the end covers, with the least number of steps; None above the limits.

    A set is left out where a larger one takes no more steps.
    """
    sweep = _Sweep(watch, goals, clock, 0)
    least: dict[frozenset[str], int] = {}
    for length, nodes in sweep.layers(None):
        for names in sweep.sets(nodes):
            least.setdefault(names, length)
    return None if sweep.stopped else least


@dataclass(frozen=True)
class _Nodes:
    """``state`` numbers and ``bits`` (words of 64): first those of the goals covered, then those of places under way.

    All places of a goal that is covered count as under way. ``parent`` are places in the layer before, ``move`` led
    from there.
    """

    state: Column
    bits: Column
    parent: Column
    move: Column

    def which(self, kept: Column) -> _Nodes:
        return _Nodes(self.state[kept], self.bits[kept], self.parent[kept], self.move[kept])


def _joined(parts: Sequence[_Nodes]) -> _Nodes:
    return _Nodes(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("state", "bits", "parent", "move")))


class _Sweep:
    """All nodes by the number of steps to them. ``stopped``: a limit came first. So many goals are ``enough``."""

    def __init__(self, watch: Watch, goals: Sequence[str], clock: Clock, enough: int) -> None:
        self.stopped, self.count = False, 0
        self.ahead: Ahead | None = None
        self._watch, self._table, self._goals = watch, watch.table, list(goals)
        self._clock, self._enough = clock, enough
        self._layers: list[_Nodes] = []
        self._tables = _Tables(watch, self._goals)
        self._known = Dominance(watch.table.size, self._tables.words)

    def layers(self, below: int | None) -> Iterator[tuple[int, _Nodes]]:
        """Numbers of steps with the nodes after so many, as long as there are new ones and fewer than ``below``."""
        starts = np.array(self._table.starts, np.int64)
        nothing = np.zeros((len(starts), self._tables.words), np.uint64)
        none = np.full(len(starts), -1, np.int64)
        layer = self._fresh(self._arrived(_Nodes(starts, nothing, none, none), nothing), 0, below)
        length = moved = 0
        while len(layer.state) and (below is None or length < below):
            self._layers.append(layer)
            self.count += len(layer.state)
            yield length, layer
            length += 1
            parts = []
            for block in self._blocks(layer):
                nodes, hits, made = self._stepped(layer, block)
                moved += made
                parts.append(self._pruned(self._arrived(nodes, hits), length, below))
                limits = self._clock.limits
                if self.count > limits.nodes or moved > limits.nodes * MOVES_PER_NODE or self._clock.over:
                    self.stopped = True
                    return
            layer = self._fresh(_joined(parts), length, below)

    def _blocks(self, layer: _Nodes) -> Iterator[Column]:
        """Numbers of nodes, together with about as many moves as may be made at once."""
        counts = np.cumsum(self._tables.first[layer.state + 1] - self._tables.first[layer.state])
        cuts = np.flatnonzero(np.diff(counts // BLOCK)) + 1
        yield from np.split(np.arange(len(layer.state)), cuts)

    def _stepped(self, layer: _Nodes, block: Column) -> tuple[_Nodes, Column, int]:
        """The nodes one move on, but for what the new state brings to its end; the goals that the move did."""
        tables = self._tables
        place, rows, bits, hits = tables.stepped(layer.state[block], layer.bits[block])
        moves = tables.moves[place]
        return _Nodes(self._table.target[moves].astype(np.int64), bits, block[rows], moves), hits, len(place)

    def _arrived(self, nodes: _Nodes, hits: Column) -> _Nodes:
        """The nodes with what is credited in their states. With overlap forbidden it is free which goals are."""
        tables = self._tables
        at_once = tables.here[nodes.state] & ~nodes.bits
        if self._watch.setting.overlap == "allow":
            return _Nodes(nodes.state, tables.closed(nodes.bits | at_once | hits), nodes.parent, nodes.move)
        covered = nodes.bits & tables.covered
        hits = hits & ~covered
        parts = [_Nodes(nodes.state, tables.closed(nodes.bits), nodes.parent, nodes.move)]
        for goal in range(-1, len(self._goals)):
            credited = at_once.copy()
            if goal >= 0:
                word, bit = divmod(goal, WORD)
                own = hits[:, word] & np.uint64(1 << bit)
                credited[:, word] |= own
                chosen = np.flatnonzero(own)
            else:
                chosen = np.flatnonzero(credited.any(axis=1))
            if len(chosen):
                part = nodes.which(chosen)
                bits = tables.closed(covered[chosen] | credited[chosen])
                parts.append(_Nodes(part.state, bits, part.parent, part.move))
        return _joined(parts)

    def _pruned(self, nodes: _Nodes, length: int, below: int | None) -> _Nodes:
        """Those of ``nodes`` that may lead to a chain below the bound, each once."""
        worth = np.ones(len(nodes.state), bool)
        limit = FAR if below is None else min(FAR, below - length)
        worth &= self._watch.to_end[nodes.state] < limit
        if self._enough:
            missing = np.zeros(len(nodes.state), np.int64)
            for number, goal in enumerate(self._goals):
                word, bit = divmod(number, WORD)
                left = np.flatnonzero(worth & (nodes.bits[:, word] >> np.uint64(bit) & np.uint64(1) == 0))
                missing[left] += self._ahead(goal, nodes, left) >= limit
                worth &= missing <= len(self._goals) - self._enough
        nodes = nodes.which(np.flatnonzero(worth))
        if self.ahead is not None and len(nodes.state):
            places = [divmod(number, WORD) for number in range(len(self._goals))]
            marks = [~nodes.bits[:, word] >> np.uint64(bit) & np.uint64(1) for word, bit in places]
            ahead = self.ahead(nodes.state, np.stack(marks, axis=1).astype(np.int64))
            nodes = nodes.which(np.flatnonzero(ahead < limit))
        if not len(nodes.state):
            return nodes
        place, _ = distinct([nodes.state.astype(np.uint64), *nodes.bits.T], len(nodes.state))
        return nodes.which(place)

    def _ahead(self, goal: str, nodes: _Nodes, chosen: Column) -> Column:
        """The least number of steps in which the chosen nodes can cover ``goal`` and go on to the end."""
        state = nodes.state[chosen]
        best = self._watch.remaining[goal][state]
        for place, bit in self._tables.under_way.get(goal, ()):
            word, shift = divmod(bit, WORD)
            under = nodes.bits[chosen, word] >> np.uint64(shift) & np.uint64(1)
            best = np.where(under, np.minimum(best, self._watch.cost[place][state]), best)
        return best

    def _fresh(self, nodes: _Nodes, length: int, below: int | None) -> _Nodes:
        """Those of ``nodes`` that have something which no earlier one in the same state has; these are known then."""
        nodes = self._pruned(nodes, length, below)
        many = np.bitwise_count(nodes.bits).sum(axis=1, dtype=np.int64)
        nodes = nodes.which(np.lexsort((-many, nodes.state)))  # those with more bits come first
        return nodes.which(np.sort(self._known.fresh(nodes.state, nodes.bits)))

    def over(self, nodes: _Nodes) -> Column:
        """Which nodes have covered enough goals and may end."""
        covered = np.bitwise_count(nodes.bits & self._tables.covered).sum(axis=1, dtype=np.int64)
        over: Column = (covered >= self._enough) & self._watch.ends[nodes.state]
        return over

    def sets(self, nodes: _Nodes) -> Iterator[frozenset[str]]:
        """The sets of goals covered by those nodes that may end."""
        chosen = nodes.bits[self._watch.ends[nodes.state]] & self._tables.covered
        for row in np.unique(chosen, axis=0).tolist():
            mask = sum(word << (WORD * place) for place, word in enumerate(row))
            yield frozenset(goal for n, goal in enumerate(self._goals) if mask >> n & 1)

    def way(self, length: int, number: int) -> tuple[list[int], int]:
        """The moves that lead to a node of the last layer, and the state where they begin."""
        moves = []
        for layer in reversed(self._layers[: length + 1]):
            state, move = int(layer.state[number]), int(layer.move[number])
            if move >= 0:
                moves.append(move)
                number = int(layer.parent[number])
        return moves[::-1], state


@dataclass(frozen=True)
class Steps:
    """All steps between nodes, which are states with the places under way, those once that cover the same goals.

    ``state`` is that of each node, the first ones those of the start states. ``hits`` are the goals covered by a step,
    ``here`` those covered in a node by itself: words of 64 bits, one bit for each goal.
    """

    state: Column
    source: Column
    target: Column
    hits: Column
    here: Column


def steps_of(watch: Watch, goals: Sequence[str], clock: Clock) -> Steps | None:
    """All steps from the start states, with what they cover of ``goals``; None above the limits."""
    tables, table = _Tables(watch, goals), watch.table
    numbers: dict[bytes, int] = {}
    rows: list[Column] = []
    made: list[tuple[Column, Column, Column]] = []
    _numbered(numbers, rows, np.array(table.starts, np.int64), np.zeros((len(table.starts), tables.words), np.uint64))
    done = 0
    while done < len(rows):
        layer = np.arange(done, min(len(rows), done + 4096))
        nodes = np.array(rows[done : done + 4096], np.uint64)
        done += len(layer)
        place, parent, bits, hits = tables.stepped(nodes[:, 0].astype(np.int64), nodes[:, 1:])
        target = _numbered(numbers, rows, table.target[tables.moves[place]].astype(np.int64), bits)
        made.append((layer[parent], target, hits))
        if len(rows) > clock.limits.nodes or clock.over:
            return None
    source, targets, hits = (np.concatenate(columns) for columns in zip(*made, strict=True))
    state = np.array(rows, np.uint64)[:, 0].astype(np.int64)
    return Steps(state, source, targets, hits, tables.here[state])


MOST_SETS = 20_000
"""Sets of goals that are carried through the components."""


def too_few(watch: Watch, goals: Sequence[str], clock: Clock, enough: int) -> int | None:
    """The number of strongly connected components of all steps, if no run to an end through them covers ``enough``
    goals.

    A run can go round in a component until it has all of it, and never comes back to one. None if a run may cover so
    many, where goals must not share steps, and above the limits.
    """
    steps = steps_of(watch, goals, clock) if watch.setting.overlap == "allow" else None
    if steps is None:
        return None
    import networkx as nx  # here, for most files need it not

    graph = nx.DiGraph(zip(steps.source.tolist(), steps.target.tolist(), strict=True))
    graph.add_nodes_from(range(len(steps.state)))
    whole = nx.condensation(graph)
    component = [whole.graph["mapping"][node] for node in range(len(steps.state))]
    inside, ends, between = [0] * len(whole), set[int](), dict[tuple[int, int], set[int]]()
    for node, (goals_here, over) in enumerate(zip(_masks(steps.here), watch.ends[steps.state].tolist(), strict=True)):
        inside[component[node]] |= goals_here
        if over:
            ends.add(component[node])
    for source, target, hits in zip(steps.source.tolist(), steps.target.tolist(), _masks(steps.hits), strict=True):
        here, after = component[source], component[target]
        if here == after:
            inside[here] |= hits
        else:
            between.setdefault((here, after), set()).add(hits)
    order = list(nx.topological_sort(whole))
    before = [0] * len(whole)
    for here in order:
        for after in whole.successors(here):
            before[after] |= before[here] | inside[here]
            for hits in between[here, after]:
                before[after] |= hits
    onward: dict[int, list[int]] = {}
    carried = 0
    for here in reversed(order):
        sets = {inside[here]} if here in ends else set()
        for after in whole.successors(here):
            sets |= {inside[here] | hits | later for hits in between[here, after] for later in onward[after]}
        kept = list[int]()
        for mask in sorted(sets, key=int.bit_count, reverse=True):
            if (mask | before[here]).bit_count() >= enough and all(mask & ~other for other in kept):
                kept.append(mask)
        onward[here], carried = kept, carried + len(sets)
        if carried > MOST_SETS or clock.over:
            return None
    starts = {component[node] for node in range(len(watch.table.starts))}
    found = any(mask.bit_count() >= enough for start in starts for mask in onward[start])
    return None if found else len(whole)


def _masks(rows: Column) -> Iterator[int]:
    """Each row of words as one number."""
    for row in rows.tolist():
        yield sum(word << (WORD * place) for place, word in enumerate(row))


def _numbered(numbers: dict[bytes, int], rows: list[Column], states: Column, bits: Column) -> Column:
    """The number of each node, given by its state and the places under way; new ones are appended to ``rows``."""
    keys = np.concatenate([states[:, None].astype(np.uint64), bits], axis=1)
    different, place = np.unique(keys, axis=0, return_inverse=True)
    first = np.full(len(different), len(keys))
    np.minimum.at(first, place.reshape(-1), np.arange(len(keys)))
    found = np.zeros(len(different), np.int64)
    for which in np.argsort(first).tolist():  # in the order in which they come
        key = different[which].tobytes()
        if key not in numbers:
            numbers[key] = len(rows)
            rows.append(different[which])
        found[which] = numbers[key]
    return found[place.reshape(-1)]


class _Tables:
    """What each move does to the bits of a node: moves that do the same are one, with ``moves`` as an example.

    ``first`` is the place of the first of them for each state. ``hits`` are the goals of one step that a move covers,
    ``opens`` the places that it leads to from the start of a goal, ``here`` the goals that a state covers by itself.
    ``ways``: a bit of a place under way, a mark for each move, and the bit of what it leads to: a place or (True) a
    goal.
    """

    def __init__(self, watch: Watch, goals: Sequence[str]) -> None:
        table = watch.table
        bits: dict[int, int] = {}
        chosen = set(goals)
        starts = {watch.start[goal] for goal in goals}
        for number, place in enumerate(watch.places):
            if place.goal in chosen and place.left and number not in starts:
                bits[number] = len(goals) + len(bits)
        self.words = -(-(len(goals) + len(bits)) // WORD) or 1
        self.covered = _mask(range(len(goals)), self.words)
        self.under_way: dict[str, list[tuple[int, int]]] = {}
        for under, bit in bits.items():
            self.under_way.setdefault(watch.places[under].goal, []).append((under, bit))
        self._own = [_mask([b for _, b in self.under_way.get(goal, ())], self.words) for goal in goals]
        here = np.zeros((table.size, self.words), np.uint64)
        hits, opens = (np.zeros((table.steps, self.words), np.uint64) for _ in range(2))
        ways: list[tuple[int, Column, int, bool]] = []
        for goal_bit, goal in enumerate(goals):
            start = watch.start[goal]
            own = watch.last[start]
            if own is not None:
                _mark(here, goal_bit, own)
            for now in (start, *(p for p, _ in self.under_way.get(goal, ()))):
                for target, marked in watch.moves[now]:
                    ended = watch.last[target]
                    marked = marked if ended is None else marked & ended[table.target]
                    to = goal_bit if ended is not None else bits[target]
                    if now == start:
                        _mark(opens if ended is None else hits, to, marked)
                    elif marked.any():
                        ways.append((bits[now], marked, to, ended is not None))
        words = [*hits.T, *opens.T, *(marked for _, marked, _, _ in ways)]
        example, _ = distinct([table.source, table.target, *words], table.steps)
        self.moves = np.sort(example)
        self.first = np.searchsorted(table.source[self.moves], np.arange(table.size + 1))
        self.hits, self.opens, self.here = hits[self.moves], opens[self.moves], here
        self.ways = [(bit, marked[self.moves].astype(np.uint64), to, is_hit) for bit, marked, to, is_hit in ways]

    def stepped(self, states: Column, bits: Column) -> tuple[Column, Column, Column, Column]:
        """All moves from ``states`` with ``bits``: their places, the rows of ``states`` that they leave, the bits after
        them but for what the new state brings to its end, and the goals that they do."""
        first, last = self.first[states], self.first[states + 1]
        rows = np.repeat(np.arange(len(states)), last - first)
        place = runs(first, last)
        before = bits[rows]
        after = before & self.covered | self.opens[place]
        hits = self.hits[place]
        for bit, marked, target, is_hit in self.ways:
            word, shift = divmod(bit, WORD)
            here = (before[:, word] >> np.uint64(shift)) & marked[place]
            goal_word, goal_shift = divmod(target, WORD)
            (hits if is_hit else after)[:, goal_word] |= here << np.uint64(goal_shift)
        return place, rows, after, hits

    def closed(self, bits: Column) -> Column:
        """``bits`` with all places of the goals that are covered."""
        for goal, own in enumerate(self._own):
            if own.any():
                word, bit = divmod(goal, WORD)
                bits = np.where((bits[:, word] >> np.uint64(bit) & np.uint64(1))[:, None] == 1, bits | own, bits)
        return bits


def _mask(bits: Sequence[int] | range, words: int) -> Column:
    whole = sum(1 << bit for bit in bits)
    return np.array([whole >> (WORD * n) & (1 << WORD) - 1 for n in range(words)], np.uint64)


def _mark(rows: Column, bit: int, marked: Column) -> None:
    word, shift = divmod(bit, WORD)
    rows[:, word] |= marked.astype(np.uint64) << np.uint64(shift)
