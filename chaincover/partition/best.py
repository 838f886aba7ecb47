"""The best chains so far in a search for several, the goals without one, what one tells, and who is told of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from typing import Protocol

from bmc.records import dataclass
from chaincover.certificate import Certificate, as_data, monitor_texts
from chaincover.chain import COVERED, Bounds, Verdict
from chaincover.problem import Problem
from chaincover.result import ChainResult, SeveralChains
from properties.one_step import MONITOR

SHARED = "shortest order over all chains, with resets between them"
EXACT = "search over all reachable states with the goals covered"
FLOW = "least covering flow of so many chains over all reachable states, its dual solution checked exactly"
RESETS = "shortest run through all goals with resets in it"
ONE = "bound of the one chain"


def total(results: Sequence[ChainResult]) -> int:
    """Steps of all chains together."""
    return sum(r.chain.length for r in results if r.chain is not None)


@dataclass(frozen=True)
class Best:
    """The best chains so far, with what is proved of their length and number, as in ``SeveralChains``."""

    results: tuple[ChainResult, ...] = ()
    bounds: Bounds = field(default=Bounds(0, None, ONE))
    number_minimal_within_k: bool = False
    number_minimal: bool = False

    @property
    def covered(self) -> frozenset[str]:
        """The goals that the chains cover."""
        return frozenset(name for result in self.results for name in covered_by(result))

    def has(self, goals: Collection[str]) -> bool:
        """Whether one of the chains covers all ``goals``."""
        return any({*goals} <= covered_by(result) for result in self.results)

    @property
    def cost(self) -> tuple[int, int, int]:
        """The less the better: most goals, then the smallest number of chains, then the fewest steps."""
        return -len(self.covered), len(self.results), total(self.results)

    def with_more(self, result: ChainResult) -> Best:
        """With the chain in ``result`` too, if that covers more goals."""
        if result.chain is None or covered_by(result) <= self.covered:
            return self
        results = (*self.results, result)
        return Best(results, Bounds(0, total(results), SHARED))


@dataclass(eq=False)
class Missed:
    """The goals that no chain was found for, each with its verdict; ``impossible`` are proved to be in none."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    impossible: set[str] = field(default_factory=set)

    def give_up(self, result: ChainResult, names: Collection[str]) -> None:
        """The search with this ``result`` found no chain for the goals ``names``."""
        self.verdicts.update({verdict.goal: verdict for verdict in result.verdicts if verdict.goal in names})
        self.impossible.update(result.uncoverable)

    def exclude(self, names: Collection[str], status: str, how: str) -> None:
        """The goals ``names`` are proved to be in no chain; ``how`` says by what."""
        self.verdicts.update({name: Verdict(name, status, detail=how) for name in names})
        self.impossible.update(names)


def narrowed(result: ChainResult, verdicts: Sequence[Verdict], problem: Problem) -> ChainResult:
    """``result``, of a problem with all goals, as one of several: it tells only of the goals that its chain covers.

    One that was made for all goals, and is the only one, tells of all of them what ``verdicts`` do.
    """
    own = {verdict.goal: verdict for verdict in result.verdicts if verdict.goal in covered_by(result)}
    covered = {verdict.goal for verdict in verdicts if verdict.status == COVERED}
    if {*own} == covered and len(result.verdicts) == len(verdicts):
        return replace(result, verdicts=tuple(own.get(verdict.goal, verdict) for verdict in verdicts))
    certificate = result.certificate
    if certificate is not None:
        certificate = of_own(replace(certificate, unreachable=(), no_way_to_end=(), conflicts=()), problem.of(own))
    bounds = result.bounds if certificate is not None or result.certificate is None else replace(result.bounds, lower=0)
    told = tuple(own.values())
    return replace(result, verdicts=told, bounds=bounds, certificate=certificate, no_chain="", tests={})


def of_own(proof: Certificate, problem: Problem) -> Certificate | None:
    """``proof`` with the monitors of the goals of ``problem`` alone; None where it speaks of those of other goals."""
    made = problem.in_one_step(proof.monitors)[1]
    own = {} if made is None else monitor_texts(made)
    if own == dict(proof.monitors):
        return proof
    facts = replace(proof, monitors={})
    return None if f"{MONITOR}#" in repr(as_data(facts)) else replace(proof, monitors=own)


def covered_by(result: ChainResult) -> frozenset[str]:
    """The goals that the chain of ``result`` covers."""
    return frozenset() if result.chain is None else result.chain.goals


class Listener(Protocol):
    """As for one chain; every better set of chains is told as soon as it is known."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""

    def improved(self, result: Callable[[], SeveralChains]) -> None:
        """There are better chains; ``result`` makes the answer so far."""


@dataclass(frozen=True)
class Growing:
    """The listener of the search for one more chain: what it finds is told with the chains that there are before it."""

    listener: Listener
    with_more: Callable[[ChainResult], SeveralChains]

    def __call__(self, text: str) -> None:
        """See the protocol."""
        self.listener(text)

    def improved(self, result: Callable[[], ChainResult]) -> None:
        """See the protocol."""
        self.listener.improved(lambda: self.with_more(result()))
