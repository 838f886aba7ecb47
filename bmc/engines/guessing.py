"""Sessions for systems with floating-point arithmetic: bounds, a solver that knows them, trial runs.

The circuits of floats are large: a solver decides most questions at once, and of the others it may take minutes for
one that a run that is tried, or bounds of the numbers, settle. A found run is checked on the circuits, and a refuted
query rests on sound bounds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import And, Or

from bmc.analysis.state_values import raw_ranges
from bmc.analysis.values import Box
from bmc.engines.bounding import Bounding, Leaf, name_at
from bmc.engines.protocol import (
    INSTRUCTION,
    SETS,
    WORK,
    Alternative,
    Answer,
    Cost,
    Deadline,
    OutOfTime,
    Session,
    Status,
    check_in_turn,
)
from bmc.floats.format import FORMATS
from bmc.floats.operations import COMPARISONS, Program, Values, beyond_solvers, operation_of
from bmc.floats.ranges import values_in
from bmc.floats.values import ATTEMPTS, FloatSamples, constants_in
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, unframed
from bmc.formulas.value_sets import Ranges, common, contains, whole
from bmc.records import dataclass
from bmc.system.memory import fixed_memory, recalled
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    proved_invariants,
    symbols_of,
)

RANDOM, CHANGES = 60, 240
"""Runs that are drawn, and changes of the best that are tried, for one query."""
INSTRUCTIONS = 1_000_000
"""Instructions that the runs for one query may take in all: in large systems there are fewer runs."""
DEPTH = 60
"""Nesting of a formula down to which it is told how far a run misses it."""
KEPT = 200
"""States of successful runs from which later ones may start."""
FIRST = 4.0
"""Units of the solver's work for a query before runs are tried, at most.

Half as many after each query that it did not decide by then, twice as many after each that it just decided.
"""

Start = dict[str, int]
Inputs = list[dict[str, int]]


class Sampling:
    """Tries runs of ``system``; repeatable. Host arithmetic computes the steps, the circuits check the results."""

    def __init__(self, system: TransitionSystem, simulator: Simulator, cost: Callable[[], Cost] = Cost) -> None:
        """``cost`` tells where work is counted. ``first``: the work of the solver before runs are tried."""
        self._cost = cost
        self._system = system
        self._simulator = simulator
        steps = [*(var.next for var in system.state), conjunction([system.input_constraint, system.defined])]
        self._proved = proved_invariants(system)
        self._program = Program(steps)
        self._random = random.Random(1)
        self._floats = {
            bits: FloatSamples(form, constants_in([steps[-1], *steps[:-1]], form), self._random)
            for bits, form in FORMATS.items()
        }
        self._needed = {var.name: 0 for var in system.state} | {var.name: 1 for var in system.inputs}
        self._seen: list[Valuation] = []
        self._choices: dict[tuple[str, Ranges], Ranges] = {}
        self.first = FIRST

    def asked_first(self, solve: Callable[[float], Answer], most: float) -> Answer:
        """What the solver answers within ``first`` units, which are more from now on if that was just enough.

        ``most`` is the limit if that is less."""
        units, before = min(self.first, most), self._cost().effort
        answer = solve(units)
        if answer.status is Status.UNKNOWN:
            self.first /= 2
        elif self._cost().effort - before > units / 2:
            self.first = min(FIRST, 2 * self.first)
        return answer

    def run(self, formulas: Sequence[FNode], steps: int, box: Box) -> Run | None:
        """A run of ``steps`` valid steps that satisfies ``formulas`` (framed); None if none was found.

        ``box``: sets of framed symbols in which such runs lie.
        """
        if any(unframed(s)[0] not in self._needed for formula in formulas for s in symbols_of(formula)):
            return None
        wanted = _Distance(formulas)
        best: tuple[float, Start, Inputs] | None = None
        most = INSTRUCTIONS // (len(self._program.instructions) * max(steps, 1) + 1)
        for number in range(min(RANDOM + CHANGES, most)):
            if number < min(RANDOM, most // 4) or best is None:
                start, inputs = self._start(box), self._drawn(steps, box)
            else:
                start, inputs = self._changed(best[1], best[2], box)
            states = self._states(start, inputs, box)
            self._cost().work += len(self._program.instructions) * max(steps, 1) * INSTRUCTION
            if states is None:
                continue
            far = wanted.of(self._framed(states, inputs))
            if best is None or far <= best[0]:
                best = far, start, inputs
            if far == 0:
                found = self._checked(start, inputs, formulas)
                if found is not None:
                    self._seen = [*self._seen, *found.states][-KEPT:]
                    return found
            if number >= ATTEMPTS and best is None:
                return None
        return None

    def span(self, formula: FNode) -> int:
        """Steps that a framed formula needs: a state at step j needs j, an input j + 1."""
        read = [unframed(symbol) for symbol in symbols_of(formula)]
        return max((step + self._needed[name] for name, step in read if name in self._needed), default=0)

    def count(self, sets: int) -> None:
        """So many sets of values were found for a question."""
        self._cost().work += sets * SETS

    def _start(self, box: Box) -> Start:
        """A state in ``box``: one seen before, or drawn."""
        if self._seen and self._random.random() < 0.5:
            seen = self._random.choice(self._seen)
            if all(contains(box.get(name_at(name, 0), ((value, value),)), value) for name, value in seen.items()):
                return dict(seen)
        return {var.name: self._value(var, 0, box) for var in self._system.state}

    def _value(self, var: StateVariable | InputVariable, step: int, box: Box) -> int:
        ranges = box.get(name_at(var.name, step)) or whole(var.type.bits)
        if isinstance(var, InputVariable):
            ranges = self._allowed(var, ranges)
        if ranges[0][0] == ranges[-1][1]:
            return ranges[0][0]
        if var.type.floating and values_in(ranges, FORMATS[var.type.bits]):
            return self._floats[var.type.bits].draw(ranges)
        low, high = self._random.choice(ranges)
        if self._random.random() < 0.3:
            return self._random.choice((low, high, min(max(low, 0), high), min(max(low, 1), high)))
        return self._random.randint(low, high)

    def _allowed(self, var: InputVariable, ranges: Ranges) -> Ranges:
        """``ranges`` without values that the input does not take; ``ranges`` itself where nothing would be left."""
        key = (var.name, ranges)
        if key not in self._choices:
            self._choices[key] = common(raw_ranges(var), ranges) or ranges
        return self._choices[key]

    def _drawn(self, steps: int, box: Box) -> Inputs:
        """Inputs that change often, seldom or never."""
        rate = self._random.choice((0.0, 0.15, 0.5, 1.0))
        rows: Inputs = []
        for step in range(steps):
            row = {}
            for var in self._system.inputs:
                kept = rows[-1][var.name] if rows and self._random.random() >= rate else None
                fits = kept is not None and contains(box.get(name_at(var.name, step), ((kept, kept),)), kept)
                row[var.name] = kept if fits and kept is not None else self._value(var, step, box)
            rows.append(row)
        return rows

    def _changed(self, start: Start, inputs: Inputs, box: Box) -> tuple[Start, Inputs]:
        """One variable drawn again: of the start, or an input from one step to another."""
        start, inputs = dict(start), [dict(row) for row in inputs]
        choices = self._random.randint(1, 2)
        for _ in range(choices):
            if not inputs or not self._system.inputs or self._random.random() < 0.15:
                var = self._random.choice(self._system.state)
                start[var.name] = self._value(var, 0, box)
                continue
            changed = self._random.choice(self._system.inputs)
            first = self._random.randrange(len(inputs))
            last = self._random.choice((first, first, len(inputs) - 1, self._random.randrange(first, len(inputs))))
            value = self._value(changed, first, box)
            for step in range(first, last + 1):
                inputs[step][changed.name] = value
        return start, inputs

    def _states(self, start: Start, inputs: Inputs, box: Box) -> list[Valuation] | None:
        """The states; inputs that are not allowed are replaced. None where no allowed ones were found."""
        states: list[Valuation] = [start]
        for step, row in enumerate(inputs):
            for attempt in range(ATTEMPTS):
                if attempt:
                    row.update({var.name: self._value(var, step, box) for var in self._system.inputs})
                values = self._program.run({**states[-1], **row})
                *after, valid = (values[place] for place in self._program.results)
                if valid:
                    states.append({var.name: value for var, value in zip(self._system.state, after, strict=True)})
                    break
                if not self._system.inputs:
                    return None
            else:
                return None
        return states

    def _framed(self, states: Sequence[Valuation], inputs: Sequence[Valuation]) -> dict[str, int]:
        rows = (*enumerate(states), *enumerate(inputs))
        return {name_at(name, step): value for step, row in rows for name, value in row.items()}

    def _checked(self, start: Start, inputs: Inputs, formulas: Sequence[FNode]) -> Run | None:
        """The run, if the circuits too say that it is valid and satisfies ``formulas``."""
        run = self._simulator.run(start, inputs)
        valid = all(self._simulator.allowed(s, i) for s, i in zip(run.states, inputs, strict=False))
        proved = [at(self._proved, step) for step in range(run.length + 1)]
        holds = compile_formulas([*formulas, *proved])(self._framed(run.states, inputs))
        return run if valid and all(holds) else None


class _Distance:
    """How far values are from satisfying all ``formulas``: 0 where they do, below 1 for each part that does not."""

    def __init__(self, formulas: Sequence[FNode]) -> None:
        self._formulas = formulas
        self._program = Program(formulas)

    def of(self, symbols: Mapping[str, int]) -> float:
        values = self._program.run(symbols)
        done: dict[tuple[FNode, bool], float] = {}
        return sum(self._far(formula, True, values, done, DEPTH) for formula in self._formulas)

    def _far(
        self, node: FNode, wanted: bool, values: Values, done: dict[tuple[FNode, bool], float], depth: int
    ) -> float:
        if bool(values[self._program.places[node]]) == wanted:
            return 0.0
        if (node, wanted) not in done:
            done[node, wanted] = self._miss(node, wanted, values, done, depth)
        return done[node, wanted]

    def _miss(
        self, node: FNode, wanted: bool, values: Values, done: dict[tuple[FNode, bool], float], depth: int
    ) -> float:
        kind = node.node_type()
        floating = operation_of(node)
        if floating is not None:
            if floating.name not in COMPARISONS:
                return 1.0
            form = floating.form
            left, right = (_in_order(values[self._program.places[arg]], form.sign) for arg in floating.operands)
            return _near(left, right)
        if kind == op.NOT:
            return self._far(node.arg(0), not wanted, values, done, depth)
        if kind in (op.AND, op.OR) and depth:
            parts = [self._far(part, wanted, values, done, depth - 1) for part in node.args()]
            return sum(parts) if (kind == op.AND) == wanted else min(parts)
        if kind in (op.EQUALS, op.BV_ULT, op.BV_ULE, op.BV_SLT, op.BV_SLE):
            left, right = (values[self._program.places[arg]] for arg in node.args())
            return _near(left, right)
        return 1.0


def _near(left: int, right: int) -> float:
    """Above 0, below 1; the more, the further apart."""
    return 1 - 1 / (2 + math.log2(1 + abs(left - right)))


def _in_order(raw: int, sign: int) -> int:
    """Numbers' patterns in the order of the numbers."""
    return sign - raw if raw & sign else raw


LEAVES = 16
"""So many combinations of alternatives are tried by runs of their own."""
EFFORT = 1
"""The solver's work for one query (see the protocol) where the caller sets no limit: floats can take for ever."""
SHARE = 0.1
"""What has settled no question yet, the solver or combinations of alternatives, may take so much of the effort."""
QUICK = 0.05
"""The part of the effort for a query that the solver has before bounds are found, and these before it has the rest."""
PATIENCE = 2
"""After so many queries that it gave up on, the solver of a session is asked no longer ones, nor any as long, unless
it may work more on them."""


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether a run of ``steps`` steps satisfies ``formulas``; ``plain`` say the same without variables that remember
    earlier steps.

    It may take ``effort``; of this the solver may take ``allowed``.
    """

    formulas: Sequence[FNode]
    plain: Sequence[FNode]
    steps: int
    deadline: Deadline
    effort: float
    allowed: float


class GuessingSession:
    """A session from ``source``; ``make`` makes the solver's session when it is first needed."""

    def __init__(
        self,
        system: TransitionSystem,
        source: FNode,
        goals: Sequence[FNode],
        sampling: Sampling,
        make: Callable[[], Session],
    ) -> None:
        self._source = source
        self._bounding = Bounding(system, source)
        self._memory = fixed_memory(system)
        self._made = 0
        self._sampling = sampling
        self._make = make
        self._solver: Session | None = None
        self._found: Callable[[], Run] | None = None
        self._by_leaves = False
        self._given_up: list[tuple[int, float]] = []
        self._too_many = (math.inf, 0.0)
        steps = [system.input_constraint, system.defined, *(var.next for var in system.state)]
        self._beyond = beyond_solvers([source, *goals, *steps])

    @cached_property
    def _least(self) -> int:
        return self._sampling.span(self._source)

    def check(
        self, formulas: Sequence[FNode], steps: int, time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol; ValueError if a formula reaches beyond ``steps``. ``effort`` 0: the solver is not asked."""
        steps = max(steps, self._least)
        self._found = None
        for formula in formulas:
            if self._sampling.span(formula) > steps:
                raise ValueError(f"a formula of {self._sampling.span(formula)} steps in a query over {steps} steps")
        try:
            return self._answer(formulas, steps, Deadline(time_limit), EFFORT if effort is None else effort)
        except OutOfTime:
            return Answer(Status.UNKNOWN)

    def _answer(self, formulas: Sequence[FNode], steps: int, deadline: Deadline, effort: float) -> Answer:
        """By the solver (bounds before its first question), bounds, combinations of alternatives, the solver with more
        effort, trial runs, and the solver again, told of what is left.

        Once combinations have settled a question, they may take as much effort as the solver, and runs are tried before
        it. It is not asked where it gave up on as much with as much effort.
        """
        deadline.left()
        plain = recalled(formulas, self._memory)
        question = _Question(formulas, plain, steps, deadline, effort, self._allowed(steps, effort))
        answer, box = self._at_once(question)
        if answer.status is not Status.UNKNOWN:
            return answer
        leaves, complete = self._leaves(plain, steps, effort if self._by_leaves else QUICK / 2 * effort)
        if complete and not leaves:
            return self._none_left(question)
        first = 0 if self._by_leaves else min(question.allowed, self._sampling.first)
        if first:
            answer = self._sampling.asked_first(lambda units: self._solved(question, units), first)
            if answer.status is not Status.UNKNOWN:
                return answer
        if self._tried(plain, steps, box):
            return Answer(Status.SAT)
        if not complete and not self._by_leaves:
            leaves, complete = self._leaves(plain, steps, effort * SHARE)
        answer = self._combined(question, leaves, complete)
        if answer.status is Status.UNKNOWN and question.allowed:
            answer = self._at_last(question, question.allowed - first, leaves if complete else [])
        return answer

    def _allowed(self, steps: int, effort: float) -> float:
        """The solver's work for a question; none where the arithmetic is beyond solvers, or it gave up too often."""
        given_up = sum(1 for length, units in self._given_up if length <= steps and units >= effort)
        if self._beyond or given_up >= PATIENCE:
            return 0
        return effort * SHARE if self._by_leaves else effort

    def _at_once(self, question: _Question) -> tuple[Answer, Box]:
        """What bounds refute, or before them the solver with little effort answers; else the box of the runs."""
        quick = bool(question.allowed) and not self._by_leaves
        bounds = self._bounds(question.plain, question.steps) if self._solver is None or not quick else None
        if quick and (bounds is None or bounds[0] is None):
            answer = self._solved(question, QUICK * question.allowed)
            if answer.status is not Status.UNKNOWN:
                return answer, {}
        core, box = bounds or self._bounds(question.plain, question.steps)
        if core is None:
            return Answer(Status.UNKNOWN), box
        named = (formula for formula, part in zip(question.formulas, question.plain, strict=True) if part in core)
        return Answer(Status.UNSAT, tuple(named)), box

    def _none_left(self, question: _Question) -> Answer:
        """No combination of alternatives is possible: combinations may take more effort from now on."""
        self._by_leaves = True
        return Answer(Status.UNSAT, tuple(question.formulas))

    def _combined(self, question: _Question, leaves: Sequence[Leaf], complete: bool) -> Answer:
        """By trial runs for each combination of alternatives; UNSAT where these are ``complete`` and none is left."""
        tried = leaves[:LEAVES] if not complete or (leaves and leaves[0].chosen) else []
        if any(self._tried(leaf.formulas, question.steps, leaf.box) for leaf in tried):
            self._by_leaves = True
            return Answer(Status.SAT)
        return self._none_left(question) if complete and not leaves else Answer(Status.UNKNOWN)

    def _at_last(self, question: _Question, effort: float, leaves: Sequence[Leaf]) -> Answer:
        """By the solver with the ``effort`` that is left, told of ``leaves``, if these are all combinations."""
        if effort > 0:
            left = [Or([And(leaf.chosen) for leaf in leaves])] if leaves and leaves[0].chosen else []
            answer = self._solved(question, effort, left)
            if answer.status is not Status.UNKNOWN:
                self._by_leaves = False
                return answer
        self._given_up.append((question.steps, question.effort))
        return Answer(Status.UNKNOWN)

    def _bounds(self, formulas: Sequence[FNode], steps: int) -> tuple[tuple[FNode, ...] | None, Box]:
        """What bounds refute; see ``Bounding.refuted``."""
        found = self._bounding.refuted(formulas, steps)
        self._count_sets()
        return found

    def _solved(self, question: _Question, effort: float, left: Sequence[FNode] = ()) -> Answer:
        """The solver's answer. It is told the bounds of all runs, and what combinations leave of those asked for."""
        if self._solver is None:
            self._solver = self._make()
        formulas, steps = question.formulas, question.steps
        told = [*formulas, *self._bounding.facts(steps), *left]
        answer = self._solver.check(told, steps, question.deadline.left(), effort)
        self._found = self._solver.run if answer.status is Status.SAT else None
        if not set(left).isdisjoint(answer.core):
            return Answer(answer.status, tuple(formulas))
        asked = set(formulas)
        return Answer(answer.status, tuple(formula for formula in answer.core if formula in asked))

    def check_any(
        self, alternatives: Sequence[Alternative], time_limit: float | None = None, effort: float | None = None
    ) -> Answer:
        """See the protocol: the fewest steps first, since bounds and trials tell most of short runs."""
        return check_in_turn(self, alternatives, time_limit, effort)

    def run(self) -> Run:
        """See the protocol."""
        if self._found is None:
            raise RuntimeError("the last query of this session was not satisfiable: it has no run")
        return self._found()

    def _count_sets(self) -> None:
        """Count the sets that were found since the last time."""
        self._sampling.count(self._bounding.made - self._made)
        self._made = self._bounding.made

    def _leaves(self, formulas: Sequence[FNode], steps: int, effort: float) -> tuple[list[Leaf], bool]:
        """Combinations of alternatives that are possible, and whether these are all.

        Where finding them took more than ``effort`` they are sought again only in shorter runs, or with more effort.
        """
        length, most = self._too_many
        if steps >= length and effort <= most:
            return [], False
        leaves, complete = self._bounding.leaves(formulas, steps, round(effort * WORK / SETS))
        self._count_sets()
        if not complete:
            self._too_many = (steps, effort)
        return leaves, complete

    def _tried(self, formulas: Sequence[FNode], steps: int, box: Box) -> bool:
        """Whether a run is found by trials, which is then that of the question."""
        run = self._sampling.run([self._source, *formulas], steps, box)
        self._found = None if run is None else lambda: run
        return run is not None
