"""A search in the program for a run as short as the shortest one of a smaller system, by simulation alone.

The smaller system tells for each of its states how many steps it takes, at least, to cover goals in some order. States
of the program are its states with more variables: those are left out from which more steps are to come than are left.
Of the others those go on from which fewest are to come, and of several those with values that no state had from which
as many were to come (N. Lipovetzky, H. Geffner: Best-first width search, 2017). An input is held as long as each step
brings the end nearer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from bmc.engines.protocol import SEED
from bmc.evaluation.vectors import Column, Columns, column
from bmc.explicit.batch import Batch, EventFinder, Runs
from bmc.explicit.draws import Draws
from bmc.explicit.guide import NOWHERE, Guide
from bmc.explicit.rows import Layout, Numbering
from bmc.records import dataclass
from bmc.system.transition import Run, Valuation
from chaincover.limits import PER_UNIT, Limits
from chaincover.problem import Problem

TOGETHER = 8
"""States that go on together. With twice as many, worse ones go on beside the best."""

TOLD_APART, DRAWN = 32, 10
"""Inputs that are tried in a state: some of those that the smaller system tells apart, and of any. With twice as many,
more states are found after each, and fewer go on."""

KEPT = 6
"""States after one that wait. With twice as many, a search that is misled has more to try, and gets less far."""

HELD = 16
"""Steps for which an input is held at first, and states for which that is tried side by side. With twice as many, short
waits take longer, and long ones less."""

NODES = 1 << 13
"""Nodes after which the search is over. With twice as many, it takes twice the memory."""

NODE, ROUND = 1e-4, 4e-3
"""Units of work for a node, and for letting some go on, however few the variables are."""

LEAST = 100
"""Programs of fewer operations are left to numpy: there is one step of a few runs after the other."""


class Guiding(NamedTuple):
    """What leads a search: the ``guide`` knows the steps to come along an ``order`` of goals, given by names.

    ``project`` makes columns of states of the smaller system of those of the program. ``rows`` are the inputs, by name,
    that the smaller system tells apart, some of which the program may not have.
    """

    guide: Guide
    order: Sequence[str]
    project: Callable[[Columns], Columns]
    rows: Columns


@dataclass(frozen=True, slots=True)
class _Node:
    """A ``state`` after so many ``steps``, the last ones from ``parent`` by ``inputs``: ``met`` goals of the order are
    covered, and ``left`` steps are to come at least."""

    state: Valuation
    met: int
    left: int
    steps: int
    parent: int
    inputs: Columns


class GuidedSearch:
    """One search for a run of ``problem`` that is ``sought``: from which state, and of how many steps; repeatable.

    ``guiding`` leads it. ``batch`` takes the steps of runs, ``limits`` count its work. ``found`` is the run, once it is
    known.
    """

    def __init__(
        self, problem: Problem, batch: Batch, limits: Limits, guiding: Guiding, sought: tuple[Valuation, int]
    ) -> None:
        start, self._length = sought
        self._batch, self._limits, self._guiding = batch, limits, guiding
        self._inputs, self._state = problem.system.inputs, problem.system.state
        self._rows = {var.name: guiding.rows[var.name] for var in self._inputs if var.name in guiding.rows}
        goals = [problem.by_name[name] for name in guiding.order]
        self._events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in goals})
        self._random = Draws(SEED)
        self._layout = Layout([*((var.name, var.type.bits) for var in self._state), ("met", len(goals).bit_length())])
        self._numbers = Numbering(self._layout.width)
        self._values: dict[tuple[int, int], list[set[int]]] = {}
        self._nodes: list[_Node] = []
        self._waiting: list[tuple[int, int, int, int]] = []
        self.found: Run | None = None
        self._begin(start)

    def _begin(self, start: Valuation) -> None:
        states = {name: values[None] for name, values in self._batch.repeated(start, 1).items()}
        covered = self._covered(Runs(states, {}, 0, np.zeros(1, np.int64)))
        met, left = self._look(states, covered, np.zeros((1, 1), np.int64))
        if 0 <= left[0, 0] <= self._length:
            none = {var.name: column([], var.type.bits) for var in self._inputs}
            self._note(_Node(start, int(met[0, 0]), int(left[0, 0]), 0, -1, none))

    def go_on(self) -> bool:
        """Let some of the best states go on; whether there are more, and no run is found."""
        chosen: list[int] = []
        while self._waiting and len(chosen) < TOGETHER:
            chosen.append(heappop(self._waiting)[-1])
        if self.found is not None or not chosen or len(self._nodes) > NODES:
            return False
        self._limits.spend(ROUND)
        of, runs = self._one_step(np.array(chosen))
        made = self._add(of, runs, lambda met, left: self._best(of, left[0]))
        self._hold([number for number in made if self._nodes[number].left < self._before(number).left][:HELD])
        return True

    def _best(self, of: Column, left: Column) -> list[tuple[int, int]]:
        """The first step of the best of some runs from each of the nodes ``of``, those from which fewest steps are
        ``left`` first."""
        found, counts = list[tuple[int, int]](), dict[int, int]()
        for run in np.lexsort((self._random.parts(len(of)), left)).tolist():
            counts[of[run]] = counts.get(of[run], 0) + (left[run] != NOWHERE)
            if left[run] != NOWHERE and counts[of[run]] <= KEPT:
                found.append((0, run))
        return found

    def _before(self, number: int) -> _Node:
        return self._nodes[self._nodes[number].parent]

    def _one_step(self, chosen: Column) -> tuple[Column, Runs]:
        """One step from each of these nodes by many inputs: from which node each run comes, and the runs."""
        total = len(next(iter(self._rows.values()), ()))
        some, each = min(total, TOLD_APART), 2 + min(total, TOLD_APART)
        of, drawn_of = np.repeat(chosen, each), np.repeat(chosen, DRAWN)
        picked = np.arange(some) if total <= TOLD_APART else self._random.below(total, (len(chosen), some))
        inputs = {}
        for var in self._inputs:
            zero = column([0], var.type.bits)
            last = np.concatenate([n.inputs[var.name][-1:] if n.steps else zero for n in self._of(chosen)])
            tried = np.repeat(last[:, None], each, axis=1)
            tried[:, 1] = 0
            if var.name in self._rows:
                tried[:, 2:] = self._rows[var.name][picked]
            else:
                tried[:, 5::4] = 0
            inputs[var.name] = tried.reshape(1, -1)
        told = self._follow(of, inputs)
        drawn = self._batch.go_on(self._columns(drawn_of), self._batch.manner(len(drawn_of)), 1, self._limits.check)
        self._spend(1, len(drawn_of))
        states = {name: np.concatenate([values, drawn.states[name]], axis=1) for name, values in told.states.items()}
        taken = {name: np.concatenate([values, drawn.inputs[name]], axis=1) for name, values in told.inputs.items()}
        return np.concatenate([of, drawn_of]), Runs(states, taken, 1, np.concatenate([told.valid, drawn.valid]))

    def _hold(self, numbers: Sequence[int]) -> None:
        """Hold the last inputs of these nodes as long as each step brings the end nearer."""
        held = HELD
        while numbers and self.found is None:
            of, nodes = np.array(numbers), self._of(numbers)
            inputs = {
                var.name: np.repeat(np.concatenate([n.inputs[var.name][-1:] for n in nodes])[None], held, axis=0)
                for var in self._inputs
            }
            due = np.array([node.left for node in nodes]) - 1 - np.arange(held)[:, None]
            made = self._add(of, self._follow(of, inputs), partial(_turns, due))
            numbers = [n for n in made if self._nodes[n].steps - self._before(n).steps == held]
            held *= 2

    def _of(self, numbers: Iterable[int]) -> list[_Node]:
        return [self._nodes[int(number)] for number in numbers]

    def _columns(self, numbers: Column) -> dict[str, Column]:
        """The states of the nodes of these numbers."""
        nodes, place = np.unique(numbers, return_inverse=True)
        states = [node.state for node in self._of(nodes)]
        return {v.name: column([state[v.name] for state in states], v.type.bits)[place] for v in self._state}

    def _follow(self, of: Column, inputs: Columns) -> Runs:
        """The runs from the nodes ``of`` under ``inputs``, by (step, run)."""
        runs = self._batch.follow(self._columns(of), inputs, self._limits.check)
        self._spend(runs.steps, len(of))
        return runs

    def _covered(self, runs: Runs) -> Column:
        """Which goals of the order are covered, by (goal, state, run)."""
        hits = self._events.hits(runs)
        return np.array([hits[name] for name in self._guiding.order])

    def _look(self, states: Columns, covered: Column, before: Column) -> tuple[Column, Column]:
        """How many goals of the order each run has covered, where ``before`` were, and how many steps are to come at
        least, by (state, run)."""
        met = np.empty(covered.shape[1:], np.int64)
        for step in range(len(met)):
            met[step] = met[step - 1] if step else before
            for place, now in enumerate(covered[:, step]):
                met[step] += (met[step] == place) & now
        after = self._guiding.project({name: values.reshape(-1) for name, values in states.items()})
        guide = self._guiding.guide
        return met, guide.steps(guide.numbers(after), met.reshape(-1)).reshape(met.shape)

    def _add(self, of: Column, runs: Runs, choose: Callable[[Column, Column], Iterable[tuple[int, int]]]) -> list[int]:
        """Note new states after steps of ``runs``, which go on from the nodes ``of``: those that ``choose`` names as
        (step, run), by the goals met and the steps to come there. Their numbers."""
        nodes, place = np.unique(of, return_inverse=True)
        before, steps = (np.array([(n.met, n.steps) for n in self._of(nodes)])[place]).T
        after = {name: values[1:] for name, values in runs.states.items()}
        met, left = self._look(after, self._covered(runs)[:, 1:], before)
        count = np.arange(1, runs.steps + 1)[:, None]
        left[(count > runs.valid) | (steps + count + left > self._length)] = NOWHERE
        chosen = [*choose(met, left)]
        if not chosen:
            return []
        at, run = np.array(chosen).T
        states = {name: values[at, run] for name, values in after.items()}
        known, made = self._numbers.size, list[int]()
        keys = self._layout.pack([*(states[var.name] for var in self._state), met[at, run]])
        numbers = self._numbers.add([np.broadcast_to(key, at.shape).copy() for key in keys])
        _, first = np.unique(numbers, return_index=True)
        for number in np.sort(first[numbers[first] >= known]).tolist():
            step, own = chosen[number]
            state = {name: int(values[number]) for name, values in states.items()}
            inputs = {name: values[: step + 1, own].copy() for name, values in runs.inputs.items()}
            node = _Node(
                state, int(met[step, own]), int(left[step, own]), int(steps[own]) + step + 1, int(of[own]), inputs
            )
            made.append(self._note(node))
        return made

    def _note(self, node: _Node) -> int:
        """Let a node wait, or note the run to it where nothing is to come; its number."""
        number = len(self._nodes)
        self._nodes.append(node)
        self._limits.spend(NODE)
        known = self._values.setdefault((node.met, node.left), [set() for _ in self._state])
        novel = 0
        for values, value in zip(known, node.state.values(), strict=True):
            novel += value not in values
            values.add(value)
        heappush(self._waiting, (node.left, -novel, node.steps, number))
        if node.met == len(self._guiding.order) and not node.left and self.found is None:
            self.found = self._run(number)
        return number

    def _run(self, number: int) -> Run:
        """The run to a node."""
        parts = [self._nodes[number]]
        while parts[-1].parent >= 0:
            parts.append(self._nodes[parts[-1].parent])
        inputs: list[Valuation] = []
        for node in reversed(parts[:-1]):
            rows = zip(*(values.tolist() for values in node.inputs.values()), strict=True)
            inputs += [{name: int(value) for name, value in zip(node.inputs, row, strict=True)} for row in rows]
        return self._batch.run(parts[-1].state, inputs)

    def _spend(self, steps: int, count: int) -> None:
        self._limits.spend(steps * self._batch.cost(count) / PER_UNIT.run_values)


def _turns(due: Column, met: Column, left: Column) -> list[tuple[int, int]]:
    """Where, as (step, run), as many steps are ``left`` as are ``due`` so far, and that ends, or a goal is met."""
    nearer = np.logical_and.accumulate((left == due) & (left != NOWHERE), axis=0)
    last = np.arange(1, len(nearer) + 1)[:, None] == nearer.sum(axis=0)
    fresh = np.diff(met, axis=0, prepend=met[:1]) > 0
    return [(int(step), int(run)) for run, step in zip(*np.nonzero(((last | fresh) & nearer).T), strict=True)]
