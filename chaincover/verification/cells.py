"""Runs over cells of values: a finite system in which every run of a floating-point system has its image.

A cell is a value of each variable that steps read, or for a floating one an interval of numbers. Goals and final
condition are cut into predicates of single steps. From each cell all combinations of outcomes that intervals leave
possible are followed, the inputs in pieces: where a comparison may turn out either way, both ways are taken, each with
what it says of the numbers compared. So there are more runs over cells than of the system, and none is missing: what no
run over cells does, no run of the system does. Nothing else is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import field, replace

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Iff, Implies, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.evaluation.intervals import Beyond, Floats, Interval, keys_of
from bmc.evaluation.vectors import Column
from bmc.floats import format as formats
from bmc.floats.values import constants_in
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.unroll import at, plain_symbols, steps_of, unplaced
from bmc.records import dataclass
from bmc.system.transition import StateVariable
from chaincover.verification.cases import ASKED, Cases, TooMany, bit_of, floats_of
from chaincover.verification.inputs import InputClasses
from chaincover.verification.limits import BLOCK, Clock
from chaincover.verification.marks import Marks
from chaincover.verification.search import search
from chaincover.verification.setting import Setting
from chaincover.verification.states import Table, runs


@dataclass(frozen=True)
class Fineness:
    """``numbers``: cells from zero to the largest constant of the program; ``inputs``: pieces of each range."""

    numbers: int
    inputs: int


POINTS = 64
"""So many single values of a floating variable are cells of their own."""
WIDE = 1 << 12
"""A set of so many cells in a row is not told by its cells."""
INSTRUCTIONS = 50
"""Instructions on a row of intervals that count as much as one step tried for the table of reachable states."""
MOVE = 25
"""Instructions that count as much as one step between cells that is kept."""
LADDER = (Fineness(16, 4), Fineness(64, 8), Fineness(128, 8), Fineness(256, 16), Fineness(1024, 16), Fineness(4096, 64))
"""What is tried, one after the other."""
FAR_OUT = 1 << 40
"""Cells so many widths from zero reach on without end."""
ANY = 1 << 50
"""The cell of all values, where it makes no difference which one it is."""
JOINING = {op.NOT: Not, op.IMPLIES: Implies, op.IFF: Iff}
"""How formulas are put together of others, besides by and, and by or."""


class Predicates:
    """What goals and final condition ask of single steps, each a Boolean of its own: ``states`` and ``moves``."""

    def __init__(self, setting: Setting) -> None:
        self._inputs = {var.name for var in setting.system.inputs}
        self.states: dict[FNode, str] = {}
        self.moves: dict[FNode, str] = {}
        goals = tuple(replace(goal, antecedent=self._cut(goal.antecedent)) for goal in setting.goals)
        final = None if setting.final is None else unplaced([self._cut(at(setting.final, 0))])[0]
        self.setting = replace(setting, goals=goals, final=final)

    def _cut(self, node: FNode) -> FNode:
        """``node`` (framed) over the predicates. Beyond where a comparison is about several steps."""
        steps = steps_of(node)
        if len(steps) < 2:
            return self._symbol(node, min(steps)) if steps else node
        if not (node.is_and() or node.is_or()):
            if node.node_type() not in JOINING:
                raise Beyond
            return JOINING[node.node_type()](*map(self._cut, node.args()))
        build = And if node.is_and() else Or
        alone, others = dict[int, list[FNode]](), list[FNode]()
        for part in node.args():
            own = steps_of(part)
            (alone.setdefault(min(own), []) if len(own) == 1 else others).append(part)
        return build([*(self._symbol(build(group), step) for step, group in alone.items()), *map(self._cut, others)])

    def _symbol(self, formula: FNode, step: int) -> FNode:
        (own,) = unplaced([formula])
        known = self.states if names_in([own]).isdisjoint(self._inputs) else self.moves
        name = known.setdefault(own, f"predicate {len(self.states) + len(self.moves)}")
        return Symbol(f"{name}@{step}", BOOL)


@dataclass
class Grid:
    """The cells of one floating variable: single values, and intervals of one width (a power of two)."""

    floats: Floats
    width: float
    points: dict[int, int] = field(default_factory=dict)

    def cells(self, values: Interval) -> tuple[Column, Column]:
        """For each interval the first and the last of the cells that hold it; every other number is one between."""
        for key in np.unique(values.low[values.low == values.high]).tolist():
            if len(self.points) < POINTS:
                self.points.setdefault(key, len(self.points))
        known = np.array([self.points.get(k, -1) for k in np.unique(values.low).tolist()], np.int64)
        point = known[np.unique(values.low, return_inverse=True)[1]]
        alone = (values.low == values.high) & (point >= 0)
        first, last = self._places(values.low), self._places(values.high)
        borders = (last > first) & (values.high <= self.boxes(2 * (last - 1)).high)
        last = np.where(borders, last - 1, last)  # cells have both their ends
        return np.where(alone, 2 * point + 1, 2 * first), np.where(alone, 2 * point + 1, 2 * last)

    def _places(self, keys: Column) -> Column:
        """The number of the interval that holds each value; those beyond all numbers are in the outermost ones."""
        numbers = self.floats.numbers(keys).astype(np.float64)
        with np.errstate(all="ignore"):
            place = np.floor(numbers / self.width)
            place = np.where(place * self.width > numbers, place - 1, place)
        outer = np.where(keys < 0, -FAR_OUT, FAR_OUT)
        return np.where(np.abs(place) < FAR_OUT, place, outer).astype(np.int64)

    def boxes(self, cells: Column) -> Interval:
        """The values of each cell."""
        place = cells >> 1
        low = self.floats.keys(place * self.width)
        high = self.floats.keys((place + 1) * self.width)
        low = np.where(place == 0, -1, np.where(place <= -FAR_OUT, -self.floats.form.sign, low))
        high = np.where(place >= FAR_OUT, self.floats.form.sign - 1, high)
        keys = np.array(list(self.points) or [0], np.int64)
        alone = cells & 1 == 1
        own = keys[np.where(alone, place, 0)]
        low, high = np.where(alone, own, low), np.where(alone, own, high)
        sign = self.floats.form.sign
        return Interval(np.where(cells == ANY, -sign, low), np.where(cells == ANY, sign - 1, high))


class Live:
    """Which floating variables may still make a difference in a cell, by its words.

    The words are followed with every number unknown. A number is live before a step that asks something of it, or that
    calculates one from it that is live after the step. Nothing rests on that: any number may be put into the cell of
    all values, where it is told less of it.
    """

    def __init__(self, step: Cases, start: Column, most: int) -> None:
        """``start`` are the words in which runs begin. TooMany where this takes more than ``most`` instructions."""
        self._count = len(step.numbers)
        self._numbers: dict[bytes, int] = {}
        rows: list[Column] = []
        _numbered(start[None, :], self._numbers, rows)
        links, done = [np.zeros((0, 2 + len(step.numbers)), np.int64)], 0
        while done < len(rows):
            nodes = np.arange(done, min(len(rows), done + BLOCK))
            words, done = np.stack(rows[done : done + BLOCK]), done + len(nodes)
            boxes = {var.name: Interval(words[:, n], words[:, n]) for n, var in enumerate(step.words)}
            for var in step.numbers:
                sign = floats_of(var).form.sign
                boxes[var.name] = Interval(np.full(len(nodes), -sign), np.full(len(nodes), sign - 1))
            for source, after, uses in step.uses(np.arange(len(nodes)), boxes, most):
                target = _numbered(after.T, self._numbers, rows)
                found = np.stack([nodes[source], target, *uses.view(np.int64)], axis=1)
                links.append(np.unique(found, axis=0))
        source, target, *columns = np.unique(np.concatenate(links), axis=0).T
        every = [column.astype(np.int64).view(np.uint64) for column in columns]
        self._marks: Column = np.zeros(len(rows), np.uint64)
        before = None
        while before is None or (before != self._marks).any():
            before = self._marks.copy()
            for number, use in enumerate(every):
                live = use & (before[target] | ASKED) != 0
                np.bitwise_or.at(self._marks, source[live], bit_of(number))

    def of(self, words: Column) -> list[Column]:
        """For each number a mark for every row of ``words`` in which it is live; all where nothing is known."""
        different, which = np.unique(words, axis=0, return_inverse=True)
        places = [self._numbers.get(row.tobytes()) for row in different]
        marks = np.array([ASKED - np.uint64(1) if p is None else self._marks[p] for p in places], np.uint64)
        found = marks[which.reshape(-1)]
        return [found & bit_of(number) != 0 for number in range(self._count)]


class _Explorer:
    """Numbers cells as it finds them: a row of the words, the numbers' cells and the predicates of states.

    TooMany where this takes more than ``most`` instructions on a row, or moves.
    """

    def __init__(self, predicates: Predicates, fineness: Fineness, most: int) -> None:
        self._setting, self._predicates, self._most = predicates.setting, predicates, most
        self._step = Cases(self._setting.system, list(predicates.moves), list(predicates.states), fineness.inputs)
        self._grids = [self._grid(var, fineness) for var in self._step.numbers]
        self._numbers: dict[bytes, int] = {}
        self._rows: list[Column] = []
        self._choices: dict[bytes, int] = {}
        self._moves: list[Column] = []
        self._begin = self._start()
        self._live = Live(self._step, self._rows[self._begin][: len(self._step.words)], most)

    def _grid(self, var: StateVariable, fineness: Fineness) -> Grid:
        floats, system = floats_of(var), self._setting.system
        formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
        found = constants_in([*formulas, *self._predicates.states, *self._predicates.moves], floats.form)
        largest = max([1.0, *(abs(formats.number(raw, floats.form)) for raw in found)])
        return Grid(floats, 2.0 ** math.ceil(math.log2(largest / fineness.numbers)))

    def run(self, most: int) -> Table:
        """The table of the cells in runs of up to ``most`` steps."""
        done = 0
        for _ in range(most):
            fresh = np.arange(done, len(self._rows))
            done = len(self._rows)
            for begin in range(0, len(fresh), BLOCK):
                self._follow(fresh[begin : begin + BLOCK])
        return self._table()

    def _start(self) -> int:
        """The cell in which runs begin. Beyond where init leaves open what is read."""
        step, states = self._step, list(self._predicates.states)
        known = {var.name: int(var.init.constant_value()) for var in self._setting.system.state if var.init is not None}
        read = names_in(states)
        if not read | {var.name for var in (*step.words, *step.numbers)} <= known.keys():
            raise Beyond
        row = [known[var.name] for var in step.words]
        for var, grid in zip(step.numbers, self._grids, strict=True):
            key = keys_of(np.array([known[var.name]], np.uint64), var.type.bits)
            row.append(int(grid.cells(Interval(key, key))[0][0]))
        row += [int(bool(value)) for value in compile_formulas(states)(known)]
        return int(_numbered(np.array([row], np.int64), self._numbers, self._rows)[0])

    def _follow(self, nodes: Column) -> None:
        """All steps from the cells ``nodes``."""
        step, rows = self._step, np.stack([self._rows[node] for node in nodes])
        moves, states, words = len(self._predicates.moves), len(self._predicates.states), len(step.words)
        boxes = {var.name: Interval(rows[:, n], rows[:, n]) for n, var in enumerate(step.words)}
        for n, (var, grid) in enumerate(zip(step.numbers, self._grids, strict=True), words):
            boxes[var.name] = grid.boxes(rows[:, n])
        for source, ends in step.outcomes(np.arange(len(nodes)), boxes, self._most):
            single, numbers = ends[: moves + states + words], ends[moves + states + words :]
            if any((low != high).any() for low, high in single):
                raise Beyond
            known = np.stack([np.zeros(len(source), np.int64), *(low for low, _ in single)])[1:]
            spans = []
            live = self._live.of(known[moves + states :].T)
            for grid, found, mark in zip(self._grids, numbers, live, strict=True):
                first, last = grid.cells(found)
                spans.append((np.where(mark, first, ANY), np.where(mark, last, ANY)))
            case, cells = self._spread(len(source), spans)
            after = np.concatenate([known[moves + states :, case], cells, known[moves : moves + states, case]])
            target = _numbered(after.T, self._numbers, self._rows)
            choice = _numbered(known[:moves].T, self._choices, [])
            self._moves.append(np.unique(np.stack([nodes[source[case]], target, choice[case]], axis=1), axis=0))
            if sum(map(len, self._moves)) > self._most // MOVE:
                raise TooMany

    def _spread(self, size: int, spans: Sequence[tuple[Column, Column]]) -> tuple[Column, Column]:
        """Every combination of cells from the first to the last of each of ``spans``: the case, and the cells."""
        case, cells = np.arange(size), np.zeros((0, size), np.int64)
        for first, last in spans:
            counts = (last[case] - first[case]) // 2 + 1
            if counts.max(initial=0) > WIDE:
                raise Beyond
            if counts.sum() > self._most // MOVE:
                raise TooMany
            cells, case = np.repeat(cells, counts, axis=1), np.repeat(case, counts)
            cells = np.concatenate([cells, (first[case] + 2 * runs(np.zeros_like(counts), counts))[None, :]])
        return case, cells

    def _table(self) -> Table:
        moves = np.unique(np.concatenate([np.zeros((0, 3), np.int64), *self._moves]), axis=0)
        rows, first = np.stack(self._rows), len(self._step.words) + len(self._grids)
        states = {name: rows[:, first + n] == 1 for n, name in enumerate(self._predicates.states.values())}
        chosen = np.array([np.frombuffer(key, np.int64) for key in self._choices], np.int64)
        choices = chosen.reshape(len(self._choices), len(self._predicates.moves))
        inputs = {name: choices[:, n] == 1 for n, name in enumerate(self._predicates.moves.values())}
        return Table(
            variables=(),
            columns=states,
            size=len(rows),
            starts=(self._begin,),
            inputs=InputClasses(inputs, len(choices)),
            source=moves[:, 0].astype(np.int32),
            choice=moves[:, 2].astype(np.int32),
            target=moves[:, 1].astype(np.int32),
        )


def _numbered(rows: Column, numbers: dict[bytes, int], found: list[Column]) -> Column:
    """The number of each of ``rows``; new ones are appended to ``found``."""
    different, which = np.unique(rows, axis=0, return_inverse=True)
    own = np.zeros(len(different), np.int64)
    for place, row in enumerate(different):
        key = row.tobytes()
        if key not in numbers:
            numbers[key] = len(numbers)
            found.append(row)
        own[place] = numbers[key]
    return own[which.reshape(-1)]


class Cells:
    """Refutes lengths of chains over ``goals``: by few cells first, by more where these do not tell enough."""

    def __init__(self, setting: Setting, goals: Sequence[str]) -> None:
        self._goals, self._level = goals, len(LADDER)
        self._predicates: Predicates | None = None
        if any(var.type.floating for var in setting.system.cone(plain_symbols(setting.formulas))):
            asked = replace(setting, goals=tuple(setting.by_name[name] for name in goals))
            with suppress(Beyond):
                self._predicates, self._level = Predicates(asked), 0

    def refuted(self, below: int, clock: Clock, share: float) -> str:
        """What shows that no chain has fewer than ``below`` steps; empty where nothing does.

        It may take ``share`` of an effort, and goes on with the cells that were too many for a smaller share.
        """
        most = int(clock.limits.explored * share * INSTRUCTIONS)
        while self._predicates is not None and self._level < len(LADDER) and not clock.over:
            try:
                table = _Explorer(self._predicates, LADDER[self._level], most).run(below - 1)
            except TooMany:
                return ""
            except Beyond:
                self._level = len(LADDER)
                return ""
            limits = replace(clock.limits, nodes=int(clock.limits.nodes * share))
            marks = Marks(table, self._predicates.setting, self._goals)
            found = search(marks, self._goals, replace(clock, limits=limits), below)
            if found.complete and found.length is None:
                return f"{table.size} cells of values, {table.steps} steps, {found.nodes} combinations with goals"
            if not found.complete:
                return ""
            self._level += 1
        return ""
