"""Goals of several steps as goals of one step, on a system that carries their monitors, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bmc.errors import CheckDisagreed
from bmc.system.memory import with_memory
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import monitor_texts
from chaincover.problem import Problem
from chaincover.reductions.reduction import Reduction
from chaincover.replay.judge import credited_with
from chaincover.result import ChainResult
from properties.one_step import in_one_step


def monitored(problem: Problem) -> Reduction:
    """The reduction to goals whose antecedents speak of one step.

    With overlap ``forbid`` the steps of a goal matter beside its antecedent: the problem itself. A chain is simulated
    and judged again by the goals as they are. CheckDisagreed if that comes out otherwise.
    """
    made = in_one_step(problem.goals, {var.name for var in problem.system.inputs})
    if not made.earlier or problem.forbid:
        return Reduction(problem, lambda result: result)

    def restore(result: ChainResult) -> ChainResult:
        chain = result.chain
        if chain is not None:
            whole = credited_with(chain.goals, problem, chain.run)
            if whole is None or whole.length != chain.length or whole.goals != chain.goals:
                raise CheckDisagreed("a chain covers its goals by their monitors, but not as they are")
            chain = replace(whole, relies_on=chain.relies_on, as_found=chain.as_found)
        hits = {} if chain is None else {hit.goal: hit.step for hit in chain.hits}
        verdicts = tuple(
            replace(verdict, step=hits[verdict.goal]) if verdict.step is not None else verdict
            for verdict in result.verdicts
        )
        proof = result.certificate
        return replace(
            result,
            chain=chain,
            verdicts=verdicts,
            certificate=None if proof is None else replace(proof, monitors=monitor_texts(made)),
            tests=_simulated(result.tests, problem),
        )

    return Reduction(replace(problem, system=with_memory(problem.system, made.variables), goals=made.goals), restore)


def _simulated(runs: Mapping[str, Run], problem: Problem) -> dict[str, Run]:
    """``runs`` without what monitors remember."""
    simulator, found = Simulator(problem.system), {}
    opened = [var.name for var in problem.system.state if var.init is None]
    for name, run in runs.items():
        start = {known: run.states[0][known] for known in opened if known in run.states[0]}
        found[name] = simulator.run(simulator.initial(start), run.inputs)
    return found
