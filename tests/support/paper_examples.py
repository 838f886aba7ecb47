"""Small systems whose shortest path over the graph cannot be run, the one of the paper's Examples 3 to 5 among them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from machines import Case, Machine
from pysmt.shortcuts import And

from bmc.formulas.unroll import at
from properties.goal import Goal

WEIGHTS: Mapping[tuple[str, str], int] = {
    ("init", "p1"): 0,
    ("init", "p2"): 2,
    ("p1", "p2"): 1,
    ("p1", "final"): 2,
    ("p2", "p1"): 2,
    ("p2", "final"): 2,
}
"""The weights of Fig. 5 as Example 5 lists them."""

DETOUR = 6
"""Steps from where p2 leads to the right state of p1."""


def figure_5() -> Case:
    """The system that Examples 3 to 5 assume: the right state of p1 is not reachable from its left state.

    Properties p1 and p2 of one step each, p1 in the places ``left`` (init) and ``right``, and the final condition.
    ``init, p1, p2, final`` is the shortest path (3 steps), but p1 from the left never leads to p2, and the right state
    is ``DETOUR`` + 3 steps from init. The shortest chain is ``init, p2, p1, final`` with 6 steps.
    """
    detour = [f"d{n}" for n in range(1, DETOUR)]
    around = ["b", *detour, "right"]
    machine = Machine(
        "figure 5",
        ["left", "a", "m", "p", *around, "f"],
        ["wait", "button", "gas", "brake"],
        [
            ("left", "button", "a"),
            ("a", "button", "f"),
            ("left", "gas", "m"),
            ("m", "gas", "p"),
            ("p", "brake", "b"),
            ("b", "brake", "f"),
            ("b", "gas", "left"),
            *((here, "button", there) for here, there in pairwise(around)),
            ("right", "button", "p"),
        ],
    )
    p1 = Goal("p1", at(And(machine.at_any("left", "right"), machine.chosen("button")), 0), None, 1)
    p2 = Goal("p2", at(And(machine.at_any("p"), machine.chosen("brake")), 0), None, 1)
    return machine.system(), (p1, p2), machine.at_any("f")


def three_to_four() -> Case:
    """The design's example against adding up path weights: direct weights sum to 3, the shortest chain takes 4 steps.

    Goals v = {v1, v2} and w = {w1, w2}, from u (init) to x (final): u->v1, v2->w1, w2->x, v1->m->w2. The direct
    weights are w(init,v) = w(v,w) = w(w,final) = 1. Neither init, v, w nor v, w, final can be run in 2 steps, both
    take 3; they share a step, and u, v1, m, w2, x takes 4, not 5. From x a step leads to v2: every place is reachable.
    """
    machine = Machine(
        "three to four",
        ["u", "v1", "v2", "w1", "w2", "x", "m"],
        ["wait", "go"],
        [
            (here, "go", there)
            for here, there in [("u", "v1"), ("v2", "w1"), ("w2", "x"), ("v1", "m"), ("m", "w2"), ("x", "v2")]
        ],
    )
    v = Goal("v", at(machine.at_any("v1", "v2"), 0), None, 0)
    w = Goal("w", at(machine.at_any("w1", "w2"), 0), None, 0)
    return machine.system(), (v, w), machine.at_any("x")


def trap(way_out: bool = True) -> Case:
    """A state of v that is reached first leads nowhere: repair fails, though the only order can be run.

    From u one step leads to v1 and two to v2, and only v2 leads to x. Algorithms 11 and 12 keep init -> v at one step,
    at which it can be run, and then look for x in vain. The shortest chain is u, m, v2, x.
    Without ``way_out`` m leads nowhere, and there is no chain.
    """
    steps = [("u", "left", "v1"), ("u", "right", "m"), ("v2", "right", "x")]
    steps += [("m", "right", "v2")] if way_out else []
    machine = Machine("trap", ["u", "v1", "m", "v2", "x"], ["wait", "left", "right"], steps)
    return machine.system(), (Goal("v", at(machine.at_any("v1", "v2"), 0), None, 0),), machine.at_any("x")


def endless() -> Case:
    """Two pairs of places go round and round; goals a, v and b, no final condition.

    From u one step leads to a1, and from then on v1 and a1 follow each other for ever. So do a2 and v2, but from v2 a
    step also leads to b1. So every edge of init, a, v, b takes one step, but no run follows it, however often it comes
    back to a. From u two steps lead to b2, and another one to a1: with K = 2 init, b, a, v is a chain.
    """
    steps = [
        ("u", "left", "a1"),
        ("a1", "left", "v1"),
        ("v1", "left", "a1"),
        ("a2", "left", "v2"),
        ("v2", "left", "a2"),
        ("v2", "right", "b1"),
        ("u", "right", "m"),
        ("m", "right", "b2"),
        ("b2", "left", "a1"),
    ]
    machine = Machine("endless", ["u", "a1", "v1", "a2", "v2", "b1", "m", "b2"], ["wait", "left", "right"], steps)
    goals = [Goal(name, at(machine.at_any(f"{name}1", f"{name}2"), 0), None, 0) for name in "ab"]
    v = Goal("v", at(machine.at_any("v1", "v2"), 0), None, 0)
    return machine.system(), (goals[0], v, goals[1]), None
