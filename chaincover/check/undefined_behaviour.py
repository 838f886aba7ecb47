"""Undefined behaviour that can happen, found by simulation where that is enough, else by the solver; and whether every
run comes to an end, because each step from some depth on is undefined or not allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, Or

from bmc.analysis.constants import constant_state, fixed_inputs, put_in
from bmc.analysis.slice import slice_and_spare, slice_system
from bmc.analysis.state_values import every_step, state_values, values_of
from bmc.engines.dead_ends import DeadEnd, QuestionLimits, dead_end
from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import LimitReached, Location, counted
from bmc.explicit.state_graph import invariant_of
from bmc.floats.values import ATTEMPTS
from bmc.formulas.evaluate import compile_formulas, names_in
from bmc.formulas.unroll import at
from bmc.formulas.value_sets import NEVER
from bmc.invariants.candidates import within
from bmc.invariants.induction import Anywhere
from bmc.native.differential import RUN_LENGTH, Sampler
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Condition, Run, TransitionSystem, Valuation, conjunction
from chaincover.concretise.tidy import tidy_finding
from chaincover.graph.enumerated import enumerate_within, enumeration
from chaincover.limits import BRIEF, PER_UNIT, Limits
from chaincover.problem import Problem
from chaincover.project.values import shown
from chaincover.reductions.reduction import run_on
from properties.goal import Goal

SUSPECT_DEPTH = 8
"""Steps from init within which undefined behaviour is sought step by step."""
ENUMERATING = 0.3
"""The part of what may be spent in which all reachable states are enumerated: only those count. 0: they are not."""
SIMULATED_STEPS = 1500
"""Random steps from init that are looked at, here and for goals."""
STUCK = 5
"""What a run counts beyond its steps, so that runs which get stuck at once come to an end too."""
RANDOM_STATES = 300
"""Random states that are looked at."""


@dataclass(frozen=True, slots=True)
class UndefinedBehaviour:
    """Undefined behaviour that is not proved impossible at one place.

    ``steps``: a number of steps from init after which a step can meet it (the least one if it is at most
    ``SUSPECT_DEPTH`` and time sufficed), else None. ``undecided``: nothing was found, and nothing was proved.
    ``searched``: whether all numbers of steps below ``steps``, or up to ``SUSPECT_DEPTH``, were decided.
    ``run``: the steps from init to the one that meets it, which is the last; what is after that is not defined. None
    where ``steps`` is, or where a run of all variables was not found. ``reads``: the variables by which it is met.
    """

    kind: str
    where: Location | None
    steps: int | None
    undecided: bool = False
    searched: bool = True
    run: Run | None = None
    reads: frozenset[str] = frozenset()

    def as_data(self, system: TransitionSystem) -> dict[str, Any]:
        """The finding as plain data."""
        return {
            "kind": self.kind,
            "where": str(self.where),
            "steps_from_init": self.steps,
            "undecided": self.undecided,
            "searched": self.searched,
            "inputs": None if self.run is None else [shown(system.inputs, each) for each in self.run.inputs],
        }


@dataclass(slots=True)
class _Place:
    """What is known of one place: ``possible`` in some state that is not ruled out; ``steps`` from init meet it.

    ``decided``: so many first numbers of steps were proved not to meet it. ``run``: steps, the last of which meets it.
    """

    kind: str
    where: Location | None
    formula: FNode
    possible: Status = Status.UNKNOWN
    steps: int | None = None
    decided: int = 0
    run: Run | None = None

    @property
    def to_decide(self) -> int:
        """Below this number of steps from init all are to be decided."""
        return SUSPECT_DEPTH + 1 if self.steps is None else min(self.steps, SUSPECT_DEPTH + 1)


class UndefinedBehaviourSearch:
    """Which undefined behaviour of ``system`` can happen: from a state that the invariants allow, and from init.

    Where all reachable states can be listed, only those count. Invariants hold before a step; after an undefined one
    they need not. What ``run`` has found until it is over, or interrupted, ``found`` tells.
    """

    def __init__(self, system: TransitionSystem, engine: Engine, enumerates: bool = True) -> None:
        """``enumerates``: whether states may be enumerated, or ``engine`` answers everything."""
        self._engine, self._enumerates = engine, enumerates
        joined: dict[tuple[str, Location | None], FNode] = {}
        for condition in system.undefined_behaviour:
            key = (condition.name, condition.where)
            joined[key] = Or(joined.get(key, FALSE()), condition.formula)
        self._system = system
        self._places = [_Place(kind, where, formula) for (kind, where), formula in joined.items()]

    def run(self, budget: Limits, progress: Callable[[str], None] = lambda text: None) -> None:
        """Decide as much as ``budget`` allows, what is cheap first."""
        if not self._places or budget.over:
            return
        part = self._without_constants()
        found = [self._ranges(part, budget.share(0.2)), self._enumerated(part, budget.share(ENUMERATING))]
        known = [c.formula for c in (*part.invariants, *found) if c is not None and c.proved]
        if not budget.over:
            self._simulate(part, known, budget.share(0.25))
        if not budget.over:
            self._ask_anywhere(Anywhere(part, self._engine, known), budget.share(0.7), progress)
        self._ask_from_init(part, budget, progress)
        for place in self._places:
            place.run = self._whole_run(place, budget)

    def _whole_run(self, place: _Place, budget: Limits) -> Run | None:
        """The run of ``place`` with all variables, and simple inputs; None where it is not allowed up to its end."""
        if place.run is None:
            return None
        _, spare = slice_and_spare(self._system, [each.formula for each in self._places])
        names = [var.name for var in self._system.inputs]
        whole = [{**spare, **values} for values in place.run.inputs]
        run = run_on(self._system, Run(place.run.states, tuple({name: each[name] for name in names} for each in whole)))
        met = replace(self._system, defined=Or(self._system.defined, place.formula))
        goal = Goal(place.kind, at(place.formula, 0), None, 1)
        plain = tidy_finding(Problem(met, (goal,), None), run, budget)
        return next((each for each in (plain, run) if self._meets(place, each)), None)

    def _meets(self, place: _Place, run: Run) -> bool:
        """Whether the last step of ``run`` meets ``place``, and those before it are allowed."""
        simulator, last = Simulator(self._system), run.length - 1
        steps = zip(run.states[:last], run.inputs, strict=False)
        met = compile_formulas([place.formula])({**run.states[last], **run.inputs[last]})[0]
        return bool(met) and all(simulator.allowed(state, inputs) for state, inputs in steps)

    def found(self) -> list[UndefinedBehaviour]:
        """All that is not proved impossible, by place."""
        names = {*(var.name for var in self._system.state), *(var.name for var in self._system.inputs)}
        open_ones = [place for place in self._places if place.possible is not Status.UNSAT]
        told = [
            UndefinedBehaviour(
                p.kind,
                p.where,
                p.steps,
                p.possible is Status.UNKNOWN,
                p.decided >= p.to_decide,
                p.run if p.run is not None and {*p.run.states[0], *p.run.inputs[0]} >= names else None,
                frozenset(names_in([p.formula])),
            )
            for p in open_ones
        ]
        return sorted(told, key=lambda s: (s.where or Location(""), s.kind))

    def _without_constants(self) -> TransitionSystem:
        """The part of the system that undefined behaviour depends on; the values of what never changes are put in."""
        system = self._system
        values = {**constant_state(system), **fixed_inputs(system)}
        formulas = put_in([place.formula for place in self._places], values)
        for place, formula in zip(self._places, formulas, strict=True):
            place.formula = formula
            if formula.is_false():
                place.possible = Status.UNSAT
        return slice_system(system, formulas)

    def _open(self) -> list[_Place]:
        return [place for place in self._places if place.possible is Status.UNKNOWN]

    def _ranges(self, part: TransitionSystem, budget: Limits) -> Condition | None:
        """The values that the state never leaves, as an invariant; places that they rule out are done with."""
        sets = state_values(every_step(part), lambda: budget.over)
        if sets is None:
            return None
        places = self._open()
        for place, here in zip(places, values_of([p.formula for p in places], part, sets), strict=True):
            if here == NEVER:
                place.possible = Status.UNSAT
        facts = within(part, sets)
        return Condition("values of the state", conjunction(c.formula for c in facts), proved=True) if facts else None

    def _enumerated(self, part: TransitionSystem, budget: Limits) -> Condition | None:
        """The reachable states as an invariant, where they can be enumerated."""
        asked = [at(place.formula, 0) for place in self._open()]
        if not asked or not ENUMERATING or not self._enumerates:
            return None
        graph = enumerate_within(enumeration(part, asked), budget)
        return None if graph is None else invariant_of(part, graph.states)

    def _simulate(self, part: TransitionSystem, known: Sequence[FNode], budget: Limits) -> None:
        """Look at random runs from init, long and short, and at random states."""
        places = self._open()
        if not places:
            return
        sampler = Sampler(part, seed=0)
        met = compile_formulas([place.formula for place in places])
        left = SIMULATED_STEPS
        while left > 0 and not budget.over and any(place.steps != 0 for place in places):
            looked_at = STUCK + self._look_along(sampler, places, met, RUN_LENGTH if left % 2 else SUSPECT_DEPTH + 1)
            budget.spend(looked_at * sampler.simulator.size / PER_UNIT.sampled)
            left -= looked_at
        holds = compile_formulas([conjunction(known)])
        for _ in range(RANDOM_STATES):
            if budget.over:
                return
            budget.spend(sampler.simulator.size / PER_UNIT.sampled)
            state = sampler.random_state()
            values = sampler.constrained_inputs(state) if holds(state)[0] else None
            if values is not None:
                _note(places, met({**state, **values}))

    def _look_along(
        self, sampler: Sampler, places: Sequence[_Place], met: Callable[[Valuation], tuple[int, ...]], length: int
    ) -> int:
        """Look at one random run; its number of steps."""
        open_ones = {var.name: sampler.start_value(var) for var in sampler.system.state if var.init is None}
        state = sampler.simulator.initial(open_ones if length == RUN_LENGTH else None)
        states, inputs = [state], list[Valuation]()
        for step in range(length):
            values = sampler.constrained_inputs(state)
            if values is None:
                return step
            _note(places, met({**state, **values}), Run(tuple(states), (*inputs, values)))
            if not sampler.simulator.allowed(state, values):
                values = sampler.allowed_inputs(state, ATTEMPTS)
            if values is None:
                return step
            state = sampler.simulator.step(state, values)
            states.append(state)
            inputs.append(values)
        return length

    def _ask_anywhere(self, anywhere: Anywhere, budget: Limits, progress: Callable[[str], None]) -> None:
        """Decide whether some state and inputs meet each place; those that take long wait until the others are done."""
        whole = budget.question()
        for effort in (BRIEF if whole is None else min(BRIEF, whole), whole):
            places = self._open()
            for number, place in enumerate(places):
                progress(f"check: undefined behaviour, {len(places) - number} places left")
                try:
                    limit = budget.for_query()
                except LimitReached:
                    return
                place.possible = anywhere.status([place.formula], limit, effort)

    def _ask_from_init(self, part: TransitionSystem, budget: Limits, progress: Callable[[str], None]) -> None:
        """Find the least number of steps after which a place can be met, one more step at a time."""
        free = replace(part, defined=TRUE(), invariants=())
        session: Session | None = None
        for steps in range(SUSPECT_DEPTH + 1):
            places = [p for p in self._places if p.possible is not Status.UNSAT and p.decided == steps < p.to_decide]
            before = [at(part.defined, step) for step in range(steps)] if places else []
            for number, place in enumerate(places):
                left = counted(len(places) - number, "place")
                progress(f"check: undefined behaviour after {counted(steps, 'step')}, {left} left")
                session = session or self._engine.session(free, at(part.init_formula, 0))
                try:
                    limit = budget.for_query()
                except LimitReached:
                    return
                status = session.check([*before, at(place.formula, steps)], steps + 1, limit, budget.question()).status
                if status is Status.SAT:
                    place.possible, place.steps, place.run = Status.SAT, steps, session.run()
                elif status is Status.UNSAT:
                    place.decided = steps + 1


def _note(places: Sequence[_Place], met: Sequence[int], run: Run | None = None) -> None:
    """Note which places are met, in the last step of a ``run`` from init or (None) in some state."""
    for place, here in zip(places, met, strict=True):
        if here:
            place.possible = Status.SAT
            if run is not None and (place.steps is None or run.length - 1 < place.steps):
                place.steps, place.run = run.length - 1, run


DEAD_END_STEPS = 1024
"""No question is asked about more steps than this: all of them are encoded at once."""


def find_dead_end(
    system: TransitionSystem, engine: Engine, limits: Limits, longest: float | None = None
) -> DeadEnd | None:
    """Why no run goes on after some number of steps; None where that is not so, or not known within ``limits``.

    ``longest`` is the number of steps of the longest run, where all reachable states are known: one question is
    enough then, or none. Else none is asked where a random run comes back to a state, or is as long as is asked about;
    and the questions go on from the end of that run, about twice as many steps each time. LimitReached when time is
    over.
    """
    known = longest is not None
    possible = _random_run(system, limits) if longest is None else longest
    if possible >= DEAD_END_STEPS:
        return None
    most = int(possible) + 1
    while most <= DEAD_END_STEPS and not limits.used_up:
        found = dead_end(system, engine, most, limits=QuestionLimits(limits.for_query(), BRIEF))
        if found is not None or known:
            return found
        most *= 2
    return None


def _random_run(system: TransitionSystem, limits: Limits) -> float:
    """The steps of a random run, up to those that are asked about; infinite where it comes back to a state."""
    sampler = Sampler(system, seed=0)
    state, met = sampler.simulator.initial(), set[tuple[int, ...]]()
    for steps in range(DEAD_END_STEPS):
        limits.check()
        values = tuple(state[var.name] for var in system.state)
        if values in met:
            return inf
        inputs = sampler.allowed_inputs(state)
        if inputs is None:
            return steps
        met.add(values)
        state = sampler.simulator.step(state, inputs)
    return DEAD_END_STEPS
