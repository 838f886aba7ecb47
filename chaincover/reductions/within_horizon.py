"""What a search on states in a normal form says of the states as they are, where the form may not hold for ever.

A normal form in which counters are told by their differences may hold only until a counter wraps around. Runs of up to
``steps`` steps are then those of the normal forms, under the same inputs. So a chain is one (it is simulated anyway),
and a bound on the length of chains holds up to one more than that. What no run of the normal forms ever does is nothing
that a run may not do after a wrap: such verdicts become *not within bound*, but for goals that induction on the states
as they are proves unreachable. Conflicts between goals are no longer claimed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bmc.errors import LimitReached, counted
from bmc.invariants.induction import Prover, never
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, Chain, Verdict
from chaincover.limits import INDUCTION
from chaincover.problem import Problem
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult
from chaincover.verdicts import AFTER_A_WRAP, never_by_induction, own_test


def within(result: ChainResult, problem: Problem, steps: int, prover: Prover) -> ChainResult:
    """``result``, found for normal forms, as one of ``problem``, whose runs of up to ``steps`` steps have them."""
    never_met = _unreachable(result, problem, steps, prover) if result.finished else {}
    lower = min(result.bounds.lower, steps + 1)
    return replace(
        result,
        verdicts=tuple(_verdict(verdict, result, steps, never_met) for verdict in result.verdicts),
        bounds=replace(result.bounds, lower=lower),
        certificate=None if result.certificate is None else _certificate(result.certificate, lower, [*never_met]),
        graph=replace(result.graph, exact=False, unsatisfiable=()),
        answered=replace(result.answered, exact=False, longest_run=None),
        no_chain="",
    )


def _certificate(proof: Certificate, lower: int, unreachable: Sequence[str]) -> Certificate:
    """``proof`` without what it says of runs of any length, but for goals that are proved ``unreachable``."""
    ruled_out = {"unreachable": tuple(unreachable), "no_way_to_end": (), "conflicts": (), "most": None}
    return replace(proof, lower=min(proof.lower, lower), **ruled_out)  # type: ignore[arg-type]


def _unreachable(result: ChainResult, problem: Problem, steps: int, prover: Prover) -> Mapping[str, str]:
    """The goals, of those that no run of normal forms covers, that induction proves unreachable; and how."""
    found: dict[str, str] = {}
    for verdict in result.verdicts:
        goal = problem.by_name[verdict.goal]
        if verdict.status == UNREACHABLE and steps >= INDUCTION + goal.length:
            try:
                k = never(problem.system, goal.antecedent, goal.length, INDUCTION, prover)
            except LimitReached:
                return found
            if k is not None:
                found[goal.name] = never_by_induction(k)
    return found


def _verdict(verdict: Verdict, result: ChainResult, steps: int, never_met: Mapping[str, str]) -> Verdict:
    upto = f"no run of up to {counted(steps, 'step')}"
    test = result.tests.get(verdict.goal)
    seen = "" if test is None else f"; {own_test(test)}"
    if verdict.goal in never_met:
        return replace(verdict, detail=never_met[verdict.goal])
    if verdict.status == UNREACHABLE:
        detail = f"{upto} covers it; {AFTER_A_WRAP}"
        return Verdict(verdict.goal, NOT_WITHIN_BOUND, detail=detail)
    if verdict.status == NO_WAY_TO_FINAL and verdict.proved:
        detail = f"{upto} covers it and ends in the final condition; {AFTER_A_WRAP}{seen}"
        return Verdict(verdict.goal, NOT_WITHIN_BOUND, detail=detail)
    if result.no_chain and verdict.status != COVERED:
        limited = verdict.detail.replace(f": {result.no_chain}", f", in up to {counted(steps, 'step')}")
        return replace(verdict, detail=limited.replace("no run goes on", f"{upto} goes on"), proved=False)
    return verdict


def without_late_runs(result: ChainResult, problem: Problem, sure: int) -> ChainResult:
    """``result`` without a chain and tests of more than ``sure`` steps that are none of ``problem``: from there on a
    run may not do what the run of normal forms does.

    Those that are runs all the same, simulated on the states as they are, stay. Tests that are too long to be stored
    are only told by their jumps, and so cannot be simulated: longer ones are not told.
    """
    why = f"more than {counted(sure, 'step')}, after which a counter may overflow or wrap around"
    beyond = {name: test for name, test in result.beyond.items() if test.length <= sure}
    late = result.beyond.keys() - beyond.keys()
    chain = result.chain
    if chain is not None and chain.length > sure and not _is_chain(chain, problem):
        chain = None
    lost = COVERED if chain is not result.chain else ""
    verdicts = tuple(
        Verdict(verdict.goal, UNDECIDED, detail=f"{'a chain' if verdict.status == lost else 'a test'} takes {why}")
        if verdict.status == lost or verdict.goal in late
        else verdict
        for verdict in result.verdicts
    )
    return replace(
        result,
        chain=chain,
        verdicts=verdicts,
        tests={n: run for n, run in result.tests.items() if run.length <= sure or n in _covered(run, problem)},
        beyond=beyond,
        bounds=result.bounds if chain is not None else replace(result.bounds, length=None),
    )


def _is_chain(chain: Chain, problem: Problem) -> bool:
    """Whether the inputs of ``chain`` are a chain of ``problem`` through the same goals."""
    whole = _simulated(chain.run, problem)
    found = None if whole is None else Judge(problem).chain(whole)
    return found is not None and found.length == chain.length and found.goals >= chain.goals


def _covered(run: Run, problem: Problem) -> Mapping[str, int]:
    """The goals that the inputs of ``run`` cover in ``problem``, each with its first step; none where that is no run
    to its end."""
    whole = _simulated(run, problem)
    return {} if whole is None else Judge(problem).first_steps(whole)


def _simulated(run: Run, problem: Problem) -> Run | None:
    """The run of ``problem`` under the inputs of ``run``; None where a step of it is not allowed."""
    simulator = Simulator(problem.system)
    opened = {var.name: run.states[0][var.name] for var in problem.system.state if var.init is None}
    whole = simulator.run(simulator.initial(opened), run.inputs)
    return whole if simulator.valid_part(whole).length == run.length else None
