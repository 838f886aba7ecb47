"""Whether runs end for good after some number of steps: asked for as many steps as is worth it, and not for nothing."""

from __future__ import annotations

from math import inf

from bmc.engines.dead_ends import DeadEnd, QuestionLimits, dead_end
from bmc.engines.protocol import Engine
from bmc.native.differential import Sampler
from bmc.system.transition import TransitionSystem
from chaincover.limits import Limits

MOST_STEPS = 1024
"""No question is asked about more steps than this: all of them are encoded at once."""
QUESTION = 1
"""Units of work for one question."""


def find_dead_end(
    system: TransitionSystem, engine: Engine, limits: Limits, longest: float | None = None
) -> DeadEnd | None:
    """Why no run goes on after some number of steps; None where that is not so, or not known within ``limits``.

    ``longest`` is the number of steps of the longest run, where all reachable states are known: one question is
    enough then, or none. Else none is asked where a random run comes back to a state, or is as long as is asked about;
    and the questions go on from the end of that run, about twice as many steps each time. LimitReached when time is
    over.
    """
    known = longest is not None
    possible = _random_run(system, limits) if longest is None else longest
    if possible >= MOST_STEPS:
        return None
    most = int(possible) + 1
    while most <= MOST_STEPS and not limits.used_up:
        found = dead_end(system, engine, most, limits=QuestionLimits(limits.for_query(), QUESTION))
        if found is not None or known:
            return found
        most *= 2
    return None


def _random_run(system: TransitionSystem, limits: Limits) -> float:
    """The steps of a random run, up to those that are asked about; infinite where it comes back to a state."""
    sampler = Sampler(system, seed=0)
    state, met = sampler.simulator.initial(), set[tuple[int, ...]]()
    for steps in range(MOST_STEPS):
        limits.check()
        values = tuple(state[var.name] for var in system.state)
        if values in met:
            return inf
        inputs = sampler.allowed_inputs(state)
        if inputs is None:
            return steps
        met.add(values)
        state = sampler.simulator.step(state, inputs)
    return MOST_STEPS
