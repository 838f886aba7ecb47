"""Questions for model checkers about chains, paths of goals and invariants: a system with monitors, and a bad state.

Goals take one step at most, and may share steps: others are made so first, by monitors (``properties.one_step``). What
a run has done so far is state. A goal of one step is noted in that step, with the next-state functions in place of the
state after it; a goal of no step is a condition on a state. So ``bad`` reads states alone, and a counterexample of k
steps (the bad state is the one of frame k, where the start state is frame 0) is a run of k steps.

The variable *valid so far* becomes false for good in a step that is not allowed or not defined, or from a start that is
none; ``bad`` needs it to be true. Model checkers are given no constraint (docs/adr/0022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVUGE, BVULT, TRUE, get_free_variables

from bmc.formulas.terms import both, choose, either, implies, negate
from bmc.formulas.unroll import at, framed, unplaced, with_terms
from bmc.system.memory import Memory
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    StateVariable,
    TransitionSystem,
    ValueType,
    conjunction,
    symbols_of,
)
from chaincover.certificate import PathFact
from chaincover.exporters.protocol import VALID, Question, Statement
from chaincover.problem import Problem
from chaincover.weights import INIT
from properties.goal import Goal


class Notes:
    """The system of ``problem``, whose goals take one step at most, and what is noted of its runs.

    ``known`` is true of every state that the program reaches: runs begin in any state of which it is, and keep to such
    states. None: runs begin in init.
    """

    def __init__(self, problem: Problem, known: FNode | None = None) -> None:
        system = problem.system
        self.problem = problem
        self.memory = Memory("earlier")
        self.first = negate(self.memory.after(1))
        self._inputs: list[InputVariable] = []
        self._notes: list[StateVariable] = []
        self._program = system.state
        if known is None:
            known = implies(self.first, conjunction(var.start for var in system.state if var.init is None))
        else:
            self._program = tuple(replace(var, init=None, starts=()) for var in system.state)
        self._step = conjunction([system.input_constraint, system.defined])
        free = self._step.is_true() and known.is_true()
        self.valid = TRUE() if free else both(BOOLEAN.symbol(VALID), known)
        if not free:
            self.note(VALID, self.valid_step, begins=1)

    @property
    def valid_step(self) -> FNode:
        """That the run up to here and the step at hand are valid; over state and inputs."""
        return both(self.valid, self._step)

    def note(self, name: str, following: FNode, begins: int = 0) -> FNode:
        """A new state variable that is ``following`` after each step; its symbol."""
        kind = BOOLEAN if following.get_type().is_bool_type() else _count(following.bv_width())
        self._notes.append(StateVariable(name, kind, kind.constant(begins), following, "internal"))
        return kind.symbol(name)

    def sticky(self, name: str, event: FNode) -> FNode:
        """A new variable that is true after the first step in which ``event``, over state and inputs, holds."""
        return self.note(name, either(BOOLEAN.symbol(name), event))

    def free_input(self, name: str) -> FNode:
        """A new Boolean input, which the model checker chooses in each step; its symbol. No variable of a program has a
        ``name`` with a space in it."""
        self._inputs.append(InputVariable(name, BOOLEAN))
        return BOOLEAN.symbol(name)

    def condition(self, goal: Goal) -> FNode:
        """Where ``goal`` holds: over the state if it takes no step, else over the state and the inputs of its step."""
        after = {framed(var.symbol, 1): at(var.next, 0) for var in self.problem.system.state if goal.takes_step}
        read = {symbol: after[symbol] for symbol in symbols_of(goal.antecedent) if symbol in after}
        return unplaced(with_terms([goal.antecedent], read))[0]

    def question(self, statement: Statement, bad: FNode, frames: int | None) -> Question:
        """The question whether ``bad`` is reached, on the part of the system that matters to it."""
        whole = TransitionSystem(
            self.problem.system.name,
            (*self._program, *self.memory.variables, *self._notes),
            (*self.problem.system.inputs, *self._inputs),
        )
        state = whole.cone([bad])
        read = set(get_free_variables(bad)).union(*(get_free_variables(var.next) for var in state))
        inputs = tuple(var for var in whole.inputs if var.symbol in read)
        return Question(statement, replace(whole, state=state, inputs=inputs), bad, frames)


def _count(bits: int) -> ValueType:
    """The type of a counter."""
    return ValueType("count", bits)


def _raised(count: FNode, most: int) -> FNode:
    """``count`` and one more, ``most`` at most."""
    bits = count.bv_width()
    return choose(BVULT(count, BV(most, bits)), count + BV(1, bits), BV(most, bits))


# chains


def chain_question(
    problem: Problem, statement: Statement, frames: int | None = None, least: int | None = None
) -> Question:
    """Is there a run from init that covers all goals of ``problem``, or at least so many, and may end as it asks?

    A counterexample of k steps is a chain of k steps: exactly as many, from init to the state in which ``final`` holds.
    """
    notes = Notes(problem.in_one_step(problem.names)[0])
    covered = _covered(notes)
    enough = conjunction(covered) if least is None else _at_least(covered, least)
    final = TRUE() if problem.final is None else problem.final
    return notes.question(statement, conjunction([enough, final, notes.valid]), frames)


def _covered(notes: Notes) -> list[FNode]:
    """For each goal that the run up to this state covers it; goals that ask for the same share a variable."""
    known: dict[tuple[FNode, bool], FNode] = {}
    found = []
    for goal in notes.problem.goals:
        key = goal.antecedent, goal.takes_step
        if key not in known:
            event = notes.condition(goal)
            flag = notes.sticky(f"covered {goal.name}", event)
            known[key] = flag if goal.takes_step else either(flag, event)
        found.append(known[key])
    return found


def _at_least(conditions: Sequence[FNode], least: int) -> FNode:
    """That at least so many of ``conditions`` hold."""
    bits = max(len(conditions), least).bit_length()
    ones = (choose(condition, BV(1, bits), BV(0, bits)) for condition in conditions)
    return BVUGE(reduce(lambda one, other: one + other, ones, BV(0, bits)), BV(least, bits))


# paths of goals


def path_question(problem: Problem, fact: PathFact, statement: Statement, known: FNode | None) -> Question:
    """Does a run cover the nodes of ``fact.path`` in this order, the last one less than ``at_least`` steps after the
    first?

    Its goals take one step at most, and may share steps.

    Runs begin with the first node, in init if that is the first node, else in any state of which ``known`` is true.
    Where the first node is a goal and ``known`` is None, runs begin in init and reach it somewhere: counters know how
    many steps ago the first node began, and no number of frames is enough.

    Where some node takes a step each is seen one step after its start, else at once. So a bad state in frame k is a run
    whose last node starts at step k less this step, or that ends there.
    """
    path = fact.path
    once = path[0] == INIT or known is not None
    notes = Notes(problem, None if path[0] == INIT else known)
    starts = _starts(notes, path, once)
    if once:
        bad = _in_order(notes, path, starts)
        return notes.question(statement, bad, fact.at_least + any(map(problem.takes_step, path)))
    return notes.question(statement, _close(notes, path, starts, fact.at_least), None)


def _starts(notes: Notes, path: Sequence[str], once: bool) -> list[FNode]:
    """For each node of ``path``: it started one step ago, or now where none takes a step, and its run was valid.

    ``once``: the first one at the start of the run alone. Where the last node is the end the model checker picks the
    state in which the run ends, by an input that stops it: no node is seen that ends later.
    """
    problem, memory = notes.problem, notes.memory
    moves = any(map(problem.takes_step, path))
    going, goes_on = TRUE(), TRUE()
    if moves and path[-1] == problem.end:
        going, goes_on = BOOLEAN.symbol("not stopped"), negate(notes.free_input("stop here"))
        notes.note("not stopped", both(going, goes_on), begins=1)
    found = []
    for number, node in enumerate(path):
        if node == INIT or node == problem.end:
            condition = TRUE() if node == INIT or problem.final is None else problem.final
        else:
            condition = notes.condition(problem.by_name[node])
        if number == 0 and once:
            condition = both(condition, notes.first)
        if problem.takes_step(node):
            seen = conjunction([condition, notes.valid_step, going, goes_on])
            seen = notes.note(f"ended {number} {node}", seen)
        else:
            seen = memory.before(conjunction([condition, notes.valid, going]), int(moves))
        if node == problem.end and moves:
            seen = both(seen, negate(going))
        found.append(seen)
    return found


def _in_order(notes: Notes, path: Sequence[str], starts: Sequence[FNode]) -> FNode:
    """That the last node starts, and the others have started in order before."""
    before: FNode = TRUE()
    for number, start in enumerate(starts[:-1]):
        name = f"reached {number} {path[number]}"
        before = either(BOOLEAN.symbol(name), both(start, before))
        notes.note(name, before)
    return both(starts[-1], before)


def _close(notes: Notes, path: Sequence[str], starts: Sequence[FNode], below: int) -> FNode:
    """That the last node starts less than ``below`` steps after the first, the others in order between them.

    For each node a counter knows the least number of steps since the first one started, where the nodes up to this one
    have started in order since.
    """
    bits = (below + 1).bit_length()
    before = BV(0, bits)
    for number, start in enumerate(starts[:-1]):
        name = f"steps for {number} {path[number]} ({bits} bits)"
        count = _count(bits).symbol(name)
        before = choose(both(start, BVULT(before, count)), before, count)
        notes.note(name, _raised(before, below), begins=below)
    return both(starts[-1], BVULT(before, BV(below, bits)))


# invariants


def invariant_question(problem: Problem, statement: Statement, holds: FNode) -> Question:
    """Does ``holds``, over the state, fail in some state that a run from init reaches?"""
    notes = Notes(problem)
    return notes.question(statement, both(notes.valid, negate(holds)), None)
