"""Runs over cells of values: a finite system in which every run of a floating-point system has its image.

A cell is a value of each variable that steps read, or for a floating one an interval of numbers. Goals and final
condition are cut into predicates of single steps. From each cell all combinations of outcomes that intervals leave
possible are followed, the inputs in pieces: where a comparison may turn out either way, both ways are taken, each with
what it says of the numbers compared. So there are more runs over cells than of the system, and none is missing: what no
run over cells does, no run of the system does. Nothing else is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import pairwise

import numpy as np
import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Not, Or, Symbol
from pysmt.typing import BOOL

from bmc.floats import format as formats
from bmc.floats.format import FORMATS
from bmc.floats.values import constants_in
from bmc.formulas.evaluate import compile_formulas, post_order
from bmc.formulas.unroll import at, plain, unframed, unplaced, with_terms
from bmc.records import dataclass
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, conjunction, conjuncts, symbols_of
from chaincover.verify.inputs import InputClasses, allowed_ranges
from chaincover.verify.intervals import WIDEST, Beyond, Floats, Interval, keys_of
from chaincover.verify.limits import Clock
from chaincover.verify.programs import JOINED, Machine, compared_so
from chaincover.verify.search import search
from chaincover.verify.setting import Setting
from chaincover.verify.states import Table
from chaincover.verify.vectors import Column
from chaincover.verify.watch import Watch


@dataclass(frozen=True)
class Fineness:
    """``numbers``: cells from zero to the largest constant of the program; ``inputs``: pieces of each range."""

    numbers: int
    inputs: int


class TooMany(Exception):
    """Limits came first."""


BLOCK = 1 << 13
"""Rows that are computed at once."""
POINTS = 64
"""So many single values of a floating variable are cells of their own."""
SINGLE = 256
"""An input with so many values, or fewer, is cut into single ones."""
WIDE = 1 << 12
"""A set of so many cells in a row is not told by its cells."""
INSTRUCTIONS = 50
"""Instructions on a row of intervals that count as much as one step tried for the table of reachable states."""
MOVE = 25
"""Instructions that count as much as one step between cells that is kept."""
LADDER = (Fineness(64, 4), Fineness(256, 16), Fineness(1024, 16), Fineness(4096, 64))
"""What is tried, one after the other."""
FAR_OUT = 1 << 40
"""Cells so many widths from zero reach on without end."""


class Predicates:
    """What goals and final condition ask of single steps, each a Boolean of its own: ``states`` and ``moves``."""

    def __init__(self, setting: Setting) -> None:
        self._inputs = {var.name for var in setting.system.inputs}
        self.states: dict[FNode, str] = {}
        self.moves: dict[FNode, str] = {}
        goals = tuple(replace(goal, antecedent=self._cut(goal.antecedent)) for goal in setting.goals)
        final = None if setting.final is None else unplaced([self._cut(at(setting.final, 0))])[0]
        self.setting = replace(setting, goals=goals, final=final)

    def _cut(self, formula: FNode) -> FNode:
        """``formula`` (framed) over the predicates. Beyond where a comparison is about several steps."""
        steps: dict[FNode, frozenset[int]] = {}
        for node in post_order([formula]):
            own = [steps[a] for a in node.args()]
            steps[node] = frozenset([unframed(node)[1]]) if node.is_symbol() else frozenset().union(*own)
        return self._replaced(formula, steps)

    def _replaced(self, node: FNode, steps: Mapping[FNode, frozenset[int]]) -> FNode:
        if not steps[node]:
            return node
        if len(steps[node]) == 1:
            return self._symbol(node, min(steps[node]))
        if node.is_and() or node.is_or():
            alone: dict[int, list[FNode]] = {}
            for part in node.args():
                if len(steps[part]) == 1:
                    alone.setdefault(min(steps[part]), []).append(part)
            build = And if node.is_and() else Or
            parts = [self._symbol(build(group), step) for step, group in alone.items()]
            return build([*parts, *(self._replaced(p, steps) for p in node.args() if len(steps[p]) != 1)])
        if node.is_not():
            return Not(self._replaced(node.arg(0), steps))
        if node.is_implies() or node.is_iff():
            first, second = (self._replaced(part, steps) for part in node.args())
            return first.Implies(second) if node.is_implies() else first.Iff(second)
        raise Beyond

    def _symbol(self, formula: FNode, step: int) -> FNode:
        (own,) = unplaced([formula])
        known = self.moves if any(s.symbol_name() in self._inputs for s in symbols_of(own)) else self.states
        name = known.setdefault(own, f"predicate {len(self.states) + len(self.moves)}")
        return Symbol(f"{name}@{step}", BOOL)


@dataclass
class _Rows:
    """Cases of steps: from the cell ``node``, each input from one piece to another one, and what is assumed."""

    node: Column
    first: Column
    last: Column
    told: Column
    low: Column
    high: Column

    def which(self, chosen: Column) -> _Rows:
        parts = (self.first, self.last, self.told, self.low, self.high)
        return _Rows(self.node[chosen], *(part[:, chosen] for part in parts))

    @staticmethod
    def joined(parts: Sequence[_Rows]) -> _Rows:
        names = ("first", "last", "told", "low", "high")
        stacked = (np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names)
        return _Rows(np.concatenate([part.node for part in parts]), *stacked)


class _Step:
    """All outcomes of a step from some cells. ``words`` and ``numbers`` are the variables that steps read."""

    def __init__(self, system: TransitionSystem, predicates: Predicates, fineness: Fineness) -> None:
        following = {var.symbol: var.next for var in system.state}
        valid = conjunction([*_between_inputs(system), system.defined])
        after = with_terms(list(predicates.states), following)
        roots = [valid, *predicates.moves, *after]
        read = _closure(system, roots)
        self.words = [var for var in system.state if var.name in read and not var.type.floating]
        self.numbers = [var for var in system.state if var.name in read and var.type.floating]
        every: list[StateVariable | InputVariable] = [*system.state, *system.inputs]
        floating = {var.name: _floats(var).form for var in every if var.type.floating}
        if any(var.type.bits > WIDEST for var in self.words):
            raise Beyond
        nexts = [var.next for var in (*self.words, *self.numbers)]
        self.machine = machine = Machine([*roots, *nexts], floating)
        self.inputs = [var for var in system.inputs if var.name in machine.symbols]
        self.pieces = [_pieces(var, fineness.inputs) for var in self.inputs]
        self._atoms = [place for place in range(len(machine.instructions)) if machine.is_atom(place)]
        self._kept = sorted({a for place in self._atoms for a in machine.compared(place)})
        self._asked, self._count = machine.results[: len(roots) + len(self.words)], len(roots)
        self._deep = machine.results[len(roots) :]
        self.spent = 0

    def outcomes(
        self, nodes: Column, boxes: Mapping[str, Interval], most: int
    ) -> Iterator[tuple[Column, list[Interval]]]:
        """For all cases of steps from the cells ``nodes``, in ``boxes``: the cell, and the values of all results but
        the first, in turn: predicates of the step, of the state after it, words and numbers after it.

        TooMany where these take more than ``most`` instructions, with those before.
        """
        todo = [self._all(nodes)]
        while todo:
            rows = _Rows.joined(todo)
            self.spent += len(rows.node) * len(self.machine.instructions)
            if self.spent > most:
                raise TooMany
            todo = []
            for begin in range(0, len(rows.node), BLOCK):
                part = rows.which(np.arange(begin, min(begin + BLOCK, len(rows.node))))
                values = self._values(part, boxes)
                told = {place: part.told[n] for n, place in enumerate(self._atoms)}
                kept = {place: Interval(part.low[n], part.high[n]) for n, place in enumerate(self._kept)}
                found, possible = self.machine.run(values, told, kept, len(part.node))
                possible = possible & (found[self.machine.results[0]].high == 1)
                split, more = self._cases(part, found, possible)
                todo += more
                done = np.flatnonzero(possible & ~split)
                if len(done):
                    ends = [found[place] for place in self.machine.results[1:]]
                    yield part.node[done], [Interval(low[done], high[done]) for low, high in ends]

    def _all(self, nodes: Column) -> _Rows:
        size = len(nodes)
        ends = [self.machine.everything(place) for place in self._kept]
        low, high = (np.array([end[n] for end in ends], np.int64).reshape(-1, 1) for n in (0, 1))
        last = np.array([len(pieces) - 1 for pieces in self.pieces], np.int64).reshape(-1, 1)
        return _Rows(
            nodes,
            np.zeros((len(self.pieces), size), np.int64),
            np.repeat(last, size, axis=1),
            np.full((len(self._atoms), size), -1, np.int8),
            np.repeat(low, size, axis=1),
            np.repeat(high, size, axis=1),
        )

    def _values(self, rows: _Rows, boxes: Mapping[str, Interval]) -> dict[int, Interval]:
        found = {}
        for var in (*self.words, *self.numbers):
            if var.name in self.machine.symbols:
                box = boxes[var.name]
                found[self.machine.symbols[var.name]] = Interval(box.low[rows.node], box.high[rows.node])
        for number, pieces in enumerate(self.pieces):
            ends = Interval(pieces[rows.first[number], 0], pieces[rows.last[number], 1])
            found[self.machine.symbols[self.inputs[number].name]] = ends
        return found

    def _cases(self, rows: _Rows, found: Sequence[Interval], possible: Column) -> tuple[Column, list[_Rows]]:
        """Which rows are cut into cases, and these: by an input that tells more in pieces, else by a comparison."""
        wanted, open_ones = self._wanted(found, possible)
        split = np.zeros(len(rows.node), bool)
        more: list[_Rows] = []
        for number, var in enumerate(self.inputs):
            here = wanted[self.machine.symbols[var.name]] & ~split & (rows.first[number] < rows.last[number])
            split |= here
            if here.any():
                lower, upper = rows.which(here), rows.which(here)
                middle = (lower.first[number] + lower.last[number]) // 2
                lower.last[number], upper.first[number] = middle, middle + 1
                more += [lower, upper]
        for number, place in enumerate(self._atoms):
            here = open_ones[place] & ~split
            split |= here
            if here.any():
                for holds in (True, False):
                    part = rows.which(here)
                    part.told[number] = holds
                    values = [Interval(v.low[here], v.high[here]) for v in found]
                    for kept, (low, high) in compared_so(self.machine, place, holds, values).items():
                        at_place = self._kept.index(kept)
                        part.low[at_place] = np.maximum(part.low[at_place], low)
                        part.high[at_place] = np.minimum(part.high[at_place], high)
                    more.append(part)
        return split, more

    def _wanted(self, found: Sequence[Interval], possible: Column) -> tuple[Column, Column]:
        """Two marks for every place and row: values that should be told in pieces, conditions that have to be told."""
        machine = self.machine
        deep, ways, asked = (np.zeros((len(found), len(possible)), bool) for _ in range(3))
        deep[list(self._deep)] = asked[list(self._asked)] = possible
        for place in reversed(range(len(found))):
            unsure = found[place].low < found[place].high
            for marks in (asked, deep, ways):
                marks[place] &= unsure
            every = asked[place] | deep[place] | ways[place]
            if not every.any():
                continue
            instruction = machine.instructions[place]
            node, arguments = instruction.node, instruction.arguments
            if instruction.floating is None and node.node_type() == op.ITE:
                condition, then, other = arguments
                low, high = found[condition]
                asked[condition] |= every & (low < high)
                for marks in (asked, deep, ways):
                    marks[then] |= marks[place] & (low == 1)
                    marks[other] |= marks[place] & (high == 0)
            elif instruction.floating is None and node.node_type() in JOINED:
                left = every.copy()
                for argument in arguments:
                    here = left & (found[argument].low < found[argument].high)
                    asked[argument] |= here
                    left &= ~here
            else:
                atom = machine.is_atom(place)
                for argument in arguments:
                    ways[argument] |= ways[place] | every if atom else ways[place]
                    if not atom:
                        deep[argument] |= deep[place] | asked[place]
        return deep | asked, asked


def _floats(var: StateVariable | InputVariable) -> Floats:
    """The numbers of a floating variable."""
    return Floats.of(FORMATS.get(var.type.bits))


def _between_inputs(system: TransitionSystem) -> list[FNode]:
    """What the constraint says beyond the values of single inputs."""
    declared = {var.name for var in system.inputs if var.values}
    parts = [(part, {s.symbol_name() for s in symbols_of(part)}) for part in conjuncts(system.input_constraint)]
    return [part for part, names in parts if len(names) != 1 or not names <= declared]


def _closure(system: TransitionSystem, roots: Sequence[FNode]) -> set[str]:
    """The state variables that ``roots``, or the steps of these variables, read."""
    following = {var.name: var.next for var in system.state}
    read, fresh = set[str](), {s.symbol_name() for root in roots for s in symbols_of(root)} & following.keys()
    while fresh:
        read |= fresh
        fresh = ({s.symbol_name() for name in fresh for s in symbols_of(following[name])} & following.keys()) - read
    return read


def _pieces(var: InputVariable, count: int) -> Column:
    """The values of an input, in rising pieces: their ends as they are kept in intervals."""
    size = 1 << max(var.type.bits, 1)
    raw = [(low % size, high % size) for low, high in allowed_ranges(var)]
    raw = [pair for low, high in raw for pair in ([(low, high)] if low <= high else [(low, size - 1), (0, high)])]
    if not var.type.floating:
        if sum(high - low + 1 for low, high in raw) <= SINGLE:
            return np.array(sorted((value, value) for low, high in raw for value in range(low, high + 1)), np.int64)
        if var.type.bits >= 64:
            raise Beyond
        return np.array(sorted(part for low, high in raw for part in _cut(low, high, count)), np.int64)
    floats = _floats(var)
    sign = floats.form.sign
    keys = [pair for low, high in raw for pair in _keys(low, high, sign)]
    joined: list[tuple[int, int]] = []
    for low, high in sorted(keys):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(high, joined[-1][1])
        else:
            joined.append((low, high))
    found: list[tuple[int, int]] = []
    for low, high in joined:
        first, last = (float(floats.numbers(np.array([end], np.int64))[0]) for end in (low, high))
        if np.isfinite(first) and np.isfinite(last) and first < last:
            between = floats.keys(np.linspace(first, last, count + 1)[1:-1]).tolist()
            found += pairwise(sorted([low, *(min(max(end, low), high) for end in between), high]))
        else:
            found.append((low, high))
    return np.array(found, np.int64)


def _keys(low: int, high: int, sign: int) -> list[tuple[int, int]]:
    """The keys of a range of patterns."""
    found = [(low, min(high, sign - 1))] if low < sign else []
    if high >= sign:
        found.append((sign - 1 - high, sign - 1 - max(low, sign)))
    return found


def _cut(low: int, high: int, count: int) -> list[tuple[int, int]]:
    ends = [low + (high - low + 1) * n // count for n in range(count + 1)]
    return [(a, b - 1) for a, b in pairwise(ends) if a < b]


@dataclass
class _Grid:
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
        return Interval(np.where(alone, own, low), np.where(alone, own, high))


class _Explorer:
    """Numbers cells as it finds them: a row of the words, the numbers' cells and the predicates of states.

    TooMany where this takes more than ``most`` instructions on a row, or moves.
    """

    def __init__(self, predicates: Predicates, fineness: Fineness, most: int) -> None:
        self._setting, self._predicates, self._most = predicates.setting, predicates, most
        self._step = _Step(self._setting.system, predicates, fineness)
        self._grids = [self._grid(var, fineness) for var in self._step.numbers]
        self._numbers: dict[bytes, int] = {}
        self._rows: list[Column] = []
        self._choices: dict[bytes, int] = {}
        self._moves: list[Column] = []

    def _grid(self, var: StateVariable, fineness: Fineness) -> _Grid:
        floats, system = _floats(var), self._setting.system
        formulas = [system.input_constraint, system.defined, *(var.next for var in system.state)]
        found = constants_in([*formulas, *self._predicates.states, *self._predicates.moves], floats.form)
        largest = max([1.0, *(abs(formats.number(raw, floats.form)) for raw in found)])
        return _Grid(floats, 2.0 ** math.ceil(math.log2(largest / fineness.numbers)))

    def run(self, most: int) -> Table:
        """The table of the cells in runs of up to ``most`` steps."""
        start = self._start()
        done = 0
        for _ in range(most):
            fresh = np.arange(done, len(self._rows))
            done = len(self._rows)
            for begin in range(0, len(fresh), BLOCK):
                self._follow(fresh[begin : begin + BLOCK])
        return self._table(start)

    def _start(self) -> int:
        """The cell in which runs begin. Beyond where init leaves open what is read."""
        step, states = self._step, list(self._predicates.states)
        known = {var.name: int(var.init.constant_value()) for var in self._setting.system.state if var.init is not None}
        read = {symbol.symbol_name() for formula in states for symbol in symbols_of(formula)}
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
            spans = [grid.cells(found) for grid, found in zip(self._grids, numbers, strict=True)]
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
            if counts.max(initial=0) > WIDE or counts.sum() > self._most // MOVE:
                raise TooMany
            before = np.repeat(np.cumsum(counts) - counts, counts)
            cells, case = np.repeat(cells, counts, axis=1), np.repeat(case, counts)
            cells = np.concatenate([cells, (first[case] + 2 * (np.arange(len(case)) - before))[None, :]])
        return case, cells

    def _table(self, start: int) -> Table:
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
            starts=(start,),
            inputs=InputClasses(inputs, len(choices)),
            source=moves[:, 0].astype(np.int32),
            choice=moves[:, 2].astype(np.int32),
            target=moves[:, 1].astype(np.int32),
            open_fixed=False,
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
        if any(
            var.type.floating for var in setting.system.cone(plain(s) for f in setting.formulas for s in symbols_of(f))
        ):
            with suppress(Beyond):
                self._predicates, self._level = Predicates(setting), 0

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
            watch = Watch(table, self._predicates.setting, self._goals)
            found = search(watch, self._goals, replace(clock, limits=limits), below)
            if found.complete and found.length is None:
                return f"{table.size} cells of values, {table.steps} steps, {found.nodes} combinations with goals"
            if not found.complete:
                return ""
            self._level += 1
        return ""
