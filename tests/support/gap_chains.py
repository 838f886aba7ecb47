"""Whether a chain exists whose goals follow each other within a number of steps: a plain explicit-state search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from explicit import Explicit, Input, State
from pysmt.fnode import FNode

from bmc.formulas.unroll import at
from properties.goal import Goal


class Node(NamedTuple):
    """A step of a run: what follows it (``states`` from this step on), and what was credited until before it."""

    states: tuple[State, ...]
    inputs: tuple[Input, ...]
    done: frozenset[str]
    since: int
    busy: int


def chain_within(reference: Explicit, goals: Sequence[Goal], final: FNode | None, gap: int, overlap: str) -> bool:
    """Whether some run from init credits all goals, each at most ``gap`` steps after the one before.

    ``final`` holds at its end, at most ``gap`` steps, or those of the longest goal, after the last credit. With
    ``forbid`` a goal starts no earlier than the one credited before it ends.
    """
    ahead = max((goal.length for goal in goals), default=0)
    todo = [
        Node(tuple(states), tuple(inputs), frozenset(), 0, 0)
        for length in range(ahead + 1)
        for states, inputs in reference.runs(reference.init, length)
    ]
    seen = set(todo)
    while todo:
        for node in _credited(reference, goals, todo.pop(), gap, overlap):
            if len(node.done) == len(goals):
                late = node.since + len(node.inputs) > max(gap, ahead)
                if final is None or (not late and reference.holds(at(final, 0), node.states[-1:], [])):
                    return True
            for after in _next(reference, node, ahead):
                if after.since <= max(gap, ahead) and after not in seen:
                    seen.add(after)
                    todo.append(after)
    return False


def _credited(reference: Explicit, goals: Sequence[Goal], node: Node, gap: int, overlap: str) -> Iterator[Node]:
    """All ways to credit goals that hold at this step."""
    yield node
    if node.since > gap or (overlap == "forbid" and node.busy):
        return
    here = [
        goal
        for goal in goals
        if goal.name not in node.done
        and goal.length <= len(node.inputs)
        and reference.holds(goal.antecedent, node.states, node.inputs)
    ]
    for count in range(1, len(here) + 1):
        for chosen in combinations(here, count):
            if overlap == "allow" or sum(goal.length > 0 for goal in chosen) <= 1:
                busy = max(goal.length for goal in chosen)
                yield node._replace(done=node.done | {goal.name for goal in chosen}, since=0, busy=busy)


def _next(reference: Explicit, node: Node, ahead: int) -> Iterator[Node]:
    """One step on; the run may be known to end before the steps ``ahead``."""
    later = node._replace(since=node.since + 1, busy=max(0, node.busy - 1))
    if node.inputs:
        yield later._replace(states=node.states[1:], inputs=node.inputs[1:])
    if len(node.inputs) == ahead:
        for values, after in reference.steps[node.states[-1]]:
            yield later._replace(states=(*node.states, after)[1:], inputs=(*node.inputs, values)[1:])
