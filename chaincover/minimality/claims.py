"""What is claimed at the end of a run: its result, with the proof of a bound, its certificate, and the verdicts."""

from __future__ import annotations

from bmc.engines import reason as engine_reason
from bmc.explicit.state_graph import longest_run, reachable_states
from chaincover.certificate import Acceleration, Certificate, PathFact, formula_text
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE, Bounds
from chaincover.known import Board, Known, Proof
from chaincover.limits import BRIEF
from chaincover.minimality.goal_verdicts import judge_goals
from chaincover.orderings.bound import order_bound
from chaincover.orderings.protocol import Limit
from chaincover.result import Answered, ChainResult
from chaincover.weights import INIT, Edge


def result_of(board: Board, known: Known, stopped_by: str) -> ChainResult:
    """What is ``known``, as the result of a run; ``stopped_by`` is what ended it early, or ''."""
    used_up = board.limits.used_up and not (known.settled or board.too_long)
    engine = board.engine
    proof = proof_of(known)
    tests = {name: run for name, run in known.seen.items() if known.chain is None or name not in known.chain.goals}
    return ChainResult(
        chain=known.chain,
        verdicts=judge_goals(known, board.options, stopped_by, used_up),
        bounds=Bounds(proof.lower, None if known.chain is None else known.chain.length, proof.basis),
        certificate=certificate_of(known, proof, board.accelerated),
        graph=known.graph,
        options=board.options,
        no_chain=known.no_chain,
        too_long=board.too_long,
        represented=known.represented,
        tests=tests,
        stopped_by=stopped_by,
        used_up=used_up,
        invariants=tuple(inv.name for inv in known.problem.system.invariants if inv.proved),
        answered=Answered(
            engine.name,
            engine.version,
            engine_reason(engine),
            board.ordered_by,
            board.limits.spent,
            known.graph.exact,
            "" if known.enumerated is not None else board.not_enumerated,
            None if known.enumerated is None else longest_run(known.enumerated),
            layers=known.layers,
            gave_up=known.gave_up,
        ),
        beyond=known.beyond,
    )


def proof_of(known: Known) -> Proof:
    """The proof about the chains through the targets, or, where the chain covers fewer of them, through these."""
    if known.chain is None or known.complete:
        return known.proof if known.still_holds(known.proof) else Proof(known.targets)
    covered = tuple(name for name in known.targets if name in known.chain.goals)
    part, graph = known.proof.part, known.graph.restricted(covered)
    if part is not None and {*part.proof.goals} <= {*covered}:
        return Proof(covered, known.proof.basis, part=part)
    if not graph.lower or not {*covered} <= {*known.graph.goals}:
        return Proof(covered)
    bound = order_bound(graph, Limit(work=BRIEF))
    return Proof(covered, bound.basis, bound.lower, dict(graph.lower))


def certificate_of(known: Known, proof: Proof, accelerated: Acceleration | None = None) -> Certificate:
    """The facts that ``proof`` and the verdicts rest on. Without chain and bound only verdicts rest on them.

    ``accelerated`` is what is known of counters.
    """
    invariants = [inv for inv in known.problem.system.invariants if inv.proved]
    ruled_out = (known.no_chain or known.uncoverable) and known.enumerated is None
    kept = _needed(proof) if known.chain is not None or proof.lower else Proof(())
    edges = _edges(known, kept)
    by_states = known.enumerated is not None and bool(known.uncoverable) and not kept.goals
    counts = _states(known, bool(edges or kept.paths) or by_states)
    return Certificate(
        goals=kept.goals,
        end=known.problem.end,
        overlap=known.problem.overlap,
        invariants=(*(inv.name for inv in invariants), *counts),
        formulas={inv.name: formula_text(inv.formula) for inv in invariants if inv.where is None},
        edges=tuple(PathFact(edge, steps) for edge, steps in sorted(edges.items())),
        paths=tuple(PathFact(path, steps) for path, steps in sorted(kept.paths.items())),
        order_bound=kept.order_bound,
        refuted=kept.refuted,
        exhausted=kept.states,
        lower=kept.lower,
        unreachable=_uncoverable(known, UNREACHABLE),
        no_way_to_end=_uncoverable(known, NO_WAY_TO_FINAL),
        conflicts=(known.targets,) if known.no_chain and len(known.targets) > 1 else (),
        prices=kept.prices,
        part=kept.part,
        acceleration=kept.acceleration or (accelerated if ruled_out else None),
        counted=_counted(known) if counts or kept.states else (),
    )


def _states(known: Known, needed: bool) -> tuple[str, ...]:
    """That a run's first state is one of the reachable ones, where these are ``needed``.

    Bounds on distances rest on them, and so do verdicts on goals that no run covers where there is no bound.
    """
    states = known.reachable if known.enumerated is None else len(known.enumerated.states)
    return (reachable_states(states),) if needed and states else ()


def _counted(known: Known) -> tuple[str, ...]:
    """The variables whose combinations the number of reachable states counts."""
    names = [var.name for var in known.problem.system.state]
    if known.enumerated is None:
        return tuple(names)
    return tuple(name for name in names if name in known.enumerated.states.columns)


def _needed(proof: Proof) -> Proof:
    """What the bound of ``proof`` rests on: where the prices of goals, or jumps of counters, give all of it they are
    enough."""
    if 0 < proof.flow_bound == proof.lower:
        return Proof(proof.goals, proof.basis, flow_bound=proof.flow_bound, prices=proof.prices)
    if 0 < proof.jumped == proof.lower:
        return Proof(proof.goals, proof.basis, acceleration=proof.acceleration)
    if 0 < proof.localised == proof.lower:
        return Proof(proof.goals, proof.basis, part=proof.part)
    return proof


def _edges(known: Known, proof: Proof) -> dict[Edge, int]:
    """A lower bound for every edge between the goals of ``proof``: what is proved, else what holds of any run.

    Where the bound rests on no order of the goals, that of any run is enough.
    """
    if (known.chain is None and not proof.lower) or proof.lower == max(
        proof.flow_bound, proof.jumped, proof.localised
    ) > 0:
        return {}
    problem, goals = known.problem, proof.goals
    trivial = {(INIT, goal): 0 for goal in goals}
    trivial |= {(a, b): 0 for a in goals for b in goals if a != b}
    trivial |= {(goal, problem.end): problem.over(goal, 0) for goal in goals} or {(INIT, problem.end): 0}
    lower = known.graph.lower if proof.order_bound else {}
    return {edge: proof.edges.get(edge, lower.get(edge, least)) for edge, least in trivial.items()}


def _uncoverable(known: Known, status: str) -> tuple[str, ...]:
    return tuple(name for name, reason in known.uncoverable.items() if reason.status == status)
