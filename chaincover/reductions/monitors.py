"""Goals of several steps, and overlap ``forbid``, as goals of one step on a system with monitors, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bmc.errors import CheckDisagreed
from bmc.system.transition import Run, Valuation
from chaincover.certificate import monitor_texts
from chaincover.chain import Chain, LongTest, Parts
from chaincover.problem import Problem
from chaincover.reductions.reduction import CHAIN, Reduction, once, run_on
from chaincover.replaying.judge import credited_with
from chaincover.result import ChainResult


def monitored(problem: Problem) -> Reduction:
    """The reduction to goals of one step at most that may share steps.

    A chain is simulated and judged again by the goals as they are. CheckDisagreed if that comes out otherwise.
    """
    changed, made = problem.in_one_step(problem.names)
    if made is None:
        return Reduction(problem, lambda result: result)
    plain_chain: Callable[[str, Chain], Chain] = once(lambda chain: _as_they_are(chain, problem))
    plain_test: Callable[[str, Run], Run] = once(lambda run: plain_run(run, problem))

    def restore(result: ChainResult) -> ChainResult:
        chain = None if result.chain is None else plain_chain(CHAIN, result.chain)
        hits = {} if chain is None else {hit.goal: hit.step for hit in chain.hits}
        verdicts = tuple(
            verdict if verdict.step is None else replace(verdict, step=hits[verdict.goal])
            for verdict in result.verdicts
        )
        proof = result.certificate
        return replace(
            result,
            chain=chain,
            verdicts=verdicts,
            bounds=result.bounds if chain is None else replace(result.bounds, length=chain.length),
            certificate=None if proof is None else replace(proof, monitors=monitor_texts(made)),
            tests={name: plain_test(name, run) for name, run in result.tests.items()},
            beyond={name: replace(test, parts=_plain_parts(test, problem)) for name, test in result.beyond.items()},
        )

    return Reduction(changed, restore)


def _as_they_are(chain: Chain, problem: Problem) -> Chain:
    """``chain`` of goals of one step as one of ``problem``; it may be shorter there."""
    whole = credited_with(chain.goals, problem, plain_run(chain.run, problem))
    if whole is None or whole.length > chain.length or not whole.goals >= chain.goals:
        raise CheckDisagreed("a chain covers its goals by their monitors, but not as they are")
    return replace(whole, relies_on=chain.relies_on, as_found=chain.as_found)


def plain_run(run: Run, problem: Problem) -> Run:
    """``run`` of the system of ``problem``, without what monitors remember and choose."""
    return run_on(problem.system, replace(run, inputs=_plain(run.inputs, problem)))


def _plain_parts(test: LongTest, problem: Problem) -> Parts:
    """The parts of ``test``, likewise."""
    return tuple((_plain(inputs, problem), count) for inputs, count in test.parts)


def _plain(inputs: Sequence[Valuation], problem: Problem) -> tuple[Valuation, ...]:
    """``inputs`` without those of monitors."""
    names = [var.name for var in problem.system.inputs]
    return tuple({name: values[name] for name in names if name in values} for values in inputs)
