"""What a run knows at a moment, as frozen data, and the board on which its stages write what they find."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import inf
from typing import NamedTuple, Protocol

from bmc import footprint
from bmc.engines.protocol import Engine
from bmc.errors import CheckDisagreed, counted
from bmc.explicit.enumeration import Enumeration
from bmc.explicit.state_graph import StateGraph
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import Acceleration, Part, Prices
from chaincover.chain import UNDECIDED, UNREACHABLE, Chain, LongTest
from chaincover.limits import Limits
from chaincover.options import STEP_BYTES, Options
from chaincover.problem import Problem, Questions
from chaincover.result import ChainResult, LayersNeed
from chaincover.weights import Edge, ReachGraph

NOTHING = ReachGraph((), "", {}, {}, (), (), -1, 0, 0.0)
"""The K-reachability graph before any distance was asked for."""


BOUND_UNITS = 0.25
"""Units of work before a bound is told while there is no chain: most runs have one by then."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The verdict of a goal that no chain covers, and how it is proved."""

    status: str
    how: str


@dataclass(frozen=True)
class Proof:
    """Why no chain through ``goals`` is shorter than ``lower`` steps; ``basis`` names the strongest argument.

    ``order_bound``: no order of the goals takes fewer steps, each edge taking at least what ``edges`` says, each
    contiguous sub-path at least what ``paths`` says. ``refuted``: lengths from the first up to but without the second,
    each of which no chain has. ``flow_bound``: by the ``prices`` of goals no run takes fewer steps. ``searched``: all
    runs of fewer steps through ``states`` enumerated states were searched. ``acceleration``: so were all jumps of
    counters. ``part``: a proof about a smaller system.
    """

    goals: tuple[str, ...]
    basis: str = "nothing was asked yet"
    order_bound: int = 0
    edges: Mapping[Edge, int] = field(default_factory=dict)
    paths: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    refuted: tuple[int, int] = (0, 0)
    states: int = 0
    searched: int = 0
    flow_bound: int = 0
    prices: Prices | None = None
    acceleration: Acceleration | None = None
    part: Part | None = None

    @property
    def lower(self) -> int:
        """The proved lower bound in steps."""
        first, following = self.refuted
        refuted = following if first <= self.order_bound else 0
        return max(self.order_bound, refuted, self.searched, self.flow_bound, self.jumped, self.localised)

    @property
    def jumped(self) -> int:
        """The bound by the search in jumps."""
        return 0 if self.acceleration is None else self.acceleration.bound

    @property
    def localised(self) -> int:
        """The bound by a smaller system."""
        return 0 if self.part is None else self.part.proof.lower


@dataclass(frozen=True)
class FailedRepair:
    """The part ``nodes`` of a covering path that no repair with edges of up to ``within`` steps made concrete.

    It need not begin in init (see ``Attempt``).
    """

    nodes: tuple[str, ...]
    within: int


@dataclass(frozen=True)
class Known:
    """``chain`` is the best one found: it covers most of the goals of ``problem``, and none that covers as many is
    shorter.

    ``uncoverable`` are the goals that no chain covers, each with its reason. ``represented`` has for each goal that
    another one implies that other one: a chain through it covers both. ``proof`` bounds the chains through all
    ``targets``; ``no_chain`` says how it is proved that there is none, or is ''. ``graph`` is the K-reachability graph
    so far. ``seen`` has for each goal that any run has covered the shortest such run. ``failed`` is
    where the repair of the last covering path failed. ``enumerated`` are the reachable states, where they could be
    enumerated; ``reachable`` is how many there are, where they were searched in layers instead. ``gave_up`` names the
    stages that ended for want of memory, each with the reason. ``beyond`` has for each goal of which it is proved that
    no run as short as those that are stored covers it a longer one.
    """

    problem: Problem
    chain: Chain | None = None
    uncoverable: Mapping[str, Reason] = field(default_factory=dict)
    represented: Mapping[str, str] = field(default_factory=dict)
    proof: Proof = Proof(())
    no_chain: str = ""
    graph: ReachGraph = NOTHING
    seen: Mapping[str, Run] = field(default_factory=dict)
    failed: FailedRepair | None = None
    enumerated: StateGraph | None = None
    reachable: int = 0
    layers: LayersNeed | None = None
    observed: Mapping[Edge, int] = field(default_factory=dict)
    gave_up: tuple[str, ...] = ()
    beyond: Mapping[str, LongTest] = field(default_factory=dict)

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The goals that a chain is sought for: neither uncoverable nor represented by another one."""
        return tuple(
            name for name in self.problem.names if name not in self.uncoverable and name not in self.represented
        )

    @property
    def target_graph(self) -> ReachGraph:
        """The K-reachability graph of the targets."""
        return self.graph.restricted(self.targets)

    @property
    def length(self) -> int | None:
        """The steps of a chain that covers all targets, None while there is none."""
        return self.chain.length if self.chain is not None and self.complete else None

    @property
    def complete(self) -> bool:
        """Whether the chain covers all targets."""
        return self.chain is not None and self.chain.goals >= {*self.targets}

    @property
    def lower(self) -> int:
        """The proved lower bound on chains through all targets, in steps."""
        return self.proof.lower if self.still_holds(self.proof) else 0

    def still_holds(self, proof: Proof) -> bool:
        """Whether ``proof`` speaks of all chains through the targets: these cover every goal that it speaks of."""
        targets = {*self.targets}
        return all(goal in targets or self.represented.get(goal) in targets for goal in proof.goals)

    @property
    def settled(self) -> bool:
        """Whether the chain covers all targets and is proved to be minimal."""
        return self.length is not None and self.length == self.lower

    def open(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the goals ``names`` that no run has covered yet."""
        return tuple(name for name in names if name not in self.seen)


def steps_allowed(chain: Chain, options: Options, problem: Problem) -> int:
    """How many steps of ``chain`` may be taken: up to the greatest length, and to the first gap of more than K.

    The rest of the last goal is no gap where a chain may end anywhere.
    """
    bound, steps = options.bound, min(options.most_steps, chain.length)
    if bound is None:
        return steps
    gaps = chain.gaps if problem.final is not None else chain.gaps[:-1]
    wide = next((place for place, gap in enumerate(gaps) if gap > bound), None)
    return steps if wide is None else min(steps, sum(gaps[:wide]) + bound)


class Judge(Protocol):
    """Judges runs that start in init."""

    def chain(self, claimed: Run) -> Chain | None:
        """The checked chain of a run, credited with all goals that it covers; None where it may not end anywhere."""

    def empty_run(self) -> Run:
        """The run of no step."""

    def first_steps(self, run: Run) -> dict[str, int]:
        """For each goal that a run covers the first step at which it does."""


class Pathfinder(Protocol):
    """Finds runs along paths of goals, from searches of all reachable states.

    ``far``: these are known, and a goal is so far away that questions to a solver are in vain.
    """

    far: bool

    def run_along(self, path: Sequence[str], covers: Callable[[Run], Collection[str]]) -> Run | None:
        """A run from init through the goals of ``path``; those that it ``covers`` already are not sought again."""

    def close(self) -> None:
        """Give back what it has taken."""


class Lead(NamedTuple):
    """A ``run`` through the goals of those names: none through all of them is shorter."""

    run: Run
    goals: frozenset[str]


class Listener(Protocol):
    """Is told what the stages do."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on: ``stage: what it does``."""

    def improved(self, known: Known) -> None:
        """There is a better chain, a higher bound or a new verdict: what is known now."""


def held_in_memory() -> int:
    """The steps of a run for which there is memory while it is made, judged and written."""
    return footprint.allowed() // footprint.HALF // STEP_BYTES


@dataclass
class Board:
    """What the stages of one run share: the ``known`` so far, who answers questions, and what may be spent.

    ``judge`` makes a checked chain of a run from init, or None where the run does not get to the final condition. It
    credits every goal that the run covers. ``ordered_by`` is the ordering backend of the covering path;
    ``not_enumerated`` says why states are not enumerated, or ''; ``layered`` finds runs in layers of states.
    ``accelerated`` is what is known of counters. ``enumeration`` is that of states, where it goes on after its first
    turn. ``restore`` makes of a result one for the problem before its states got a normal form, which is ``whole``;
    None while that is not decided. ``lead`` is the run through most goals of which it is known that none is shorter.
    ``joins`` has for each goal beside the best chain with which goals, and a test of how many steps, it was to be
    joined last.
    ``said``: what the listener was told last.
    """

    known: Known
    options: Options
    engine: Engine
    limits: Limits
    listener: Listener
    judge: Judge
    ordered_by: str = ""
    not_enumerated: str = ""
    layered: Pathfinder | None = None
    accelerated: Acceleration | None = None
    enumeration: Enumeration | None = None
    restore: Callable[[ChainResult], ChainResult] | None = None
    whole: Problem | None = None
    lead: Lead | None = None
    joins: dict[str, tuple[frozenset[str], int]] = field(default_factory=dict)
    said: str = ""
    _questions: Questions | None = None

    @property
    def settled(self) -> bool:
        """Whether all is settled: by the chain and its bound, because no chain is as short as was asked for, or because
        there are goals, but none that a chain can cover."""
        none_left = bool(self.known.problem.goals) and not self.known.targets
        return self.known.settled or none_left or (self.too_long and self.known.chain is not None)

    @property
    def too_long(self) -> bool:
        """Whether it is proved that every chain through all targets is longer than was asked for, or is stored."""
        return self.known.lower > self.options.most_steps

    @property
    def most_steps(self) -> int:
        """The steps that a run has at most which is stored, by the options and the memory that it takes."""
        return min(self.options.most_steps, held_in_memory())

    @property
    def sets_aside(self) -> bool:
        """Whether goals are set aside that only longer runs cover than are stored; else they are out of bounds, as the
        user says how long a chain may be."""
        return self.options.max_length is None

    @property
    def proved_impossible(self) -> bool:
        """Whether it is proved that no chain covers all targets, or none that is as short as was asked for."""
        return self.too_long or bool(self.known.no_chain)

    @property
    def on_states(self) -> bool:
        """Whether chains are sought on the enumerated states; with a bound K they follow the edges that it allows.

        Between two goals a shortest chain meets no state twice: so large a K is none.
        """
        states, bound = self.known.enumerated, self.options.bound
        if states is None or bound is None:
            return states is not None
        return bound >= len(states.states) + 1

    @property
    def in_layers(self) -> bool:
        """Whether the first chain is sought in layers of states, for which no questions are needed."""
        return self.layered is not None and self.known.graph.exact and not self.known.complete

    @property
    def problem(self) -> Problem:
        """The goals that a chain is sought for."""
        return self.questions.problem

    @property
    def questions(self) -> Questions:
        """Sessions for the goals that a chain is sought for; the same ones as long as these do not change."""
        system, known = self.known.problem.system, self._questions
        if known is None or known.problem.names != self.known.targets or known.problem.system is not system:
            known = self._questions = Questions(self.known.problem.of(self.known.targets), self.engine, self.limits)
        return known

    def say(self, text: str) -> None:
        """Tell the listener what is done now."""
        self.said = text
        self.listener(text)

    def give_up(self, stage: str, why: str) -> None:
        """Note that ``stage`` ends, or a part of its work does, for want of memory: the run goes on without it."""
        self.say(f"{stage}: ended, because {why}")
        self.known = replace(self.known, gave_up=tuple(dict.fromkeys((*self.known.gave_up, f"{stage}: {why}"))))

    def tell(self, **news: object) -> None:
        """Write ``news``, fields of ``Known``, on the board."""
        before, self.known = self.known, replace(self.known, **news)  # type: ignore[arg-type]
        if (before.lower, before.targets, before.no_chain) != (
            self.known.lower,
            self.known.targets,
            self.known.no_chain,
        ):
            self._check()
            if self.known.chain is not None or self.known.no_chain or self.limits.spent >= BOUND_UNITS:
                self.listener.improved(self.known)

    def offer(self, run: Run) -> bool:
        """Take the chain of ``run``, which starts in init, if it is the best so far; whether it is.

        Of a run that is longer than was asked for, or goes further than K from goal to goal, the first part is taken.
        """
        chain = self.judge.chain(run)
        if chain is None or chain.length < run.length:
            self.see(run, self.judge.first_steps(run))
        if chain is None:
            return False
        self.see(chain.run, {hit.goal: hit.step for hit in chain.hits})
        best, allowed = self.known.chain, steps_allowed(chain, self.options, self.known.problem)
        if allowed < chain.length:
            chain = self.judge.chain(Run(chain.run.states[: allowed + 1], chain.run.inputs[:allowed]))
            if chain is None or steps_allowed(chain, self.options, self.known.problem) < chain.length:
                return False
        if not chain.hits and self.known.problem.goals:
            return False
        if best is not None and (-len(best.goals), best.length) <= (-len(chain.goals), chain.length):
            return False
        self.known = replace(self.known, chain=chain)
        self._check()
        self.listener.improved(self.known)
        return True

    def replay(self, run: Run) -> Run:
        """The run of the problem as it is now under the inputs of ``run``, a run of what it was before."""
        simulator = Simulator(self.known.problem.system)
        start = {var.name: run.states[0][var.name] for var in simulator.system.state if var.init is None}
        return simulator.run(simulator.initial(start), run.inputs)

    def see(self, run: Run, steps: Mapping[str, int]) -> None:
        """Take note that ``run``, from init, covers goals at ``steps``: they can be reached, whatever becomes of
        them."""
        seen = dict(self.known.seen)
        for name, step in steps.items():
            end = self.known.problem.over(name, step)
            if name not in seen or end < seen[name].length:
                seen[name] = Run(run.states[: end + 1], run.inputs[:end])
        self.known = replace(self.known, seen=seen)

    def prove(self, **facts: object) -> None:
        """Note ``facts``, fields of ``Proof``, about the chains through all targets."""
        proof = self.known.proof
        same = proof.goals == self.known.targets
        if same and facts.get("order_bound", inf) < proof.order_bound:  # type: ignore[operator]
            facts = {name: fact for name, fact in facts.items() if name not in ("order_bound", "edges", "paths")}
        if same and facts.get("searched", inf) < proof.searched:  # type: ignore[operator]
            return
        fresh = replace(proof if same else Proof(self.known.targets), **facts)  # type: ignore[arg-type]
        if fresh.lower <= proof.lower and self.known.still_holds(proof):
            if not same:
                return
            fresh = replace(fresh, basis=proof.basis)
        self.tell(proof=fresh)

    def rule_out(self, reasons: Mapping[str, Reason]) -> None:
        """Note goals that no chain covers. The goals that they represent are searched for by themselves from now on."""
        known = self.known
        unsound = [name for name, reason in reasons.items() if reason.status == UNREACHABLE and name in known.seen]
        unsound += [name for name in reasons if known.chain is not None and name in known.chain.goals]
        if unsound:
            raise CheckDisagreed(f"a run covers {', '.join(unsound)}, which was proved to be impossible")
        uncoverable = {**known.uncoverable, **{name: r for name, r in reasons.items() if name not in known.uncoverable}}
        represented = {goal: by for goal, by in known.represented.items() if by not in uncoverable}
        self.tell(uncoverable=uncoverable, represented=represented)

    def set_aside(self, tests: Mapping[str, LongTest]) -> None:
        """Seek no chain through goals of which it is proved that no run covers them that is as short as those stored;
        each has a longer one. Nothing is set aside where the user says how long a chain may be."""
        if self.sets_aside and tests:
            self.known = replace(self.known, beyond={**self.known.beyond, **tests})
            most = self.options.most_steps
            self.rule_out({name: Reason(UNDECIDED, test.told(most)) for name, test in tests.items()})

    def _check(self) -> None:
        """CheckDisagreed if a chain is shorter than the bound, or covers what no chain covers."""
        known = self.known
        if known.length is not None and known.length < known.lower:
            raise CheckDisagreed(
                f"a chain of {counted(known.length, 'step')} was found below the proven least length {known.lower}"
            )
        if known.no_chain and known.complete:
            raise CheckDisagreed(f"a chain covers all goals, although it was proved that none does: {known.no_chain}")
