"""The one chain that covers most goals, then as short as possible, where no chain covers all."""

from __future__ import annotations

from dataclasses import replace

from chaincover.certificate import MostFact
from chaincover.chain import COVERED, EXCLUDED, Verdict
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.partition.conflicts import largest_class
from chaincover.partition.fewest import sets_of_goals
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.result import ChainResult, Listener, Silent
from chaincover.weights import obstacles, transitive_closure

FIRST_SHARE = 0.5
"""Part of time and effort for the chain through all goals, which covers as many as it can; the rest is for the
proof."""


def generate_most(problem: Problem, options: Options | None = None, listener: Listener | None = None) -> ChainResult:
    """One chain that covers as many goals as possible, as short as possible among these. Errors as in ``generate``.

    The verdict of each goal left out says whether the number is proved.
    """
    options, listener = options or Options(), listener or Silent()
    limits = Limits(options.time_limit, options.query_limit, options.effort)
    problem = replace(problem, overlap=options.overlap)
    whole = generate(problem, _within(options, limits, FIRST_SHARE), listener)
    limits.spend(whole.answered.effort)
    left = [v.goal for v in whole.verdicts if v.goal not in whole.uncoverable]
    if whole.chain is None or whole.chain.goals >= {*left} or whole.stopped_by not in ("", "time limit"):
        return replace(whole, options=options)
    exact = sets_of_goals(problem.of(left), limits) if options.bound is None else None
    best = None if exact is None or not exact.covers else min(exact.covers, key=lambda c: (-len(c.goals), c.length))
    if exact is not None and best is not None and _fits(options, best.length):
        if (len(best.goals), -best.length) > (len(whole.chain.goals), -whole.chain.length):
            better = generate(problem.of(best.goals), _within(options, limits, 1.0), listener)
            if better.chain is not None and len(better.chain.goals) >= len(whole.chain.goals):
                whole = _completed(whole, better)
        if exact.complete and whole.chain is not None and len(whole.chain.goals) == len(best.goals):
            proof = f"all {exact.states} reachable states were searched"
            how = f"no chain covers more than {len(best.goals)} of them: {proof}"
            return replace(_told(whole, how, tuple(left), len(best.goals)), options=options)
        return replace(whole, options=options)
    graph = whole.graph.restricted(left)
    pairs = obstacles(graph, transitive_closure(graph)).exclusive if whole.answered.exact else ()
    most = len(largest_class(left, pairs))
    if whole.chain is not None and len(whole.chain.goals) == most:
        how = f"no chain covers more than {most} of them: the others exclude each other in pairs"
        whole = _told(whole, how, tuple(left), most)
    return replace(whole, options=options)


def _fits(options: Options, length: int) -> bool:
    return options.max_length is None or length <= options.max_length


def _within(options: Options, limits: Limits, share: float) -> Options:
    """``options`` with a share of what is left of time and effort."""
    seconds = None if options.time_limit is None else max(0.01, limits.left() * share)
    effort = options.effort
    if effort is not None:
        effort = max(effort / 20, (effort - limits.spent / UNITS) * share)
    return replace(options, time_limit=seconds, effort=effort)


def _completed(whole: ChainResult, better: ChainResult) -> ChainResult:
    """``better``, made for fewer goals, with the verdicts of ``whole`` for the others."""
    own = {verdict.goal: verdict for verdict in better.verdicts}
    verdicts = tuple(own.get(verdict.goal, verdict) for verdict in whole.verdicts)
    hits = {hit.goal: hit.step for hit in better.chain.hits} if better.chain else {}
    verdicts = tuple(
        Verdict(v.goal, COVERED, hits[v.goal])
        if v.goal in hits
        else replace(v, status=EXCLUDED)
        if v.status == COVERED
        else v
        for v in verdicts
    )
    return replace(better, verdicts=verdicts, graph=whole.graph, tests={**whole.tests, **better.tests})


def _told(result: ChainResult, how: str, goals: tuple[str, ...], number: int) -> ChainResult:
    """``result`` with the proof that no chain covers more goals."""
    verdicts = tuple(
        replace(v, status=EXCLUDED, detail=how) if v.status != COVERED and v.goal in goals else v
        for v in result.verdicts
    )
    certificate = result.certificate
    if certificate is not None:
        certificate = replace(certificate, most=MostFact(goals, number))
    return replace(result, verdicts=verdicts, certificate=certificate)
