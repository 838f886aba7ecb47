"""Localisation: what some goals do not need becomes an input of every step, and a bound for them is one for all.

State variables that are no part of the system any more may have any value in each step. Every run of the program is a
run of that smaller system, and leaving goals out only makes chains shorter: what no run there does, no chain does. Its
states are often few where those of the program are not: a counter beside a filter, a timer beside a queue.

What is *visible* begins with what one goal reads. The shortest chain of the smaller system through all goals that read
nothing else is followed in the program. The variables of each further goal are made visible next, and where it cannot
go on one of the variables to blame before these (counterexample-guided: E. Clarke et al., Counterexample-guided
abstraction refinement, 2000; R. Kurshan, Computer-aided verification of coordinating processes, 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from math import log2

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.analysis.slice import is_large
from bmc.analysis.state_values import state_values
from bmc.errors import counted
from bmc.explicit.batch import Batch
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.lifting import lifted, with_free_comparisons
from bmc.formulas.unroll import plain_symbols
from bmc.invariants.candidates import within
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import (
    BOOLEAN,
    InputVariable,
    Run,
    StateVariable,
    TransitionSystem,
    Valuation,
    conjunction,
    conjuncts,
    with_stated_values,
)
from chaincover.certificate import Part, formula_text
from chaincover.chain import STORED, Chain
from chaincover.graph.enumerated import ENUMERATING, analysed
from chaincover.known import Board, Lead
from chaincover.limits import EffortUsedUp
from chaincover.problem import Problem
from chaincover.reductions.smaller_search import ON_STATES, SmallerSearch
from chaincover.runs.guided import LEAST, GuidedSearch
from properties.goal import Goal

FIRST = 1.0
"""Units of work for the first search on each set of visible variables. With twice as many, large sets are given up
later, for other ones."""

IN_VAIN = 4
"""Times the work that a set of variables counts for which has others in vain. With twice as many, goals that only
together take more steps are tried together later."""

WIDEST = 64
"""Bits of a variable of a program in which a run as short as that of a smaller system is sought, at most."""

LOCALISED = "chains in which some variables have any value"
"""The basis of a bound."""


def localised(
    problem: Problem, visible: Set[str], values: FNode | None = None, nexts: Mapping[str, FNode] | None = None
) -> Problem:
    """``problem`` with only the ``visible`` state variables, and those goals that read no others.

    The others may have any value in each step, of those that the invariant ``values`` leaves to each of them, if there
    is one. Chains may end anywhere if the final condition reads others, and conditions on a step to be defined that
    read others are left out. A comparison of inputs, or of one of the others with something else, may turn out either
    way.

    What no run there does, no run of ``problem`` does. ``problem`` has goals of one step at most; ``nexts`` are its
    ``compared_nexts``, where these are known.
    """
    system = problem.system
    nexts = compared_nexts(system) if nexts is None else nexts
    state = [var for var in system.state if var.name in visible]
    hidden = [var for var in system.state if var.name not in visible]
    names = {var.name for var in hidden}
    goals = [goal for goal in problem.goals if not _reads(goal) & names]
    own = [var.name for var in system.inputs]
    after, sought, free = with_free_comparisons(
        [nexts[var.name] for var in state], [goal.antecedent for goal in goals], own, names
    )
    small = _without(system, names, TRUE() if values is None else values)
    small = replace(
        small,
        state=tuple(replace(var, next=following) for var, following in zip(state, after, strict=True)),
        inputs=(*system.inputs, *_inputs(hidden, free)),
    )
    kept = tuple(replace(goal, antecedent=f, consequent=None) for goal, f in zip(goals, sought, strict=True))
    return replace(problem, system=with_stated_values(small), goals=kept, final=_end(problem, names))


def _end(problem: Problem, hidden: Set[str]) -> FNode | None:
    """The final condition, if it reads nothing ``hidden``."""
    return None if problem.final is None or names_in([problem.final]) & hidden else problem.final


def _inputs(hidden: Sequence[StateVariable], free: Sequence[str]) -> list[InputVariable]:
    """The variables ``hidden`` as inputs, and Boolean ones of these names."""
    return [*(InputVariable(var.name, var.type) for var in hidden), *(InputVariable(name, BOOLEAN) for name in free)]


def _without(system: TransitionSystem, hidden: Set[str], values: FNode) -> TransitionSystem:
    """What ``system`` says of its steps where the variables ``hidden`` are inputs that have some of the ``values``."""
    told = [part for part in conjuncts(values) if names_in([part]) <= hidden]
    return replace(
        system,
        input_constraint=conjunction([system.input_constraint, *told]),
        defined=conjunction(part for part in conjuncts(system.defined) if not names_in([part]) & hidden),
        asserts=(),
        undefined_behaviour=(),
        assumptions=(),
        invariants=(),
        constraints=(),
        chosen=tuple(name for name in system.chosen if name not in hidden),
    )


def values_kept(system: TransitionSystem, stop: Callable[[], bool] = lambda: False) -> FNode:
    """An invariant that says of each state variable which values it has at most: true in start states, and kept by
    every step. It says nothing where the step is large, or ``stop`` says that it is time to end."""
    sets = None if is_large(system) else state_values(system, stop)
    return TRUE() if sets is None else conjunction(fact.formula for fact in within(system, sets))


def compared_nexts(system: TransitionSystem) -> Mapping[str, FNode]:
    """The next value of each state variable, with choices of comparisons for comparisons of choices."""
    return dict(zip((v.name for v in system.state), lifted([v.next for v in system.state]), strict=True))


def _reads(goal: Goal) -> set[str]:
    """The variables that ``goal`` reads, at whichever step."""
    return names_in(plain_symbols([goal.antecedent]))


@dataclass(frozen=True)
class _Attempt:
    """A set of ``visible`` variables to be tried with so many ``units`` of work. ``in_vain``: how many such sets, each
    with a further goal, had no higher bound than with fewer variables, or a chain that the program cannot follow.
    ``followed``: whether a run as short as the shortest one is sought in the program."""

    visible: frozenset[str]
    units: float = FIRST
    in_vain: int = 0
    followed: bool = True


def localise(board: Board) -> None:
    """Search for the shortest chains of smaller systems; their lengths are lower bounds for every chain.

    Not where the states of all goals are enumerated or searched in layers, nor where there is a bound K.
    """
    if board.options.engine != ENUMERATING or board.options.bound is not None:
        return
    search = _Localising(board)
    while search.left and not (board.settled or board.known.no_chain):
        if board.known.enumerated is not None or board.known.graph.exact:
            return
        search.go_on()


class _Localising:
    """The sets of visible variables that are left to be tried."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._problem = (board.whole or board.known.problem).of(board.known.targets)
        state = self._problem.system.state
        own = {var.name for var in state}
        self._read = {goal.name: _reads(goal) & own for goal in self._problem.goals}
        self._simulator = Simulator(self._problem.system)
        board.limits.spend(2 * analysed(self._problem.system))
        self._nexts, self._values = compared_nexts(self._problem.system), values_kept(self._problem.system, self._over)
        self._told = formula_text(self._values)
        free = localised(self._problem, frozenset(), self._values, self._nexts).system
        self._bits = {var.name: log2(var.count) for var in free.inputs if var.name in own}
        self._attempts: dict[frozenset[str], _Attempt] = {}
        self._searched: dict[frozenset[str], int] = {}
        self._turn = True
        for goal in self._problem.goals:
            self._try(_Attempt(frozenset(self._needs(goal))))

    def _over(self) -> bool:
        return self._board.limits.over

    def _needs(self, goal: Goal) -> set[str]:
        """The variables that ``goal`` reads, with all that was made to remember something for it."""
        made = {var.name: var for var in self._problem.system.state if var.role == "internal"}
        found = self._read[goal.name]
        while more := {n for name in found & made.keys() for n in names_in([made[name].next]) & made.keys()} - found:
            found = found | more
        return found

    def _try(self, attempt: _Attempt) -> None:
        """Make an attempt later on."""
        known = self._attempts.setdefault(attempt.visible, attempt)
        self._attempts[attempt.visible] = replace(known, in_vain=min(known.in_vain, attempt.in_vain))

    @property
    def left(self) -> list[_Attempt]:
        """What may bring a higher bound: not where all its variables were visible in what was searched."""
        searched = self._searched
        return [
            each
            for each in self._attempts.values()
            if self._worth(each) > 0 and not any(each.visible <= other for other in searched)
        ]

    def go_on(self) -> None:
        """Try one set: in turn one that may bring most, and one with the best bound so far, for the work it takes."""
        self._turn = not self._turn
        attempt = min(self.left, key=self._cost)
        part = localised(self._problem, attempt.visible, self._values, self._nexts)
        if len(attempt.visible) < len(self._bits) and part.goals:
            self._search(attempt, part)
        else:
            self._searched[attempt.visible] = 0

    def _search(self, attempt: _Attempt, part: Problem) -> None:
        """Search for the shortest chain of ``part``, the smaller system of ``attempt``; where that is found, in the
        program for a run as short."""
        goals, left = counted(len(part.goals), "goal"), len(attempt.visible)
        self._board.say(f"localise: {goals}, with {left} of {len(self._bits)} variables")
        units = self._units(attempt)
        search = SmallerSearch(self._board, part, ON_STATES, units > FIRST)
        try:
            found = search.go_on(units)
            if found is not None and found.certificate is not None:
                self._prove(Part(tuple(sorted(attempt.visible)), self._told, found.certificate))
            if not search.finished:
                self._attempts[attempt.visible] = replace(attempt, units=2 * units)
                return
            lower = self._lower(attempt)
            self._searched[attempt.visible] = 0
            if found is not None and found.chain is not None and found.bounds.lower == found.chain.length:
                self._searched[attempt.visible] = found.chain.length
                self._refine(attempt, found.chain.length > lower, search, found.chain)
        finally:
            search.end()

    def _lower(self, attempt: _Attempt) -> int:
        """The best bound that was found with fewer variables."""
        return max((lower for other, lower in self._searched.items() if other <= attempt.visible), default=0)

    def _units(self, attempt: _Attempt) -> float:
        """Units of work for an attempt: no fewer than for one with fewer variables."""
        return max(each.units for each in self._attempts.values() if each.visible <= attempt.visible)

    def _cost(self, attempt: _Attempt) -> float:
        """What it takes, about, to try an attempt for each step of the bound that it may bring; in turn, of the one
        that is known for it, or, where none is, of the best one."""
        work = (
            self._units(attempt)
            * (1 + sum(self._bits[name] for name in attempt.visible))
            * float(IN_VAIN) ** attempt.in_vain
        )
        lower = self._lower(attempt)
        return work / (1 + (lower or self._board.known.lower) if self._turn else lower + self._worth(attempt))

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

    def _refine(self, attempt: _Attempt, higher: bool, search: SmallerSearch, chain: Chain) -> None:
        """Make more variables visible: those of further goals, and, where the program cannot do as the shortest
        ``chain`` that ``search`` has found, or cover its goals in as few steps otherwise, one to blame. ``higher``:
        whether the bound is, than with fewer variables."""
        run, visible = chain.run, attempt.visible
        names = [var.name for var in self._problem.system.inputs]
        inputs = [{name: values[name] for name in names} for values in run.inputs]
        opened = {var.name: run.states[0][var.name] for var in search.problem.system.state if var.init is None}
        start = self._simulator.initial(opened)
        followed = self._simulator.run(start, inputs)
        blamed = self._blamed(visible, run, followed)
        found: Run | None = followed
        if blamed is not None:
            found = self._as_short(search, chain, start) if attempt.followed else None
        if found is not None:
            self._take(self._board.replay(found), chain.goals)
        elif blamed:
            name = min(blamed, key=lambda name: (self._bits[name], name))
            self._try(replace(attempt, visible=visible | {name}, units=FIRST, followed=True))
        in_vain = 0 if higher and found is not None else attempt.in_vain + 1
        for goal in self._problem.goals:
            if not self._read[goal.name] <= visible:
                self._try(_Attempt(visible | self._needs(goal), FIRST, in_vain, found is not None))

    def _take(self, run: Run, goals: frozenset[str]) -> None:
        """Offer a run than which none through ``goals`` is shorter, and note it, if it is the longest one: what takes
        most steps is what random runs do not bring."""
        lead = self._board.lead
        self._board.offer(run)
        if lead is None or (run.length, len(goals)) > (lead.run.length, len(lead.goals)):
            self._board.lead = Lead(run, goals)

    def _as_short(self, search: SmallerSearch, chain: Chain, start: Valuation) -> Run | None:
        """A run of the program from ``start`` that covers the goals of ``chain``, the shortest one that ``search`` has
        found, in as many steps. None is sought where one is known that covers all these goals, and others, so."""
        system, lead = self._problem.system, self._board.lead
        widths = [*(var.type.bits for var in system.state), *(var.type.bits for var in system.inputs)]
        if not system.inputs or max(widths) > WIDEST or (lead is not None and chain.goals <= lead.goals):
            return None
        guiding = search.guide(chain, FIRST)
        if guiding is None:
            return None
        limits = self._board.limits.portion(FIRST)
        guided = GuidedSearch(self._problem, self._batch, limits, guiding, (start, chain.length))
        with suppress(EffortUsedUp):
            while guided.go_on():
                self._board.limits.check()
        return guided.found

    @cached_property
    def _batch(self) -> Batch:
        return Batch(self._problem.system, [goal.antecedent for goal in self._problem.goals], least=LEAST)

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
