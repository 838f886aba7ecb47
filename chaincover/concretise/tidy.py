"""Readable inputs for a chain at hand, by simulation alone: for runs that are stopped before canonical inputs are
found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bmc.explicit.input_classes import allowed_ranges
from bmc.system.run import Run
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Valuation
from chaincover.chain import Chain
from chaincover.known import Known
from properties.monitor import Monitor


def tidy(known: Known) -> Chain | None:
    """The best chain with simpler inputs: each keeps the value of the step before, or has the simplest one.

    A value stays where another one would change the states of the run, break a constraint or lose a goal. Takes two
    simulated steps for each input and step.
    """
    chain, problem = known.chain, known.problem
    if chain is None or problem.system.hold > 1:
        return chain
    simulator = Simulator(problem.system)
    monitor = Monitor(problem.of(chain.goals).goals)
    run = chain.run
    for step in range(chain.length):
        for var in problem.system.inputs:
            for value in _simpler(var, run, step):
                other = _changed(run, step, var.name, value)
                after = simulator.run(run.states[step], [other.inputs[step]]).states[-1]
                if (
                    after == run.states[step + 1]
                    and simulator.allowed(run.states[step], other.inputs[step])
                    and _still_covered(monitor, chain, other, step)
                ):
                    run = other
                    break
    hits = tuple(replace(hit, consequent_held=monitor.judge(run, hit.goal, hit.step)) for hit in chain.hits)
    covered = monitor.covered(run)
    steps = {hit.goal: hit.step for hit in hits}
    repeats = (replace(hit, step=step) for hit in hits for step in covered[hit.goal] if step != steps[hit.goal])
    judged = tuple(replace(hit, consequent_held=monitor.judge(run, hit.goal, hit.step)) for hit in repeats)
    return replace(chain, run=run, hits=hits, repeats=judged)


def _simpler(var: InputVariable, run: Run, step: int) -> Iterator[int]:
    """Values that are simpler than the one at ``step``: that of the step before, then the simplest ones."""
    own = run.inputs[step][var.name]
    values = [run.inputs[step - 1][var.name]] if step else []
    values += [_simplest(var)]
    for value in values:
        if value == own:
            return
        yield value


def _simplest(var: InputVariable) -> int:
    """The first allowed value from 0 up, raw; the least one if all are negative."""
    values = [max(low, 0) for low, high in allowed_ranges(var) if high >= 0]
    return (min(values) if values else allowed_ranges(var)[0][0]) % (1 << max(var.type.bits, 1))


def _changed(run: Run, step: int, name: str, value: int) -> Run:
    inputs: list[Valuation] = [*run.inputs]
    inputs[step] = {**inputs[step], name: value}
    return Run(run.states, tuple(inputs))


def _still_covered(monitor: Monitor, chain: Chain, run: Run, step: int) -> bool:
    """Whether ``run``, with another input at ``step``, covers the goals of ``chain`` where they are credited."""
    return all(
        monitor.holds(run, hit.goal, hit.step)
        for hit in chain.hits
        if hit.step <= step < hit.step + max(1, monitor.goals[hit.goal].length)
    )
