"""Localisation: what some goals do not need becomes an input of every step, and a bound for them is one for all.

State variables that are no part of the system any more may have any value in each step. Every run of the program is a
run of that smaller system, and leaving goals out only makes chains shorter: what no run there does, no chain does. Its
states are often few where those of the program are not: a counter beside a filter, a timer beside a queue.

What is *visible* begins with what one goal reads. The shortest chain of the smaller system through all goals that read
nothing else is followed in the program. Where it can be followed, the variables of a further goal are made visible,
too; where it cannot go on, one of the variables to blame (counterexample-guided: E. Clarke et al.,
Counterexample-guided abstraction refinement, 2000; R. Kurshan, Computer-aided verification of coordinating processes,
1994).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.errors import counted
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.lifting import lifted, with_free_comparisons
from bmc.formulas.unroll import plain_symbols
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN, InputVariable, Run, TransitionSystem, Valuation, conjunction, conjuncts
from chaincover.certificate import Part
from chaincover.chain import STORED
from chaincover.graph.enumerated import ENUMERATING
from chaincover.known import Board
from chaincover.problem import Problem
from chaincover.reductions.smaller_search import ON_STATES, SmallerSearch
from properties.goal import Goal

FIRST = 1.0
"""Units of work for the first search on each set of visible variables. With twice as many, large sets are given up
later, for other ones."""

LOCALISED = "chains in which some variables have any value"
"""The basis of a bound."""


def localised(problem: Problem, visible: Set[str]) -> Problem:
    """``problem`` with only the ``visible`` state variables, and those goals that read no others: the others may have
    any value in each step. Its chains may end anywhere if the final condition reads others, and conditions on a step to
    be defined that read others are left out. A comparison of two inputs, be they such variables, may turn out either
    way.

    What no run there does, no run of ``problem`` does. ``problem`` has goals of one step at most.
    """
    hidden = {var.name for var in problem.system.state} - visible
    goals = tuple(replace(goal, consequent=None) for goal in problem.goals if not _reads(goal) & hidden)
    ends = None if problem.final is None or names_in([problem.final]) & hidden else problem.final
    return replace(problem, system=_without(problem.system, hidden), goals=goals, final=ends)


def _without(system: TransitionSystem, hidden: Set[str]) -> TransitionSystem:
    """``system`` with the state variables ``hidden`` as inputs."""
    state = [var for var in system.state if var.name not in hidden]
    inputs = [*system.inputs, *(InputVariable(var.name, var.type) for var in system.state if var.name in hidden)]
    nexts, free = with_free_comparisons(lifted([var.next for var in state]), {var.name for var in inputs})
    return replace(
        system,
        state=tuple(replace(var, next=following) for var, following in zip(state, nexts, strict=True)),
        inputs=(*inputs, *(InputVariable(symbol.symbol_name(), BOOLEAN) for symbol in free)),
        defined=conjunction(part for part in conjuncts(system.defined) if not names_in([part]) & hidden),
        asserts=(),
        undefined_behaviour=(),
        assumptions=(),
        invariants=(),
        constraints=(),
        chosen=tuple(name for name in system.chosen if name not in hidden),
    )


def _reads(goal: Goal) -> set[str]:
    """The variables that ``goal`` reads, at whichever step."""
    return names_in(plain_symbols([goal.antecedent]))


@dataclass
class _Attempt:
    """A set of ``visible`` variables to be tried with so many ``units`` of work. ``lower``: a bound with fewer of
    them."""

    visible: frozenset[str]
    units: float = FIRST
    lower: int = 0


def localise(board: Board) -> None:
    """Search for the shortest chains of smaller systems; their lengths are lower bounds for every chain.

    Not where the states of all goals are enumerated or searched in layers, nor where there is a bound K.
    """
    if board.options.engine != ENUMERATING or board.options.bound is not None:
        return
    search = _Localising(board)
    while not (board.settled or board.known.no_chain) and search.left:
        if board.known.enumerated is not None or board.known.graph.exact:
            return
        search.go_on()


class _Localising:
    """The sets of visible variables that are left to be tried."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._problem = (board.whole or board.known.problem).of(board.known.targets)
        state = self._problem.system.state
        self._bits = {var.name: max(1, var.type.bits) for var in state}
        self._read = {goal.name: _reads(goal) & self._bits.keys() for goal in self._problem.goals}
        self._simulator = Simulator(self._problem.system)
        self._met: set[frozenset[str]] = set()
        self.left: list[_Attempt] = []
        for goal in self._problem.goals:
            self._try(self._needs(goal), 0)

    def _needs(self, goal: Goal) -> set[str]:
        """The variables that ``goal`` reads, with all that was made to remember something for it."""
        made = {var.name: var for var in self._problem.system.state if var.role == "internal"}
        found = self._read[goal.name]
        while more := {n for name in found & made.keys() for n in names_in([made[name].next]) & made.keys()} - found:
            found = found | more
        return found

    def _try(self, visible: Set[str], lower: int) -> None:
        """Try these variables later on, unless they were tried."""
        if frozenset(visible) not in self._met:
            self._met.add(frozenset(visible))
            self.left.append(_Attempt(frozenset(visible), FIRST, lower))

    def go_on(self) -> None:
        """Try one set: one that little work was spent on for the bound that it has or may bring."""
        worth = {attempt.visible: self._worth(attempt) for attempt in self.left}
        self.left = [attempt for attempt in self.left if worth[attempt.visible] > 0]
        if not self.left:
            return
        attempt = min(self.left, key=lambda each: each.units / (each.lower + worth[each.visible]))
        self.left.remove(attempt)
        part = localised(self._problem, attempt.visible)
        if len(attempt.visible) == len(self._bits) or not part.goals:
            return
        goals, left = counted(len(part.goals), "goal"), len(attempt.visible)
        self._board.say(f"localise: {goals}, with {left} of {len(self._bits)} variables")
        search = SmallerSearch(self._board, part, ON_STATES)
        try:
            found = search.go_on(attempt.units)
            finished = search.finished
        finally:
            search.end()
        if found is not None and found.certificate is not None:
            self._prove(Part(tuple(sorted(attempt.visible)), found.certificate))
        if not finished:
            self.left.append(replace(attempt, units=2 * attempt.units))
        elif found is not None and found.chain is not None and found.bounds.lower == found.chain.length:
            self._refine(attempt.visible, part, found.chain.run, found.bounds.lower)

    def _worth(self, attempt: _Attempt) -> int:
        """By how many steps the bound may rise at most: the chain covers the goals of the attempt sooner or later."""
        known = self._board.known
        hits = {} if known.chain is None else {hit.goal: hit.step for hit in known.chain.hits}
        far = 0
        for goal in self._problem.goals:
            if self._read[goal.name] <= attempt.visible:
                if goal.name not in hits:
                    return STORED
                far = max(far, self._problem.over(goal.name, hits[goal.name]))
        return far - known.lower

    def _prove(self, part: Part) -> None:
        """Note the bound of ``part``; where all shorter runs were searched nothing else is needed for it."""
        if part.proof.exhausted:
            part = replace(part, proof=replace(part.proof, edges=(), paths=(), order_bound=0, refuted=(0, 0)))
        if part.proof.lower > self._board.known.lower:
            self._board.prove(part=part, basis=LOCALISED)

    def _refine(self, visible: frozenset[str], part: Problem, run: Run, lower: int) -> None:
        """Follow the shortest chain of ``part``, and make more variables visible."""
        names = [var.name for var in self._problem.system.inputs]
        inputs = [{name: values[name] for name in names} for values in run.inputs]
        start = {var.name: run.states[0][var.name] for var in part.system.state if var.init is None}
        followed = self._simulator.run(self._simulator.initial(start), inputs)
        blamed = self._blamed(visible, run, followed)
        if blamed is not None:
            if blamed:
                self._try(visible | {min(blamed, key=lambda name: (self._bits[name], name))}, lower)
            return
        self._board.offer(self._board.replay(followed))
        for goal in self._problem.goals:
            if not self._read[goal.name] <= visible:
                self._try(visible | self._needs(goal), lower)

    def _blamed(self, visible: frozenset[str], run: Run, followed: Run) -> set[str] | None:
        """The variables for whose values ``run`` of the smaller system is not what the program does; None where it
        is."""
        system = self._problem.system
        for step, inputs in enumerate(run.inputs):
            terms = [
                var.next
                for var in system.state
                if var.name in visible and followed.states[step + 1][var.name] != run.states[step + 1][var.name]
            ]
            if not self._simulator.allowed(followed.states[step], followed.inputs[step]):
                terms = [system.input_constraint, system.defined]
            if terms:
                read = names_in(terms) & self._bits.keys() - visible
                return _differing(terms, read, {**inputs, **run.states[step]}, followed.states[step])
        return None


def _differing(terms: Sequence[FNode], read: Set[str], values: Valuation, others: Valuation) -> set[str]:
    """Of the variables ``read`` by ``terms`` those whose other values make a difference by themselves; if there are
    none, those with other values, or all."""
    evaluate = compile_formulas(terms)
    before = tuple(evaluate(values))
    found = {name for name in read if values.get(name) != others[name]}
    alone = {name for name in found if tuple(evaluate({**values, name: others[name]})) != before}
    return alone or found or {*read}
