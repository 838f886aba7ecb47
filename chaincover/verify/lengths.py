"""Refuted lengths asked again: no run of exactly so many steps covers all goals and ends in the end condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Implies, Not, Or, Symbol

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed
from bmc.formulas.unroll import at, shift
from bmc.system.run import Run
from chaincover.verify.facts import MOST_STEPS
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, told
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling

CHECK = "refuted lengths"

Places = dict[tuple[str, int], FNode]


def lengths(setting: Setting, goals: Sequence[str], refuted: tuple[int, int], clock: Clock) -> Line:
    """Ask each length in ``refuted`` (without the last) again. Whole runs from init: invariants are not needed."""
    first, last = refuted
    if first >= last:
        return Line(CHECK, UNCLAIMED, "no length is claimed to be refuted by a search over whole chains")
    said = f"lengths {first} to {last - 1}"
    if last > MOST_STEPS or first < 0:
        return Line(CHECK, OPEN, f"{said}: not unrolled")
    unrolling = Unrolling(setting.system, setting.formulas, setting.system.init_formula, TRUE(), clock)
    undecided = []
    for length in range(first, last):
        places = {
            (name, step): Symbol(f"{name} at {step}")
            for name in goals
            for step in range(length - setting.length(name) + 1)
        }
        found = unrolling.ask(_whole(setting, goals, length, places, unrolling), length, list(places.values()))
        if found.status is Status.SAT and found.run is not None:
            _simulated(setting, goals, found.run, {key for key, s in places.items() if s in found.true})
            run = told(setting.system, found.run, length, True)
            return Line(CHECK, WRONG, f"{said}: there is a chain of {length} steps", (run,))
        if found.status is Status.UNKNOWN:
            undecided.append(str(length))
    if undecided:
        return Line(CHECK, OPEN, f"{said}: the solver did not finish on {', '.join(undecided)}")
    return Line(CHECK, HOLDS, f"{said}: proved again that no chain has one of these")


def _whole(
    setting: Setting, goals: Sequence[str], length: int, places: Mapping[tuple[str, int], FNode], unrolling: Unrolling
) -> FNode:
    """The formula: a chain of ``length`` steps; the symbols of ``places`` say where each goal is credited."""
    parts = [unrolling.valid(length)]
    if setting.final is not None:
        parts.append(at(setting.final, length))
    for name in goals:
        parts.append(Or([symbol for (goal, _), symbol in places.items() if goal == name]))
    parts += [Implies(s, shift(setting.goals[name].antecedent, step)) for (name, step), s in places.items()]
    if setting.overlap == "forbid":
        for (a, s), (b, t) in combinations(places.items(), 2):
            if a[0] != b[0] and overlap(setting, a, b):
                parts.append(Not(And(s, t)))
    return And(parts)


def overlap(setting: Setting, a: tuple[str, int], b: tuple[str, int]) -> bool:
    """Whether two credited goals, each with its first step, share steps: neither starts after the other has ended.

    A goal that takes no step shares one where it lies amid the steps of the other.
    """
    (one, begin), (other, later) = a, b
    return later < begin + setting.length(one) and begin < later + setting.length(other)


def _simulated(setting: Setting, goals: Sequence[str], run: Run, placed: set[tuple[str, int]]) -> None:
    """CheckDisagreed if ``run`` is no chain with the goals ``placed``."""
    covered = setting.covered(run)
    fine = setting.starts_in_init(run) and setting.sound(run) == run.length and setting.ends_well(run, run.length)
    fine = fine and all(step in covered[name] for name, step in placed) and {n for n, _ in placed} == set(goals)
    if setting.overlap == "forbid":
        pairs = combinations(sorted(placed), 2)
        fine = fine and not any(a[0] != b[0] and overlap(setting, a, b) for a, b in pairs)
    if not fine:
        raise CheckDisagreed("the solver's run for a shorter chain is none when simulated")
