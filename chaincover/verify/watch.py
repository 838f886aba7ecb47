"""Goals watched along the moves of a table: what is left of each antecedent after a step, and distances to goals.

A *place* is a goal that started some steps ago and what it still asks for. A move leads from a place to another one, or
nowhere where it breaks what was asked of it. In its last place a goal asks something of the state alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, Bool

from bmc.formulas.unroll import plain, shift, unframed
from bmc.records import dataclass
from bmc.system.transition import conjunction, conjuncts, symbols_of
from chaincover.verify.inputs import largest_terms
from chaincover.verify.setting import Setting
from chaincover.verify.states import Table, runs
from chaincover.verify.vectors import Column

FAR = 1 << 30
"""The distance to what cannot be reached."""

Under = frozenset[int]
"""Places, all of which have to come to their end."""


@dataclass(frozen=True, slots=True)
class Place:
    """``goal`` has still ``left`` steps to go, and asks ``rest`` (framed, from now on) of them."""

    goal: str
    left: int
    rest: FNode


class Watch:
    """All places of the goals of a setting, with what each move of the table makes of them."""

    def __init__(self, table: Table, setting: Setting, goals: Sequence[str]) -> None:
        self.table, self.setting = table, setting
        self.places: list[Place] = []
        self.moves: list[list[tuple[int, Column]]] = []
        """For each place (but last ones) the places that follow, each with a mark for every move that leads there."""
        self.last: list[Column | None] = []
        """For each last place a mark for every state in which it comes to its end; None for others."""
        self._numbers: dict[Place, int] = {}
        self._where: dict[int, Column] = {}
        """For each place the states in which it can be under way; all, where no value is open."""
        self._possible: dict[Under, Column] = {}
        self.ends = self._ends()
        """For each state whether a chain may end there."""
        self.start = {name: self._place(name, setting.length(name), setting.by_name[name].antecedent) for name in goals}
        self._where.update((number, np.ones(table.size, bool)) for number in self.start.values())
        done = 0
        while done < len(self.places):
            self._follow(self.places[done], self._where[done])
            for target, marked in self.moves[done]:
                there = self._where.setdefault(target, np.full(table.size, not table.open_at))
                there[table.target[marked]] = True
            done += 1

    def _place(self, goal: str, left: int, rest: FNode) -> int:
        place = Place(goal, left, rest)
        if place not in self._numbers:
            self._numbers[place] = len(self.places)
            self.places.append(place)
        return self._numbers[place]

    def _follow(self, place: Place, where: Column) -> None:
        """Compute what the moves make of a place that can be under way in the states marked in ``where``."""
        if not place.left:
            self.moves.append([])
            self.last.append(self.table.holds(_now(place.rest), where) & where)
            return
        self.last.append(None)
        own: list[FNode] = []
        later: list[FNode] = []
        mixed: list[FNode] = []
        for part in conjuncts(place.rest):
            steps = {unframed(symbol)[1] for symbol in symbols_of(part)}
            (own if steps <= {0} else mixed if 0 in steps else later).append(part)
        here = where[self.table.source]
        fine = self.table.on_moves([_now(conjunction(own))], here)[0] & here
        rest = shift(conjunction(later), -1)
        if not mixed:
            self.moves.append([(self._place(place.goal, place.left - 1, rest), fine)])
            return
        joint = conjunction(mixed)
        terms = largest_terms([joint], lambda s: 0 if unframed(s)[1] == 0 else None)
        seen = self.table.on_moves([_now(term) for term in terms], fine)
        follow: dict[int, Column] = {}
        for values, marked in _alike(seen, fine):
            given = {term: _constant(term, value) for term, value in zip(terms, values, strict=True)}
            asked = joint.substitute(given).simplify()
            if not asked.is_false():
                target = self._place(place.goal, place.left - 1, conjunction([shift(asked, -1), rest]))
                follow[target] = follow[target] | marked if target in follow else marked
        self.moves.append(list(follow.items()))

    # what can come to its end

    def possible(self, under: Under) -> Column:
        """For each state whether some run from it brings all places of ``under`` to their end."""
        if under not in self._possible:
            found = np.ones(self.table.size, bool)
            for place in under:
                mark = self.last[place]
                if mark is not None:
                    found = found & mark
            rest = frozenset(place for place in under if self.places[place].left)
            if rest:
                ahead = np.zeros(self.table.size, bool)
                for following, marked in self.ways(rest):
                    fine = marked & self.possible(following)[self.table.target]
                    ahead[self.table.source[fine]] = True
                found = found & ahead
            self._possible[under] = found
        return self._possible[under]

    def ways(self, under: Under, moves: Column | slice = slice(None)) -> Iterator[tuple[Under, Column]]:
        """What ``under`` (no last places) becomes, with a mark for every one of ``moves`` that leads there."""
        ways: dict[Under, Column] = {frozenset(): np.ones(len(self.table.source[moves]), bool)}
        for place in sorted(under):
            more: dict[Under, Column] = {}
            for after, marked in ways.items():
                for target, fine in self.moves[place]:
                    both = marked & fine[moves]
                    if both.any():
                        key = after | {target}
                        more[key] = more[key] | both if key in more else both
            ways = more
        yield from ways.items()

    def ended(self, under: Under, states: Column) -> tuple[Under, Column]:
        """``under`` without the last places, and which of the marked ``states`` bring those to their end."""
        for place in under:
            mark = self.last[place]
            if mark is not None:
                states = states & mark
        return frozenset(place for place in under if self.last[place] is None), states

    def after(self, goal: str) -> Column:
        """For each state whether a run that covers all of ``goal`` can have brought the system there."""
        here = {frozenset([self.start[goal]]): np.ones(self.table.size, bool)}
        for _ in range(self.setting.length(goal)):
            here = self.step(here)
        found = np.zeros(self.table.size, bool)
        for under, states in here.items():
            found |= self.ended(under, states)[1]
        return found

    def step(self, here: dict[Under, Column]) -> dict[Under, Column]:
        """One step on from each of the marked states."""
        later: dict[Under, Column] = {}
        for under, states in here.items():
            moves = self.table.leaving(states)
            for following, marked in self.ways(under, moves):
                target = self.table.target[moves[marked]]
                if len(target):
                    after = later.setdefault(following, np.zeros(self.table.size, bool))
                    after[target] = True
        return later

    # distances

    def _ends(self) -> Column:
        final = self.setting.final
        return np.ones(self.table.size, bool) if final is None else self.table.holds(final)

    @cached_property
    def to_end(self) -> Column:
        """For each state the least number of steps to one in which a chain may end."""
        return distances(self.table, [self.ends])[0]

    @cached_property
    def to_start(self) -> dict[str, Column]:
        """For each goal, and each state, the least number of steps to a state from which a run covers it."""
        names = list(self.start)
        marked = [self.possible(frozenset([self.start[name]])) for name in names]
        return dict(zip(names, distances(self.table, marked), strict=True))

    @cached_property
    def cost(self) -> list[Column]:
        """For each place, and each state, the least number of steps in which it comes to its end, and on to the end."""
        found: list[Column] = [np.zeros(0)] * len(self.places)
        for number in sorted(range(len(self.places)), key=lambda n: self.places[n].left):
            mark = self.last[number]
            if mark is not None:
                found[number] = np.where(mark, self.to_end, FAR)
                continue
            best = np.full(self.table.size, FAR, np.int64)
            for target, marked in self.moves[number]:
                np.minimum.at(best, self.table.source[marked], found[target][self.table.target[marked]] + 1)
            found[number] = np.minimum(best, FAR)
        return found

    @cached_property
    def remaining(self) -> dict[str, Column]:
        """For each goal, and each state, the least number of steps in which a run covers it and goes on to the end."""
        names = list(self.start)
        return dict(zip(names, spread(self.table, [self.cost[self.start[name]] for name in names]), strict=True))


def distances(table: Table, targets: Sequence[Column]) -> list[Column]:
    """For each of ``targets`` (marked states) the least number of steps from every state to it."""
    return spread(table, [np.where(marked, 0, FAR) for marked in targets])


def spread(table: Table, costs: Sequence[Column]) -> list[Column]:
    """For each of ``costs`` (of stopping in a state) the least number of steps to a state and its cost together.

    All at once, backwards in layers: a layer holds pairs of one of ``costs`` and a state.
    """
    size = table.size
    best = np.stack(costs).astype(np.int64).ravel() if costs else np.zeros(0, np.int64)
    sources, first = table.backwards
    order = np.argsort(best, kind="stable")
    order = order[best[order] < FAR]
    waiting, taken, depth = best[order], 0, 0
    front = np.zeros(0, np.int64)
    while taken < len(order) or len(front):
        if not len(front):
            depth = int(waiting[taken])
        until = int(np.searchsorted(waiting, depth, "right"))
        fresh = order[taken:until]
        taken = until
        front = np.concatenate([front, fresh[best[fresh] == depth]])
        state = front % size
        counts = first[state + 1] - first[state]
        before = np.repeat(front - state, counts) + sources[runs(first[state], first[state + 1])]
        front = np.sort(before[best[before] > depth + 1])
        front = front[np.diff(front, prepend=-1) > 0]  # np.unique, by a hash table, is slow where they are many
        depth += 1
        best[front] = depth
    return list(best.reshape(len(costs), size))


def _now(formula: FNode) -> FNode:
    """A formula over symbols of this step, over plain ones."""
    return formula.substitute({symbol: plain(symbol) for symbol in symbols_of(formula)})


def _constant(term: FNode, value: int) -> FNode:
    return Bool(bool(value)) if term.get_type().is_bool_type() else BV(value, int(term.bv_width()))


def _alike(columns: Sequence[Column], fine: Column) -> Iterator[tuple[tuple[int, ...], Column]]:
    """The different rows of values among the moves marked ``fine``, each with a mark for the moves that have it."""
    chosen = np.flatnonzero(fine)
    rows: dict[tuple[int, ...], list[int]] = {}
    values = zip(*([int(v) for v in part[chosen].tolist()] for part in columns), strict=True)
    for move, row in zip(chosen.tolist(), values, strict=True):
        rows.setdefault(row, []).append(move)
    for row, moves in rows.items():
        marked = np.zeros(len(fine), bool)
        marked[moves] = True
        yield row, marked
