"""The part of a system that a search for chains needs, and the way back to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined

from pysmt.fnode import FNode

from bmc.analysis.slice import slice_system, spare_inputs, without_impossible
from bmc.formulas.unroll import plain
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.problem import Problem
from chaincover.reductions.final_latches import explained, lost_values
from chaincover.reductions.reduction import Reduction
from chaincover.replay.judge import on_whole
from chaincover.result import ChainResult
from properties.goal import Goal


def sliced(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> TransitionSystem:
    """The part of ``system`` on which ``goals``, with their consequents, ``final`` and a step's validity depend.

    ``final`` is over plain state symbols, None: a run may end anywhere.
    """
    return slice_system(*_cut_at(system, goals, final))


def _cut_at(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None
) -> tuple[TransitionSystem, list[FNode], list[FNode]]:
    """What to slice, what a search looks at and what it judges besides, as plain formulas."""
    searched = plain_symbols([goal.antecedent for goal in goals])
    judged = plain_symbols([goal.consequent for goal in goals if goal.consequent is not None])
    searched = searched if final is None else [*searched, final]
    return without_impossible(system, [*searched, *judged]), searched, judged


def plain_symbols(formulas: Sequence[FNode]) -> list[FNode]:
    """The symbols of framed ``formulas``, without their steps."""
    return list(dict.fromkeys(plain(s) for s in joined.from_iterable(map(symbols_of, formulas))))


def sliced_problem(problem: Problem) -> Reduction:
    """The reduction to the part of the system that a search for chains needs.

    Chains are simulated and judged on the whole system. Inputs that the slice does not have keep one value;
    CheckDisagreed if that comes out otherwise.
    """
    small = sliced(problem.system, problem.goals, problem.final)

    def whole_run(run: Run) -> Run:
        if not any(var.name not in values for values in run.inputs[:1] for var in problem.system.inputs):
            return run
        spare = spare_inputs(*_cut_at(problem.system, problem.goals, problem.final))
        names = [var.name for var in problem.system.inputs]
        return Run(run.states, tuple({name: {**spare, **values}[name] for name in names} for values in run.inputs))

    def restore(result: ChainResult) -> ChainResult:
        verdicts = explained(result.verdicts, lambda: lost_values(small, problem.final))
        chain = result.chain
        if chain is not None:
            chain = on_whole(replace(chain, run=whole_run(chain.run)), problem)
        simulator = Simulator(problem.system)
        tests = {}
        for name, run in result.tests.items():
            whole = whole_run(run)
            opened = {
                v.name: run.states[0][v.name]
                for v in problem.system.state
                if v.init is None and v.name in run.states[0]
            }
            tests[name] = simulator.run(simulator.initial(opened), whole.inputs)
        return replace(result, verdicts=verdicts, chain=chain, tests=tests)

    return Reduction(replace(problem, system=small), restore)
