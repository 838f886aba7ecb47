"""What is claimed at the end of a run: the proof of a bound, and its certificate."""

from __future__ import annotations

from chaincover.certificate import Certificate, EdgeFact, PathFact
from chaincover.known import Known, Proof
from chaincover.orderings.bound import order_bound
from chaincover.orderings.protocol import Limit

LAST_WORK = 1.0
"""Work for the bound on the chains through fewer goals than were sought."""


def proof_of(known: Known) -> Proof:
    """The proof about the chains through the targets, or, where the chain covers fewer of them, through these."""
    if known.chain is None or known.complete:
        return known.proof if known.proof.goals == known.targets else Proof(known.targets)
    covered = tuple(name for name in known.targets if name in known.chain.goals)
    graph = known.graph.restricted(covered)
    if not graph.lower or not {*covered} <= {*known.graph.goals}:
        return Proof(covered)
    bound = order_bound(graph, Limit(work=LAST_WORK))
    return Proof(covered, bound.basis, bound.lower, dict(graph.lower))


def certificate_of(known: Known, proof: Proof) -> Certificate:
    """The facts that ``proof`` rests on."""
    return Certificate(
        goals=proof.goals,
        end=known.problem.end,
        overlap=known.problem.overlap,
        invariants=tuple(inv.name for inv in known.problem.system.invariants if inv.proved),
        edges=tuple(EdgeFact(a, b, steps) for (a, b), steps in sorted(proof.edges.items())),
        paths=tuple(PathFact(path, steps) for path, steps in sorted(proof.paths.items())),
        order_bound=proof.order_bound,
        refuted=proof.refuted,
        exhausted=proof.states,
        lower=proof.lower,
    )
