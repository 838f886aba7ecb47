"""What ``check`` tells about the goals: facts as plain data, what Lemma 3 and Theorem 2 of the paper need of them, and
the search for them, on the enumerated reachable states, else by queries.

A *state* in the search is a valuation of the variables on which goals, final condition and the steps' constraints
depend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import Not

from bmc.engines.dead_ends import DeadEnd
from bmc.engines.protocol import Engine, Session, Status
from bmc.errors import LimitReached, listed
from bmc.explicit.state_graph import EXACT_STATES, StateGraph, invariant_of
from bmc.formulas.unroll import at, plain, shift
from bmc.invariants.induction import Anywhere
from bmc.native.differential import Sampler
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, TransitionSystem, Valuation, conjunction, equal, symbols_of
from chaincover.check.undefined_behaviour import SIMULATED_STEPS, SUSPECT_DEPTH
from chaincover.graph.enumerated_goals import reach_each_other, states_where, trigger_states
from chaincover.graph.reachability import GraphBuilder
from chaincover.limits import PER_UNIT, Limits
from chaincover.problem import Problem, Questions
from chaincover.weights import Edge, ReachGraph
from properties.goal import Goal
from properties.monitor import Monitor

NONE, SINGLE, SEVERAL, UNKNOWN = "none", "single", "several", "unknown"
APART, MEETS, INSIDE, EQUAL = "apart", "meets", "inside", "equal"
YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The reachable states in which a goal can start.

    ``kind``: ``none``, ``single`` (at most one), ``several`` or ``unknown``; ``states`` is their number where known.
    ``connected``: whether each can be reached from each other; None: not decided. ``init`` and ``final`` tell how they
    lie to the start states and to the states of the final condition: ``apart``, ``meets`` (some are common),
    ``inside`` (all lie in it), ``equal`` or ``unknown``; ``final`` is '' without a final condition.
    """

    goal: str
    kind: str
    states: int | None
    connected: bool | None
    init: str
    final: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """``second`` can start ``distance`` steps after ``first``, before that is over; least ``distance`` found."""

    first: str
    second: str
    distance: int


@dataclass(frozen=True, slots=True)
class Claim:
    """``applies``: ``yes``, ``no`` or ``unknown``; ``because`` says why where it is not ``yes``."""

    applies: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class GoalFacts:
    """``reachable`` is the number of reachable states, None where they are not enumerated.

    ``not_enumerated`` says why not, and what would change that, or is ''. ``normal_form`` names variables whose values
    are not all told apart: states count as one where nothing can tell which of these they hold.
    ``exact``: each pair in ``sharing`` shares a step in a reachable state; otherwise in one that the proved
    invariants allow. ``implied`` holds (a, b) where every run that covers a covers b within the steps of a, its
    last state included. ``dead_end`` says why no run goes on after some number of steps, where that is so. Pairs in
    ``sharing_undecided`` and ``implied_undecided`` were not answered in time.
    """

    triggers: tuple[Trigger, ...]
    sharing: tuple[Sharing, ...]
    exact: bool
    sharing_undecided: tuple[Edge, ...]
    implied: tuple[Edge, ...]
    implied_undecided: tuple[Edge, ...]
    reachable: int | None
    lemma_3: Claim
    theorem_2: Claim
    not_enumerated: str = ""
    normal_form: tuple[str, ...] = ()
    dead_end: DeadEnd | None = None

    def as_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "reachable_states": self.reachable,
            "states_not_enumerated": self.not_enumerated or None,
            "states_in_normal_form": list(self.normal_form),
            "triggers": [
                {
                    "goal": t.goal,
                    "kind": t.kind,
                    "states": t.states,
                    "strongly_connected": t.connected,
                    "init": t.init,
                    "final": t.final or None,
                }
                for t in self.triggers
            ],
            "sharing": [{"first": s.first, "second": s.second, "distance": s.distance} for s in self.sharing],
            "sharing_is_exact": self.exact,
            "sharing_undecided": [list(pair) for pair in self.sharing_undecided],
            "implied": [{"goal": a, "covers": b} for a, b in self.implied],
            "implied_undecided": [list(pair) for pair in self.implied_undecided],
            "lemma_3": {"applies": self.lemma_3.applies, "because": list(self.lemma_3.because)},
            "theorem_2": {"applies": self.theorem_2.applies, "because": list(self.theorem_2.because)},
        }


def lemma_3(triggers: Sequence[Trigger], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """Whether a chain along the shortest order is minimal, if it meets no goal twice: each goal starts in one state.

    That joins the shortest ways between goals to one run only if no goal starts before another is over: ``shared``
    holds the pairs that can share steps, ``perhaps_shared`` those of which that is not known. Goals that no run covers
    are left out.
    """
    several = [t.goal for t in triggers if t.kind == SEVERAL]
    unknown = [t.goal for t in triggers if t.kind == UNKNOWN]
    no = [f"{listed(several)} can start in several states"] if several else []
    return _claim(
        no,
        [f"whether {listed(unknown)} can start in several states"] if unknown else [],
        shared,
        perhaps_shared,
    )


def theorem_2(triggers: Sequence[Trigger], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """Whether chain repair (Algorithm 4) finds a chain if there is one and K is large enough.

    The states in which a goal can start must all reach each other. The rest is as in ``lemma_3``.
    """
    apart = [t.goal for t in triggers if t.connected is False]
    unknown = [t.goal for t in triggers if t.connected is None]
    no = [f"not all states in which {listed(apart)} can start reach each other"] if apart else []
    yet = [f"whether the states in which {listed(unknown)} can start reach each other"] if unknown else []
    return _claim(no, yet, shared, perhaps_shared)


def _claim(no: list[str], unknown: list[str], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """The claim with these objections and open questions, and those of goals that share steps."""
    if shared:
        no = [
            *no,
            f'{listed([f"{a} and {b}" for a, b in shared])} can share steps (not with overlap = "forbid")',
        ]
    if perhaps_shared:
        pairs = listed([f"{a} and {b}" for a, b in perhaps_shared])
        unknown = [*unknown, f'whether {pairs} can share steps (not with overlap = "forbid")']
    if no:
        return Claim(NO, tuple(no))
    return Claim(UNKNOWN, tuple(unknown)) if unknown else Claim(YES)


def find_facts(questions: Questions, graph: StateGraph | None, not_enumerated: str = "") -> GoalFacts:
    """All facts about the goals of the problem; what the limits do not suffice for is undecided.

    The problem's overlap is what the claims are for. ``graph`` holds the reachable states, None where they are not
    enumerated; ``not_enumerated`` says why.
    """
    return replace(_Finder(questions, graph).facts(), not_enumerated=not_enumerated)


class _Finder:
    """``_graph`` holds the reachable states, None if they are too many; ``_system`` has them as an invariant."""

    def __init__(self, questions: Questions, graph: StateGraph | None) -> None:
        self._problem, self._engine, self._limits = questions.problem, questions.engine, questions.limits
        self._goals, self._final, self._graph = self._problem.goals, self._problem.final, graph
        self._formulas = [goal.antecedent for goal in self._goals] + self._problem.end_formulas(0)
        system = self._problem.system
        bare = replace(system, invariants=())
        self._variables = bare.cone(plain(s) for formula in self._formulas for s in symbols_of(formula))
        found = invariant_of(bare, graph.states) if graph is not None and graph.states else None
        self._system = replace(system, invariants=(*system.invariants, *([found] if found else [])))
        self._init = conjunction(var.start for var in self._variables)
        self._from_init: Session | None = None

    def facts(self) -> GoalFacts:
        """See ``find_facts``."""
        triggers = tuple(self._trigger(goal) for goal in self._goals)
        goals = [goal for goal, trigger in zip(self._goals, triggers, strict=True) if trigger.kind != NONE]
        weights = self._near_weights(goals)
        sharing, undecided = _sharing(goals, weights)
        implied, open_pairs = self._implied(goals, weights)
        exact = self._graph is not None and len(self._graph.states) <= EXACT_STATES
        clash = [(s.first, s.second) for s in sharing if s.distance or self._longer(s.first, s.second)]
        sure, unsure = (clash if exact else []), ([] if exact else clash) + undecided
        given = (triggers, sure, unsure) if self._problem.overlap == "allow" else (triggers, [], [])
        return GoalFacts(
            triggers=triggers,
            sharing=tuple(sharing),
            exact=exact,
            sharing_undecided=tuple(undecided),
            implied=tuple(implied),
            implied_undecided=tuple(open_pairs),
            reachable=None if self._graph is None else len(self._graph.states),
            lemma_3=lemma_3(*given),
            theorem_2=theorem_2(*given),
        )

    def _longer(self, *names: str) -> bool:
        """Whether one of these goals takes a step at all: state goals alone can hold together without harm."""
        return not all(self._problem.by_name[name].on_state for name in names)

    def _trigger(self, goal: Goal) -> Trigger:
        try:
            self._limits.check()
            found = None
            if self._graph is not None:
                found = trigger_states(self._graph, self._system, goal, self._limits.check)
            if self._graph is not None and found is not None:
                return self._listed(self._graph, goal, found)
            return self._asked(goal)
        except LimitReached:
            return Trigger(goal.name, UNKNOWN, None, None, UNKNOWN, "" if self._final is None else UNKNOWN)

    def _listed(self, graph: StateGraph, goal: Goal, found: frozenset[int]) -> Trigger:
        """The trigger whose states are known one by one."""
        kind = NONE if not found else SINGLE if len(found) == 1 else SEVERAL
        connected = reach_each_other(graph, found, self._limits.check)
        final = "" if self._final is None else _relation(found, states_where(graph, self._final))
        return Trigger(goal.name, kind, len(found), connected, _relation(found, frozenset(graph.starts)), final)

    def _asked(self, goal: Goal) -> Trigger:
        """The trigger as far as queries tell, over all states that the proved invariants allow."""
        session = self._engine.session(self._system, goal.antecedent, self._formulas)
        status = self._check(session, [], goal.over(0))
        if status is Status.UNSAT:
            return Trigger(goal.name, NONE, 0, True, APART, "" if self._final is None else APART)
        only = self._same(session.run().states[0]) if status is Status.SAT else None
        if only is not None:
            status = self._check(session, [at(Not(only), 0)], goal.over(0))
        single = only is not None and status is Status.UNSAT
        places = [self._init, *([] if self._final is None else [self._final])]
        init, *final = [self._lies(session, goal, place, only if single else None) for place in places]
        if single:
            return Trigger(goal.name, SINGLE, 1, True, init, *final or [""])
        kind = SEVERAL if self._two_reached(goal) else UNKNOWN
        return Trigger(goal.name, kind, None, None, init, *final or [""])

    def _lies(self, session: Session, goal: Goal, place: FNode, only: FNode | None) -> str:
        """How the start states of ``goal`` lie to the states of ``place``; ``only`` is its single start state."""
        common = self._check(session, [at(place, 0)], goal.over(0))
        if common is Status.UNSAT:
            return APART
        outside = self._check(session, [at(Not(place), 0)], goal.over(0))
        if outside is Status.UNSAT:
            return EQUAL if self._fills(goal, place, only) else INSIDE
        return MEETS if common is outside is Status.SAT else UNKNOWN

    def _fills(self, goal: Goal, place: FNode, only: FNode | None) -> bool:
        """Whether ``goal`` is proved to start in every state of ``place``; only asked where it does not need a run."""
        if only is None and not goal.on_state:
            return False
        elsewhere = Not(goal.antecedent) if only is None else at(Not(only), 0)
        session = self._engine.session(self._system, at(place, 0), self._formulas)
        return self._check(session, [elsewhere], 0) is Status.UNSAT

    def _two_reached(self, goal: Goal) -> bool:
        """Whether runs of up to ``SUSPECT_DEPTH`` steps from init meet two different start states of ``goal``."""
        if self._from_init is None:
            self._from_init = self._engine.session(self._system, at(self._init, 0), self._formulas)
        session, other = self._from_init, list[FNode]()
        for step in range(SUSPECT_DEPTH + 1):
            start = shift(goal.antecedent, step)
            while self._check(session, [start, *(at(f, step) for f in other)], goal.over(step)) is Status.SAT:
                if other:
                    return True
                other.append(Not(self._same(session.run().states[step])))
        return False

    def _same(self, state: Valuation) -> FNode:
        """The formula: the variables have the values of ``state``."""
        return conjunction(equal(v.symbol, v.type.constant(state[v.name])) for v in self._variables)

    def _near_weights(self, goals: Sequence[Goal]) -> ReachGraph:
        """Which goals can start during which: the weights that tell of it (Algorithm 10)."""
        longest = max(goals, key=lambda goal: goal.over(0), default=None)
        near = [] if longest is None else [longest.under_way, *map(longest.room_for, goals)]
        limit = max((steps[-1] for steps in near), default=0)
        builder = GraphBuilder(Questions(Problem(self._system, tuple(goals), None), self._engine, self._limits), limit)
        with suppress(LimitReached):
            for _ in range(limit + 1):
                self._limits.check()
                builder.extend()
        return builder.graph()

    def _implied(self, goals: Sequence[Goal], weights: ReachGraph) -> tuple[list[Edge], list[Edge]]:
        """The pairs (a, b) where every run that covers a covers b within a's steps; the pairs not decided."""
        implied: list[Edge] = []
        undecided: list[Edge] = []
        for a in goals:
            session = None
            for b in goals:
                room, edge = a.room_for(b), (a.name, b.name)
                if a is b or not room or {*edge} & {*weights.unsatisfiable}:
                    continue
                if edge not in weights.weights and weights.lower.get(edge, 0) in room:
                    undecided.append(edge)
                if weights.weights.get(edge) not in room:
                    continue
                if self._limits.over:
                    undecided.append(edge)
                    continue
                session = session or self._engine.session(self._system, a.antecedent, self._formulas)
                status = self._try(session, [shift(Not(b.antecedent), d) for d in room], a.over(0))
                if status is not Status.SAT:
                    (implied if status is Status.UNSAT else undecided).append(edge)
        return implied, undecided

    def _check(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        return session.check(formulas, steps, self._limits.for_query(), self._limits.question()).status

    def _try(self, session: Session, formulas: Sequence[FNode], steps: int) -> Status:
        """As ``_check``; unknown once the time is over."""
        try:
            return self._check(session, formulas, steps)
        except LimitReached:
            return Status.UNKNOWN


def _relation(states: frozenset[int], place: frozenset[int]) -> str:
    if not states & place:
        return APART
    if states <= place:
        return EQUAL if states == place else INSIDE
    return MEETS


def _sharing(goals: Sequence[Goal], graph: ReachGraph) -> tuple[list[Sharing], list[Edge]]:
    """The pairs that can share a step, each once where both can start together; the pairs not decided."""
    found, undecided = [], []
    for a, b in combinations([goal for goal in goals if goal.name not in graph.unsatisfiable], 2):
        if 0 in (graph.weights.get((a.name, b.name)), graph.weights.get((b.name, a.name))):
            found.append(Sharing(a.name, b.name, 0))
            continue
        for first, second in ((a, b), (b, a)):
            edge = first.name, second.name
            if graph.weights.get(edge) in first.under_way:
                found.append(Sharing(*edge, graph.weights[edge]))
            elif graph.lower.get(edge, 0) in first.under_way:
                undecided.append(edge)
    return found, undecided


class VacuitySearch:
    """Which of ``goals`` have an antecedent that no states and inputs satisfy, invariants respected.

    What ``run`` has found until it is over, or interrupted, ``unsatisfiable`` and ``undecided`` tell.
    """

    def __init__(self, system: TransitionSystem, goals: Sequence[Goal], engine: Engine) -> None:
        self._system, self._engine = system, engine
        self._status = dict.fromkeys(goals, Status.UNKNOWN)

    @property
    def unsatisfiable(self) -> tuple[Goal, ...]:
        return tuple(goal for goal, status in self._status.items() if status is Status.UNSAT)

    @property
    def undecided(self) -> tuple[Goal, ...]:
        return tuple(goal for goal, status in self._status.items() if status is Status.UNKNOWN)

    def run(self, budget: Limits, progress: Callable[[str], None] = lambda text: None) -> None:
        """Decide as many goals as ``budget`` allows, and those that the state after init satisfies in any case."""
        self._look_at_init()
        if not budget.over:
            self._simulate(budget.share(0.3))
        known = [c.formula for c in self._system.invariants if c.proved]
        anywhere = Anywhere(self._system, self._engine, [*known, self._system.defined])
        still = self.undecided
        for number, goal in enumerate(still):
            progress(f"check: whether goals can hold at all, {len(still) - number} left")
            try:
                limit = budget.for_query()
            except LimitReached:
                return
            formula = goal.before_step
            if formula is not None:
                self._status[goal] = anywhere.status([formula], limit, budget.question())
            else:
                session = self._engine.session(self._system, goal.antecedent)
                self._status[goal] = session.check([], goal.over(0), limit, budget.question()).status

    def _look_at_init(self) -> None:
        """Note the goals that a run of no step covers."""
        run = Run((Simulator(self._system).initial(),), ())
        self._note(self.undecided, run)

    def _simulate(self, budget: Limits) -> None:
        """Note the goals that random runs cover."""
        if not self.undecided:
            return
        sampler = Sampler(self._system, seed=0)
        for inputs in sampler.runs(SIMULATED_STEPS):
            run = sampler.simulator.run(sampler.simulator.initial(), inputs)
            budget.spend(len(inputs) * sampler.simulator.size / PER_UNIT.sampled)
            self._note(self.undecided, run)
            if not self.undecided or budget.over:
                return

    def _note(self, goals: Sequence[Goal], run: Run) -> None:
        """Note which of ``goals`` the ``run`` covers."""
        covered = Monitor(goals).covered(run)
        self._status.update((goal, Status.SAT) for goal in goals if covered[goal.name])
