"""Tests that have more steps than are stored, told by jumps: a few sequences of inputs, each made a number of times.

Where a sequence is made many times, one counter moves each time by the same; everything else is what it was before.
That is looked at where the sequence is made for the first and for the last time: what lies between differs in the value
of the counter only, within one cell, where by the lemma of ``bmc.invariants.counters`` nothing tells its values apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation
from chaincover.chain import LongTest
from chaincover.graph.accelerated import Arc, JumpGraph
from properties.goal import Goal
from properties.monitor import Monitor


def long_test(graph: JumpGraph, goal: Goal, path: Sequence[Arc]) -> LongTest | None:
    """The test along ``path`` from the start of ``graph``; None where it is no run, or does not end with ``goal``.

    Of each sequence that is made many times only so many are left as the goal needs: the path leads to one value of a
    cell, and mostly all of them will do.
    """
    simulator, start, parts = Simulator(graph.system), graph.state(0), list[tuple[tuple[Valuation, ...], int]]()
    for arc in path:
        if arc.moves is None:
            return None
        parts += [(tuple(graph.inputs[choice] for choice in sequence), count) for sequence, count in arc.moves]

    def covered(place: int, count: int) -> bool:
        """Whether the goal is covered where the part at ``place`` is made so many times."""
        last = _last(simulator, start, [*parts[:place], (parts[place][0], count), *parts[place + 1 :]])
        return last is not None and Monitor([goal]).ends(last, goal.name, last.length)

    if not parts or not covered(0, parts[0][1]):
        return None
    for place in reversed(range(len(parts))):
        inputs, count = parts[place]
        parts[place] = (inputs, 1 + bisect_left(range(1, count), True, key=partial(covered, place)))
    return LongTest(sum(len(inputs) * count for inputs, count in parts), tuple(parts))


def _last(simulator: Simulator, state: Valuation, parts: Iterable[tuple[Sequence[Valuation], int]]) -> Run | None:
    """The run of the last of ``parts`` when it is made for the last time; None where they are no run from ``state``."""
    made: Run | None = None
    for inputs, count in parts:
        begin = _moved(simulator, state, inputs, count - 1)
        made = None if begin is None else _made(simulator, begin, inputs)
        if made is None:
            return None
        state = made.states[-1]
    return made


def _made(simulator: Simulator, state: Valuation, inputs: Sequence[Valuation]) -> Run | None:
    """The run from ``state`` under ``inputs``; None where a step is not allowed."""
    run = simulator.run(state, inputs)
    allowed = all(simulator.allowed(*each) for each in zip(run.states, run.inputs, strict=False))
    return run if allowed else None


def _moved(simulator: Simulator, state: Valuation, inputs: Sequence[Valuation], times: int) -> Valuation | None:
    """The state after ``inputs`` were made so many times, each of which moves one variable by the same; None where they
    do anything else."""
    once = _made(simulator, state, inputs) if times else None
    if once is None:
        return None if times else state
    after: Mapping[str, int] = once.states[-1]
    changed = [name for name, value in after.items() if value != state[name]]
    if len(changed) > 1:
        return None
    bits = {var.name: var.type.bits for var in simulator.system.state}
    values = {name: state[name] + times * (after[name] - state[name]) for name in changed}
    if any(not 0 <= value < 1 << bits[name] for name, value in values.items()):
        return None
    return {**state, **values}
