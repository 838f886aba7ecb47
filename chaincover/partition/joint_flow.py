"""Several chains as one covering flow: how many chains it takes at least, and how many steps so many take together.

First comes the flow of the smallest number of chains, in which a step costs nothing; then the flow of so many chains of
the fewest steps. Where both come out whole, they are the chains. The prices of both, and those of one chain through
the goals that it covers, are the proofs: nothing is searched for these again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import Certificate, Prices
from chaincover.chain import Bounds, Chain
from chaincover.facts import Fact
from chaincover.graph.enumerated import ENUMERATING, enumerated_within
from chaincover.graph.goal_product import goal_product
from chaincover.known import NOTHING, Board
from chaincover.limits import HALF, PER_UNIT, EffortUsedUp, Limits
from chaincover.minimality.covering_flow import MOST_ARCS, CoveringFlow
from chaincover.options import Options
from chaincover.orderings.bound import FLOW
from chaincover.problem import Problem
from chaincover.reductions.monitors import monitored
from chaincover.reductions.reduction import Reduction, in_turn
from chaincover.reductions.slicing import smaller_problem
from chaincover.replaying.judge import Judge
from chaincover.requirements.deciding import REQUIREMENTS
from chaincover.result import ChainResult
from chaincover.stages import Stage


def applies(options: Options) -> bool:
    """Whether the flow of several chains is to tell of all of them: they may be as long as they need to."""
    return options.engine == ENUMERATING and options.bound is None and options.max_length is None


def _apart(board: Board) -> bool:
    states = board.known.enumerated
    return bool(board.known.no_chain) and states is not None and len(states.moves.ends) <= MOST_ARCS


APART = Fact("that no chain covers all goals, on so few states that the flow of several chains tells more", _apart)


def until_apart(stages: Sequence[Stage]) -> list[Stage]:
    """``stages`` that end once no chain is proved to cover all goals: nothing is gained then by one through as many as
    possible. Those of requirements go on."""
    return [each if each.name == REQUIREMENTS else replace(each, until=(*each.until, APART)) for each in stages]


@dataclass(frozen=True)
class JointFlow:
    """``chains`` that cover all goals together, each with a proof of its own bound; none where no flow was whole.

    ``certificate`` is the proof that no fewer than ``number`` chains cover all goals, and that so many take no fewer
    than ``lower`` steps together.
    """

    chains: tuple[ChainResult, ...]
    number: int
    lower: int
    certificate: Certificate | None


def joint_flow(problem: Problem, options: Options, limits: Limits) -> JointFlow | None:
    """What the covering flow tells of several chains through all goals of ``problem``, by a share of the effort.

    None where it tells nothing: there are too many states, some goal is covered by no chain, or one chain may suffice.
    LimitReached when time is over.
    """
    if not problem.goals:
        return None
    part = limits.share(HALF)
    try:
        reduction = in_turn(problem, (monitored, lambda each: smaller_problem(each, options, part)))
        return _Flows(reduction, part).found()
    except EffortUsedUp:
        return None


class _Flows:
    """The covering flows of the problem of ``reduction``."""

    def __init__(self, reduction: Reduction, limits: Limits) -> None:
        self._reduction, self._problem, self._limits = reduction, reduction.problem, limits

    def found(self) -> JointFlow | None:
        """What they tell."""
        problem, limits = self._problem, self._limits
        states = enumerated_within(problem, limits, self._reduction.enumeration)
        if states is None:
            return None
        made = goal_product(problem, states, limits.check, lambda steps: limits.spend(steps / PER_UNIT.steps))
        if made is None or len(made.arrows.ends) > MOST_ARCS:
            return None
        number = self._highest(CoveringFlow(problem, states, made, limits, None))[0]
        if number is None or number.bound < 2:
            return None
        flow = CoveringFlow(problem, states, made, limits, number.bound)
        prices, runs = self._highest(flow)
        if prices is None:
            return None
        chains = tuple(sorted((self._chain(run, prices, flow) for run in runs), key=self._first_goal))
        proof = replace(self._certificate(problem.names), together=(number, prices))
        return JointFlow(chains, number.bound, prices.bound, self._reduction.restore(_made(proof)).certificate)

    def _first_goal(self, result: ChainResult) -> int:
        """The place of the first goal that a chain covers: chains come in the order of goals."""
        covered = frozenset() if result.chain is None else result.chain.goals
        return next((place for place, name in enumerate(self._problem.names) if name in covered), -1)

    @staticmethod
    def _highest(flow: CoveringFlow) -> tuple[Prices | None, list[Run]]:
        """The prices of the highest bound that ``flow`` proves, and the runs of fewest steps that it has met."""
        best, runs, total = None, list[Run](), None
        for _ in flow.solutions():
            best = flow.proved(0 if best is None else best.bound) or best
            if best is None or best.chains is None:
                continue
            runs = flow.runs(total) or runs
            total = sum(run.length for run in runs) if runs else None
            if total == best.bound:
                break
        return best, runs

    def _chain(self, run: Run, prices: Prices, flow: CoveringFlow) -> ChainResult:
        """The chain of ``run``, with the bound that ``prices`` give for the goals that it covers."""
        chain = Judge(self._problem).chain(run)
        assert chain is not None
        own = flow.of_one(prices, chain.goals)
        proof = self._certificate(name for name in self._problem.names if name in chain.goals)
        made = _made(replace(proof, lower=own.bound, prices=own), chain)
        return self._reduction.restore(made)

    def _certificate(self, goals: Iterable[str]) -> Certificate:
        return Certificate(tuple(goals), self._problem.end, self._problem.overlap)


def _made(proof: Certificate, chain: Chain | None = None) -> ChainResult:
    """A result with its ``proof``, for a reduction to restore."""
    bounds = Bounds(proof.lower, None if chain is None else chain.length, FLOW)
    return ChainResult(chain, (), bounds, proof, NOTHING, Options())
