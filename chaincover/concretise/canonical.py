"""Readable inputs for a plan: canonical ones, or tidy ones where there is no time left for them.

Canonical inputs do not depend on which model a solver happens to find. Open start values first, then step by step and
input by input, each gets the least value that still lets the rest of the plan be run: from 0 up, then the negative
ones; of floating ones the plainest (``bmc.floats.values``).

Where the states are enumerated, no solver is asked. Backward from the end, each step gets the states from which the
rest of the plan can be run; then, forward, the first input that leads into them is chosen. That is the least one:
inputs are enumerated from 0 up, and of those that nothing tells apart the first represents all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from math import inf

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, And, Not, Or

from bmc.engines.protocol import GATE, WORK, Status
from bmc.errors import CheckDisagreed, counted
from bmc.explicit.state_graph import StateGraph
from bmc.floats.format import FORMATS
from bmc.floats.ranges import every
from bmc.floats.values import plainest_first
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed, shift, unframed
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.ties import at_known_steps, tied_values, ties
from bmc.system.transition import (
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    ValueType,
    conjunction,
    equal,
    symbols_of,
)
from chaincover.chain import Chain, Plan
from chaincover.concretise.check_path import build_path, plan_length
from chaincover.concretise.tidy import tidy
from chaincover.graph.enumerated_goals import run_of, states_in
from chaincover.graph.goal_product import goal_product
from chaincover.graph.least_run import LeastRun
from chaincover.known import Board
from chaincover.limits import PER_UNIT, QUESTION, Limits
from chaincover.problem import Questions
from chaincover.replaying.judge import Judge, credited_with, open_variables

SIMULATED = 1000
"""Values of one floating variable that are tried by simulation before the solver is asked."""

ENCODED = 32
"""Steps of a chain that are encoded before it is looked at whether the work still suffices."""

STEPS = 20_000
"""Simulated steps for all trials together."""

NEAR = 150_000
"""Operations of all steps of a chain for which a question takes twice as long as its work says: a larger formula is no
longer near the processor. With twice as many, the questions about a chain of thousands of steps take nearly twice as
long as the limit for what comes after the search means."""


class Trials:
    """Runs of ``system`` that satisfy ``formulas`` (framed)."""

    def __init__(self, system: TransitionSystem, formulas: Sequence[FNode]) -> None:
        together = conjunction(formulas)
        self._simulator, self._tied = Simulator(system), tied_values(ties(system))
        self._holds = compile_formulas([together])
        self._read = [(s.symbol_name(), *unframed(s)) for s in symbols_of(together)]
        self._left = STEPS

    def run(self, run: Run, name: str, step: int | None, raw: int) -> Run | None:
        """``run`` with another start value (``step`` None) or input at ``step``, and what is tied to that.

        None if a step is not allowed or a formula fails, or all trials are used up.
        """
        if self._left <= 0:
            return None
        self._left -= max(run.length, 1)
        if step is None:
            return self._kept(self._simulator.run({**run.states[0], name: raw}, run.inputs))
        states, inputs = [*run.states[: step + 1]], [*run.inputs[:step], {**run.inputs[step], name: raw}]
        for own in run.inputs[step + 1 :]:
            states.append(self._simulator.step(states[-1], inputs[-1]))
            inputs.append({**own, **self._tied(states[-1])})
        states.append(self._simulator.step(states[-1], inputs[-1]))
        return self._kept(Run(tuple(states), tuple(inputs)))

    def _kept(self, run: Run) -> Run | None:
        pairs = zip(run.states, run.inputs, strict=False)
        if not all(self._simulator.allowed(state, values) for state, values in pairs):
            return None
        places = ((name, plain, run.states[step], run.inputs[step : step + 1]) for name, plain, step in self._read)
        values = {name: state[plain] if plain in state else given[0][plain] for name, plain, state, given in places}
        return run if self._holds(values)[0] else None


@dataclass(frozen=True, slots=True)
class _Slot:
    """One value to choose: a variable at a step; an open start value is at step 0.

    ``pieces`` are the allowed values, the least piece first. A value that lies in several is taken for one of the first
    of them.
    """

    name: str
    type: ValueType
    symbol: FNode
    step: int
    start: bool
    pieces: tuple[range, ...]

    def rank(self, run: Run) -> int:
        """The place of the run's value among the allowed ones, from 0."""
        values = run.states[0] if self.start else run.inputs[self.step]
        value = self.type.value(values[self.name])
        before = 0
        for piece in self.pieces:
            if value in piece:
                return before + (value - piece.start) // piece.step
            before += _size(piece)
        return before

    def at(self, rank: int) -> int | None:
        """The value at place ``rank``; None beyond the last one."""
        for piece in self.pieces:
            if rank < _size(piece):
                return piece[rank]
            rank -= _size(piece)
        return None

    def value(self, rank: int) -> FNode:
        """The formula: this slot has the value at place ``rank``."""
        value = self.at(rank)
        return FALSE() if value is None else equal(self.symbol, self.type.constant(value))

    def below(self, rank: int) -> FNode:
        """The formula: this slot has a value before place ``rank``."""
        parts = []
        for piece in self.pieces:
            if rank > 0:
                parts.append(self._among(piece[: min(rank, _size(piece))]))
            rank -= _size(piece)
        return Or(parts)

    def middle(self, impossible: int, possible: int) -> int:
        """A place to ask below, from ``impossible`` + 2 to ``possible``: where a piece begins, else half way."""
        borders = [place for place in accumulate(map(_size, self.pieces)) if impossible + 2 <= place <= possible]
        return borders[len(borders) // 2] if borders else (possible + impossible) // 2 + 1

    def _among(self, piece: range) -> FNode:
        if _size(piece) == 1:
            return equal(self.symbol, self.type.constant(piece[0]))
        least, greatest = self.type.constant(piece[0]), self.type.constant(piece[-1])
        if self.type.signed:
            return And(least.BVSLE(self.symbol), self.symbol.BVSLE(greatest))
        parts = [least.BVULE(self.symbol), self.symbol.BVULE(greatest)]
        if piece.step > 1:
            low_bits = piece.step.bit_length() - 1
            parts.append(self.symbol.BVExtract(0, low_bits - 1).Equals(BV(0, low_bits)))
        return And(parts)


def canonical_inputs(board: Board) -> Chain | None:
    """The best chain with canonical inputs, and whether it works for all open start values; None without a chain.

    From the enumerated states where these are at hand, else by queries: those that the limits for what comes after the
    search do not suffice for are left out, and the inputs that they leave open are tidy ones, as all are of a chain in
    jumps of counters, and where states were searched in layers. LimitReached when time is over.
    """
    chain, problem = board.known.chain, board.known.problem
    if chain is None:
        return None
    board.say(f"inputs: canonical values for {counted(chain.length, 'step')}")
    questions = board.questions  # whose session knows the runs from init already
    if chain.goals != {*questions.problem.names}:
        questions = Questions(problem.of(chain.goals), board.engine, board.limits)
    plan = Judge(questions.problem).plan(chain)
    after, states = board.limits.after(), board.known.enumerated
    run = None if states is None else enumerated_values(questions, states, plan, after.unspent)
    settled = run is not None
    if run is None:
        if board.accelerated is not None:  # its thousands of steps are not unrolled
            return tidy(board.known, board.limits.after())
        if board.known.reachable or (states is not None and _by_value(problem.system)):
            run = chain.run
        else:
            run, settled = canonicalise(questions, plan, chain.run, after)
    found = _no_worse(board, chain, run)
    if not settled:
        found = tidy(replace(board.known, chain=found), board.limits.after()) or found
    if board.known.enumerated is not None and _left_open(problem.system, board.known.enumerated):
        return replace(found, relies_on=())
    plan = Judge(questions.problem).plan(found)
    return replace(found, relies_on=start_dependence(questions, plan, found.run, board.limits.after()))


def _no_worse(board: Board, chain: Chain, run: Run) -> Chain:
    """The chain with the inputs of ``run``. CheckDisagreed if it covers less than ``chain``, or takes more steps."""
    found = credited_with(chain.goals, board.known.problem, run)
    least = board.known.lower if board.known.complete else 0  # other inputs may happen to make a shorter chain
    if found is None or not least <= found.length <= chain.length or not chain.goals <= found.goals:
        raise CheckDisagreed("the chain with canonical inputs covers less")
    return found


def _units(left: float) -> int | None:
    """Units of work for one question where so many are ``left``; None for no limit."""
    return None if left == inf else max(1, round(min(QUESTION, left)))


def canonicalise(questions: Questions, plan: Plan, run: Run, after: Limits) -> tuple[Run, bool]:
    """The canonical run of ``plan``, given one, and whether ``after`` sufficed for all questions.

    Where the solver gives up, the value found last stays. LimitReached when time is over.
    """
    search = _Search(questions, plan, run, after)
    slots = _slots(questions.problem.system, run) if search.encoded() else []
    done = 0
    while done < len(slots) and not search.over:
        done = search.settle(slots, done)
    return search.run, not search.over


class _Search:
    """Narrows the runs of one plan: ``run`` is a current model of ``fixed``."""

    def __init__(self, questions: Questions, plan: Plan, run: Run, after: Limits) -> None:
        self._questions, self._after = questions, after
        self._fixed, self._steps = build_path(questions.problem, plan)
        self._wanted = tuple(self._fixed)
        self._slowed = 1 + self._steps * Simulator(questions.problem.system).size / NEAR
        self._begun = after.spent
        self.run = run

    @cached_property
    def _trials(self) -> Trials:
        return Trials(self._questions.problem.system, self._wanted)

    @property
    def _question(self) -> int | None:
        """Units of work for the next question."""
        return _units(self._left / self._slowed)

    @property
    def _left(self) -> float:
        """Units of work left, where what was done so far has taken as much longer as the formula is large."""
        return self._after.unspent - (self._slowed - 1) * (self._after.spent - self._begun)

    @property
    def over(self) -> bool:
        """Whether the work is spent that may be."""
        return self._left <= 0

    def encoded(self) -> bool:
        """Encode the steps, a portion of them at a time, of which nothing is asked yet; whether the work sufficed."""
        limits, session = self._questions.limits, self._questions.from_init
        for steps in range(ENCODED, self._steps, ENCODED):
            if self.over:
                return False
            session.check([], steps, limits.for_query(), 0)
        return not self.over

    def settle(self, slots: Sequence[_Slot], first: int) -> int:
        """Fix as many slots from ``first`` as can be least together and the one after them; the next open one."""
        stop = self._most_at_least(slots, first)
        self._fixed += [slot.value(0) for slot in slots[first:stop]]
        if stop == len(slots):
            return stop
        self._fixed.append(slots[stop].value(self._least_rank(slots[stop])))
        return stop + 1

    def _least_from(self, slots: Sequence[_Slot], first: int) -> int:
        """The first slot from ``first`` on that is not least in the current run."""
        return next((i for i in range(first, len(slots)) if slots[i].rank(self.run) > 0), len(slots))

    def _most_at_least(self, slots: Sequence[_Slot], first: int) -> int:
        """The largest n such that the slots from ``first`` up to n can all be least; the run then shows it."""
        possible, ask, impossible = self._least_from(slots, first), len(slots), len(slots) + 1
        while possible < impossible - 1:
            wanted = [slot.value(0) for slot in slots[first:ask]]
            core = self._ask(wanted)
            if core is None:
                possible = max(ask, self._least_from(slots, ask))
            else:
                guilty = [i for i, formula in enumerate(wanted, first) if formula in core]
                impossible = min(ask, max(guilty, default=ask - 1) + 1)
            ask = (possible + impossible) // 2
        return possible

    def _least_rank(self, slot: _Slot) -> int:
        """The least place that ``slot`` can have, which is known not to be the first; the run then shows it."""
        if slot.type.floating:
            self._simulate_lower(slot)
            if self._ask([slot.below(slot.rank(self.run))]) is not None:
                return slot.rank(self.run)  # often only one value will do: not to be found among 2 ** 64 by halves
        impossible, possible = 0, slot.rank(self.run)
        while possible > impossible + 1:
            middle = slot.middle(impossible, possible)
            if self._ask([slot.below(middle)]) is None:
                possible = slot.rank(self.run)
            else:
                impossible = middle - 1
        return possible

    def _simulate_lower(self, slot: _Slot) -> None:
        """Take the first of the lower values with which the run, otherwise unchanged, still follows the plan."""
        for rank in range(1, min(slot.rank(self.run), SIMULATED)):
            value = slot.at(rank)
            assert value is not None
            found = self._trials.run(self.run, slot.name, None if slot.start else slot.step, value)
            if found is not None:
                self.run = found
                return

    def _ask(self, wanted: Sequence[FNode]) -> tuple[FNode, ...] | None:
        """None if ``wanted`` is possible besides what is fixed (the run then shows it), else an unsat core."""
        limits = self._questions.limits
        if self.over:
            return ()
        session = self._questions.from_init
        answer = session.check([*self._fixed, *wanted], self._steps, limits.for_query(), self._question)
        if answer.status is Status.SAT:
            self.run = session.run()
            return None
        limits.check()
        return answer.core


def _slots(system: TransitionSystem, run: Run) -> list[_Slot]:
    """The open start values, and the inputs of each step but for those that are tied there in every run."""
    tied = tied_values([tie for tie in ties(system) if at_known_steps(system, tie)])
    found = [_slot(var, 0, True) for var in system.state if var.init is None]
    for step, state in enumerate(run.states[:-1]):
        fixed = tied(state)
        found += [_slot(var, step, False) for var in system.inputs if var.name not in fixed]
    return found


def _slot(var: StateVariable | InputVariable, step: int, start: bool) -> _Slot:
    declared = var.values if isinstance(var, InputVariable) else var.starts
    if var.type.floating:
        form = FORMATS[var.type.bits]
        pieces = plainest_first(declared or every(form), form)
    else:
        pieces = _from_zero(declared or ((var.type.least, var.type.greatest),))
    return _Slot(var.name, var.type, framed(var.symbol, step), step, start, pieces)


def _from_zero(ranges: Sequence[tuple[int, int]]) -> tuple[range, ...]:
    """The values from 0 up, then the negative ones."""
    up = tuple(range(max(low, 0), high + 1) for low, high in ranges if high >= 0)
    return up + tuple(range(low, min(high, -1) + 1) for low, high in ranges if low < 0)


def _size(piece: range) -> int:
    """How many values a piece has, which may be too many for len()."""
    return (piece.stop - piece.start - 1) // piece.step + 1


def start_dependence(questions: Questions, plan: Plan, run: Run, after: Limits) -> tuple[str, ...]:
    """The variables that init leaves open and the tester does not choose, unless the chain works for all their values.

    Is there a start with which the inputs of ``run`` break a constraint, miss a goal of ``plan`` or the end? One
    question is about the first steps alone: behind them all is the same where every start leads to one state. One about
    all steps is asked where ``after`` suffices to translate them.
    """
    problem, names = questions.problem, tuple(var.name for var in open_variables(questions.problem.system))
    if not names:
        return ()
    begun = min(ENCODED, run.length)
    if begun < run.length:
        state = [
            equal(framed(var.symbol, begun), var.type.constant(run.states[begun][var.name]))
            for var in problem.system.state
        ]
        goals = zip(plan.goals, plan.starts, strict=True)
        met = [shift(problem.by_name[goal].antecedent, step) for goal, step in goals if step < begun]
        if _works(questions, [*met, *state], Run(run.states[: begun + 1], run.inputs[:begun]), after):
            return ()
    if run.length * Simulator(problem.system).size * GATE / WORK > after.unspent:
        return names
    return () if _works(questions, build_path(problem, plan)[0], run, after) else names


def _works(questions: Questions, formulas: Sequence[FNode], run: Run, after: Limits) -> bool:
    """Whether it is proved that the inputs of ``run`` are allowed and meet ``formulas`` from every start."""
    system = questions.problem.system
    free = replace(system, input_constraint=TRUE(), defined=TRUE(), invariants=())
    chosen = [
        equal(framed(var.symbol, 0), var.type.constant(run.states[0][var.name]))
        for var in system.state
        if var.name in system.chosen
    ]
    given = [
        equal(framed(var.symbol, step), var.type.constant(values[var.name]))
        for step, values in enumerate(run.inputs)
        for var in system.inputs
    ]
    step_ok = system.input_constraint.And(system.defined)
    wanted = conjunction([*formulas, *(at(step_ok, step) for step in range(run.length))])
    source = conjunction([at(system.init_formula, 0), *chosen])
    session = questions.engine.session(free, source, [wanted])
    units = _units(after.unspent)
    answer = session.check([*given, Not(wanted)], run.length, questions.limits.for_query(), units)
    return answer.status is Status.UNSAT


def _left_open(system: TransitionSystem, states: StateGraph) -> bool:
    """Whether all ``states`` were enumerated without the start values that init leaves open.

    Then no step reads them, nor does a goal or the end on any run, and every chain works for all of them.
    """
    rows, starts = states.states, [*states.starts]
    told = [var.name for var in open_variables(system) if var.name in rows.columns]
    return all(name in rows.open and rows.open[name][starts].all() for name in told)


MOST_CELLS = 1 << 30
"""States with what is pending of goals, times steps, where layers of them are kept: one bit of memory each."""


def enumerated_values(questions: Questions, graph: StateGraph, plan: Plan, units: float = inf) -> Run | None:
    """The canonical run of ``plan``, which must have one; None where that takes too much memory, or more than so many
    ``units`` of work, or is not defined so.

    ``graph`` enumerates the states for the goals and the final condition of ``questions``. Inputs and open start values
    must not be floating: of these others than the least are preferred.
    """
    problem, check = questions.problem, questions.limits.check
    system, goals, final = problem.system, problem.by_name, problem.final
    wanted = [goals[name] for name in dict.fromkeys(plan.goals)]
    if not _by_value(system):
        return None
    made = goal_product(replace(problem, goals=tuple(wanted)), graph, check)
    length = plan_length(problem, plan)
    if made is None:
        return None
    taken = 0

    def allow(cells: int) -> bool:
        nonlocal taken
        taken += cells
        if taken > min(MOST_CELLS, units * PER_UNIT.cells):
            return False
        questions.limits.spend(cells / PER_UNIT.cells)
        return True

    if not allow(len(made.arrows.ends)):
        return None
    completed = [0] * (length + 1)
    for name, start in zip(plan.goals, plan.starts, strict=True):
        completed[problem.over(name, start)] |= 1 << wanted.index(goals[name])
    final_nodes = states_in(graph, final)
    found = LeastRun(graph, made, completed, check, allow).found(final_nodes)
    return None if found is None else run_of(system, graph, *found)


def _by_value(system: TransitionSystem) -> bool:
    """Whether the canonical inputs and start values are the least ones: none is floating."""
    types = [var.type for var in system.inputs] + [var.type for var in system.state if var.init is None]
    return not any(kind.floating for kind in types)
