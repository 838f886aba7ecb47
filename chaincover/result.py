"""What a run answers, as plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from bmc.ending import TERMINATED
from bmc.errors import counted
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, Bounds, Chain, Failure, LongTest, Ruling, Verdict
from chaincover.options import Options
from chaincover.weights import ReachGraph

if TYPE_CHECKING:
    from chaincover.stages import StageCost

BY = {TERMINATED: "SIGTERM"}
"""What called a run off, where another word says it better than its name: it was stopped by that."""


@dataclass(frozen=True)
class LayersNeed:
    """What a chain by searches in layers takes: so many ``states`` (``exact``: no fewer), ``effort`` as ``--effort``
    gives it, and ``memory`` in MB, of which it may have ``most``."""

    states: int
    exact: bool
    effort: float
    memory: int
    most: int

    @property
    def possible(self) -> bool:
        """Whether more effort helps."""
        return self.memory <= self.most

    def __str__(self) -> str:
        states = f"{'' if self.exact else 'up to '}{counted(self.states, 'state')} in layers take"
        if not self.possible:
            return f"{states} about {self.memory} MB, more than the {self.most} that a search may have"
        return f"{states} about {self.memory} MB and more effort: give --effort {self.effort:g}"


@dataclass(frozen=True)
class Answered:
    """Who answered the questions: the engine with its version, why it was chosen, and what was spent.

    ``ordering`` is the backend of the covering path. ``effort`` is the work done, in units of about a second.
    ``exact``: the distances are those of all reachable states, enumerated, without a bound K. ``not_enumerated`` says
    why states are not enumerated, or ''. ``longest_run`` has the steps of the longest run through the enumerated
    states, infinite where one has no end, None where they are not enumerated. ``profile`` says where the time went.
    ``layers`` is what a search in layers takes that the effort did not suffice for. ``gave_up`` names the stages that
    ended for want of memory, each with the reason.
    """

    engine: str = ""
    version: str = ""
    why: str = ""
    ordering: str = ""
    effort: float = 0.0
    exact: bool = False
    not_enumerated: str = ""
    longest_run: float | None = None
    profile: tuple[StageCost, ...] = field(default=(), compare=False)
    layers: LayersNeed | None = None
    gave_up: tuple[str, ...] = ()


@dataclass(frozen=True)
class Requirements:
    """Whether properties with a consequent can fail: a ruling on each of them, in their order.

    The goals of ``certificate`` are violations: ``unreachable`` where no run violates, an edge from init for each
    shortest run; ``invariants`` is what these rest on. None where nothing was searched. ``stopped_by`` as in
    ``ChainResult``; ``effort`` is the work done, in units.
    """

    rulings: tuple[Ruling, ...] = ()
    certificate: Certificate | None = None
    stopped_by: str = ""
    effort: float = 0.0

    @property
    def failures(self) -> tuple[Failure, ...]:
        """How properties fail, for each that can."""
        return tuple(ruling.failure for ruling in self.rulings if ruling.failure is not None)

    @property
    def beyond(self) -> tuple[Ruling, ...]:
        """Those of properties that can fail, but only by runs that have more steps than are stored."""
        return tuple(ruling for ruling in self.rulings if ruling.beyond)

    @property
    def findings(self) -> int:
        """The number of properties that can fail."""
        return len(self.failures) + len(self.beyond)


@dataclass(frozen=True)
class ChainResult:
    """``chain`` is the best one found, None if no run covers any goal; ``verdicts`` are in the goals' order.

    ``bounds`` and ``certificate`` speak of the chains through the goals that the certificate names. ``no_chain`` says
    how it is proved that no chain covers all goals that can be covered by themselves, or is ''; ``too_long``: it is
    proved that none does that is as short as the options want it. ``tests`` has for each goal that some run covers, but
    not the chain, the shortest such run found for it. ``stopped_by`` is what ended the run early: ``time limit``,
    ``memory limit``, ``interrupt``, ``terminated``, or ''. ``used_up``: the effort was used up while something was left
    to settle. ``represented`` has for each goal that another one implies that other one, where these
    alone are in the graph. ``invariants`` names the proved invariants that the bound rests on. ``finished``: the search
    is over; else it is not explained why goals are undecided. ``beyond`` has for each goal that no run covers which is
    as short as those that are stored a longer one.
    """

    chain: Chain | None
    verdicts: tuple[Verdict, ...]
    bounds: Bounds
    certificate: Certificate | None
    graph: ReachGraph
    options: Options
    no_chain: str = ""
    too_long: bool = False
    tests: Mapping[str, Run] = field(default_factory=dict)
    stopped_by: str = ""
    used_up: bool = False
    represented: Mapping[str, str] = field(default_factory=dict)
    invariants: tuple[str, ...] = ()
    answered: Answered = Answered()
    finished: bool = True
    requirements: Requirements = Requirements()
    beyond: Mapping[str, LongTest] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether there is a chain, and it covers every goal."""
        return self.chain is not None and all(verdict.status == COVERED for verdict in self.verdicts)

    @property
    def runs(self) -> Sequence[Run]:
        """The runs from init that are known: that of the chain, and the tests."""
        return [*([] if self.chain is None else [self.chain.run]), *self.tests.values()]

    @property
    def uncoverable(self) -> frozenset[str]:
        """The goals of which it is proved that no chain covers them, or none that is stored."""
        certificate = self.certificate
        never = () if certificate is None else certificate.unreachable + certificate.no_way_to_end
        return frozenset(never) | self.beyond.keys()

    def _repr_html_(self) -> str:
        """The verdicts, for notebooks."""
        from chaincover.notebook import verdict_table

        return verdict_table(self.bounds, self.verdicts)

    @property
    def depth(self) -> int:
        """The K reached: the largest distance up to which all edges are decided; -1: none."""
        return self.graph.depth


@dataclass(frozen=True, slots=True)
class Conflict:
    """Goals that do not fit into one chain; ``reason`` says how that is known.

    ``at_all``: no run whatever covers them together; else none within the K that ``reason`` names. ``undecided``: they
    are only kept apart because no chain was found that covers them, so nothing may be claimed from it.
    """

    goals: tuple[str, ...]
    reason: str
    at_all: bool
    undecided: bool = False


@dataclass(frozen=True)
class SeveralChains:
    """``results`` hold a chain each; together they cover every goal that is known to be covered by a chain.

    ``verdicts`` are those of all goals, in their order, with the number of the chain (from 1) in the detail.
    ``number_minimal``: it is proved that fewer chains do not cover all that can be covered, however long they are;
    ``number_minimal_within_k``: that fewer chains do not, as far as K reached.
    ``bounds`` has the total length, and the proved least total length of this number of chains through these goals.
    ``certificate`` proves number and total where the covering flow of several chains has told them, else it is None.
    ``stopped_by``, ``used_up`` and ``requirements`` as in ``ChainResult``, and so ``tests``, of goals that none of the
    chains covers.
    """

    results: tuple[ChainResult, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    number_minimal_within_k: bool = False
    number_minimal: bool = False
    bounds: Bounds = field(default=Bounds(0, None, ""))
    certificate: Certificate | None = None
    stopped_by: str = ""
    used_up: bool = False
    tests: Mapping[str, Run] = field(default_factory=dict)
    requirements: Requirements = Requirements()

    def _repr_html_(self) -> str:
        """The verdicts, for notebooks."""
        from chaincover.notebook import verdict_table

        return verdict_table(self.bounds, self.verdicts)

    @property
    def length(self) -> int:
        """Steps of all chains together."""
        return sum(result.chain.length for result in self.results if result.chain is not None)

    @property
    def runs(self) -> Sequence[Run]:
        """The runs from init that are known: those of the chains, and the tests."""
        return [*(result.chain.run for result in self.results if result.chain is not None), *self.tests.values()]


class Listener(Protocol):
    """Is told what a run does, and of every better answer as soon as it is known."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on: ``stage: what it does``."""

    def improved(self, result: Callable[[], ChainResult]) -> None:
        """There is a better chain, a higher bound or a new verdict; ``result`` makes the answer so far."""


@dataclass(frozen=True)
class Silent:
    """A listener that tells nobody of better answers, and messages only to ``tell``."""

    tell: Callable[[str], None] = lambda text: None

    def __call__(self, text: str) -> None:
        """See the protocol."""
        self.tell(text)

    def improved(self, result: object) -> None:
        """See the protocol."""
