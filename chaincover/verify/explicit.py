"""Bounds on edges and sub-paths, checked on the table of all reachable states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import PathFact
from chaincover.verify.setting import Setting
from chaincover.verify.states import Table
from chaincover.verify.vectors import Column
from chaincover.verify.watch import FAR, Under, Watch
from chaincover.weights import INIT

Control = tuple[int, int, Under]
"""Along a path: the node that started last, the steps before which the next one must not start, what is under way."""


@dataclass(frozen=True)
class ExplicitFacts:
    """Answers about the facts of a certificate from all reachable states."""

    watch: Watch
    _after: dict[str, Column] = field(default_factory=dict)

    @property
    def setting(self) -> Setting:
        """What the facts speak about."""
        return self.watch.setting

    @property
    def table(self) -> Table:
        """All reachable states."""
        return self.watch.table

    def holds(self, fact: PathFact) -> bool:
        """Whether no run from a reachable state breaks ``fact``."""
        if len(fact.path) == 2:
            return self._distance(*fact.path, fact.at_least) >= fact.at_least
        return next(_Along(self, fact).arrivals(), None) is None

    def against(self, fact: PathFact) -> tuple[int, Run]:
        """A run that breaks ``fact``, and the step at which its last node comes."""
        return _Along(self, fact).witness()

    def _distance(self, source: str, target: str, enough: int) -> int:
        """The least step at which ``target`` follows ``source``, or any number from ``enough`` on."""
        length = self.setting.length(source)
        if target != self.setting.end and self.setting.overlap == "allow":
            for later in range(min(length, enough)):
                if self._together(source, target, later):
                    return later
        ahead = self.watch.to_end if target == self.setting.end else self.watch.to_start[target]
        return length + int(ahead[self._behind(source)].min(initial=FAR))

    def _behind(self, node: str) -> Column:
        """Marks the states after ``node``."""
        if node not in self._after:
            if node == INIT:
                self._after[node] = np.zeros(self.table.size, bool)
                self._after[node][list(self.table.starts)] = True
            else:
                self._after[node] = self.watch.after(node)
        return self._after[node]

    def _together(self, source: str, target: str, later: int) -> bool:
        """Whether a run covers ``source`` from step 0 and ``target`` from the step ``later`` on."""
        here: dict[Under, Column] = {
            frozenset([self.watch.start[source]]): np.ones(self.table.size, bool),
        }
        for _ in range(later):
            here = self.watch.step(here)
        opened = self.watch.start[target]
        here = {under | {opened}: states for under, states in here.items()}
        while here:
            ended: dict[Under, Column] = {}
            for under, states in here.items():
                rest, fine = self.watch.ended(under, states)
                if fine.any():
                    if not rest:
                        return True
                    ended[rest] = ended[rest] | fine if rest in ended else fine
            here = self.watch.step(ended)
        return False


class _Along:
    """Runs along the nodes of a path, all at once, step by step; ``layers`` hold where they are after each step."""

    def __init__(self, facts: ExplicitFacts, fact: PathFact) -> None:
        self._facts, self._watch, self._setting = facts, facts.watch, facts.setting
        self._path, self._below = fact.path, fact.at_least
        self._to_end = fact.path[-1] == self._setting.end
        self._seen: dict[Control, Column] = {}
        self._layers: list[dict[Control, Column]] = []

    def arrivals(self) -> Iterator[tuple[int, Control, Column]]:
        """Where the last node comes too early: the step, and the marked states."""
        table = self._facts.table
        begin = np.zeros(table.size, bool)
        here: dict[Control, Column] = {}
        if self._path[0] == INIT:
            begin[list(table.starts)] = True
            here[0, 0, frozenset()] = begin
        else:
            first = self._path[0]
            here[0, self._setting.gap(first), frozenset([self._watch.start[first]])] = ~begin
        for step in range(self._below):
            here = self._closed(here)
            self._layers.append(here)
            for control, states in here.items():
                arrived = self._arrived(control, states)
                if arrived.any():
                    yield step, control, arrived
            here = self._onwards(here, step + 1)
            if not here:
                return

    def _closed(self, here: dict[Control, Column]) -> dict[Control, Column]:
        """``here`` after what ends now, and with all that may start now."""
        found: dict[Control, Column] = {}
        todo = list(here.items())
        nodes = len(self._path) - self._to_end
        while todo:
            (index, wait, under), states = todo.pop()
            under, states = self._watch.ended(under, states)
            control = index, wait, under
            known = self._seen.setdefault(control, np.zeros(self._facts.table.size, bool))
            fresh = states & ~known
            if not fresh.any():
                continue
            known |= fresh
            found[control] = found[control] | fresh if control in found else fresh
            if index + 1 < nodes and not wait:
                node = self._path[index + 1]
                opened = under | {self._watch.start[node]}
                todo.append(((index + 1, self._setting.gap(node), opened), fresh))
        return found

    def _arrived(self, control: Control, states: Column) -> Column:
        """Marks those of ``states`` in which the path is at its end."""
        index, _, under = control
        if not self._to_end:
            last = index + 1 == len(self._path)
            return states & self._watch.possible(under) if last else np.zeros(len(states), bool)
        if index + 2 < len(self._path) or under:
            return np.zeros(len(states), bool)
        return states & self._watch.ends

    def _onwards(self, here: dict[Control, Column], step: int) -> dict[Control, Column]:
        """One step on, where the next node of the path can still come early enough."""
        later: dict[Control, Column] = {}
        for (index, wait, under), states in here.items():
            for following, after in self._watch.step({under: states}).items():
                if index + 1 < len(self._path):
                    node = self._path[index + 1]
                    ahead = self._watch.to_end if node == self._setting.end else self._watch.to_start[node]
                    after = after & (ahead < self._below - step)
                if after.any():
                    control = index, max(0, wait - 1), following
                    later[control] = later[control] | after if control in later else after
        return later

    def witness(self) -> tuple[int, Run]:
        """A run that is too early, and the step of its last node; the run goes on until all nodes are at their end."""
        table, watch = self._facts.table, self._watch
        step, control, arrived = next(self.arrivals())
        state = int(np.flatnonzero(arrived)[0])
        moves: list[int] = []
        under, here = control[2], state
        while under:  # to the end of what is under way
            rest, fine = watch.ended(under, np.ones(table.size, bool))
            assert fine[here]
            if not rest:
                break
            row = np.arange(table.first[here], table.first[here + 1])
            ways = ((after, int(m)) for after, marked in watch.ways(rest, row) for m in row[marked])
            under, move = next((a, m) for a, m in ways if watch.possible(a)[table.target[m]])
            moves.append(move)
            here = int(table.target[move])
        return step, self._run([*self._back(step, control, state), *moves], state if not step and not moves else None)

    def _back(self, step: int, control: Control, state: int) -> list[int]:
        """The moves that lead to a place in the layers."""
        table, moves = self._facts.table, []
        order = np.argsort(table.target, kind="stable")
        _, first = table.backwards
        for before in range(step - 1, -1, -1):
            entering = order[first[state] : first[state + 1]]
            found = None
            for earlier, states in self._layers[before].items():
                for following, marked in self._watch.ways(earlier[2], entering):
                    if self._leads((earlier[0], max(0, earlier[1] - 1), following), control, state):
                        fitting = entering[marked & states[table.source[entering]]]
                        if len(fitting):
                            found = earlier, int(fitting[0])
            assert found is not None
            control, move = found
            moves.append(move)
            state = int(table.source[move])
        return moves[::-1]

    def _leads(self, entered: Control, control: Control, state: int) -> bool:
        """Whether what is ``entered`` becomes ``control`` in ``state``, with what ends and starts there."""
        marked = np.zeros(self._facts.table.size, bool)
        marked[state] = True
        seen, self._seen = self._seen, {}
        found = control in self._closed({entered: marked})
        self._seen = seen
        return found

    def _run(self, moves: list[int], alone: int | None) -> Run:
        table = self._facts.table
        if not moves:
            assert alone is not None
            return Run((table.state(alone),), ())
        places = [int(table.source[moves[0]]), *(int(table.target[m]) for m in moves)]
        inputs = tuple(table.inputs.choice(int(table.choice[m])) for m in moves)
        return Run(tuple(table.state(place) for place in places), inputs)
