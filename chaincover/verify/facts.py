"""Edge facts and path facts asked again, each in one question of its own.

A question demands valid steps only up to the last end of the goals placed: a longer run may lead into a dead end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Or

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, shift
from bmc.system.run import Run
from chaincover.certificate import PathFact
from chaincover.verify.invariants import Assumed
from chaincover.verify.limits import Clock
from chaincover.verify.report import HOLDS, OPEN, WRONG, Line, limited, told
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling
from chaincover.weights import INIT

FIRST_STEPS = 64
"""A claim of more steps is asked first for fewer."""
MOST_STEPS = 4096
"""A claim of more steps is not unrolled."""


@dataclass(frozen=True)
class Prover:
    """Asks facts. ``assumed`` is what is known of the first state of a run that begins with a goal."""

    setting: Setting
    assumed: Assumed
    from_init: Unrolling
    from_anywhere: Unrolling
    clock: Clock

    @staticmethod
    def of(setting: Setting, assumed: Assumed, clock: Clock) -> Prover:
        """A prover with an unrolling for each of the two kinds of start."""
        system, formulas = setting.system, setting.formulas
        first = Unrolling(system, formulas, system.init_formula, TRUE(), clock)
        other = Unrolling(system, formulas, assumed.start, assumed.always, clock)
        return Prover(setting, assumed, first, other, clock)

    def line(self, check: str, what: str, facts: Sequence[PathFact], progress: Callable[[str], None]) -> Line:
        """The verdict on all of ``facts``."""
        verdicts = []
        for number, fact in enumerate(facts, 1):
            progress(f"{check}: {number} of {len(facts)}")
            verdicts.append((fact, *self.verdict(fact)))
        wrong = [f"{_said(fact)}: {text}" for fact, verdict, text in verdicts if verdict == WRONG]
        undecided = [f"{_said(fact)}: {text}" for fact, verdict, text in verdicts if verdict == OPEN]
        held = len(facts) - len(wrong) - len(undecided)
        text = f"{held} of {len(facts)} {what} proved again"
        if wrong:
            return Line(check, WRONG, f"{text}, {len(wrong)} refuted by a run", limited(wrong))
        return Line(check, OPEN if undecided else HOLDS, text, limited(undecided))

    def verdict(self, fact: PathFact) -> tuple[str, str]:
        """The verdict on one fact, and why. Shorter runs are asked for first where the claim is long."""
        if not self.setting.knows(fact.path):
            return WRONG, "this is no path of goals from init to the end"
        if self.clock.over:
            return OPEN, "no time was left"
        if fact.at_least > MOST_STEPS:
            return OPEN, f"more than {MOST_STEPS} steps are not unrolled"
        below = FIRST_STEPS
        while below < fact.at_least:
            verdict, why = self._verdict(replace(fact, at_least=below))
            if verdict != HOLDS:
                return verdict, why
            below *= 2
        return self._verdict(fact)

    def _verdict(self, fact: PathFact) -> tuple[str, str]:
        unrolling = self.from_init if fact.path[0] == INIT else self.from_anywhere
        longest = max(self.setting.length(node) for node in fact.path)
        steps = max(self.setting.length(fact.path[0]), fact.at_least - 1 + longest)
        found = unrolling.ask(_together(self.setting, fact, unrolling), steps)
        if found.status is Status.UNSAT:
            return HOLDS, ""
        if found.status is Status.UNKNOWN or found.run is None:
            return OPEN, "the solver did not finish"
        places = _places(self.setting, fact, self._sound(fact, found.run))
        if places is None:
            raise CheckDisagreed(f"the solver's run against '{_said(fact)}' does not break it when simulated")
        if fact.path[0] != INIT and not self.assumed.complete:
            return OPEN, "a run breaks it from a state of which it is not known whether it can be reached"
        ends = [step + self.setting.length(node) for step, node in zip(places, fact.path, strict=True)]
        run = told(self.setting.system, found.run, max(ends), fact.path[0] == INIT)
        return WRONG, f"a run takes {places[-1]} ({run})"

    def _sound(self, fact: PathFact, run: Run) -> Run:
        """The part of ``run`` that is one, from a state in which it may begin; CheckDisagreed if it may not."""
        if fact.path[0] == INIT:
            fine = self.setting.starts_in_init(run)
        else:
            known = [And(self.assumed.start, self.assumed.always)]
            fine = bool(compile_formulas(known)(run.states[0])[0])
        if not fine:
            raise CheckDisagreed(f"the solver's run against '{_said(fact)}' begins where none may")
        steps = self.setting.sound(run)
        return Run(run.states[: steps + 1], run.inputs[:steps])


def _said(fact: PathFact) -> str:
    return f"{' -> '.join(fact.path)} takes at least {fact.at_least}"


def _together(setting: Setting, fact: PathFact, unrolling: Unrolling) -> FNode:
    """The formula: some run covers the fact's path in less than it says."""

    def placed(node: str, step: int) -> FNode:
        if node == INIT:
            return TRUE()
        goal = setting.goals[node]
        return And(shift(goal.antecedent, step), unrolling.valid(step + goal.length))

    if fact.path[-1] != setting.end:
        return Or(list(_ways(setting, fact.path, fact.at_least, None, placed).values()))
    parts = []
    for end in range(fact.at_least):
        before = Or(list(_ways(setting, fact.path[:-1], end + 1, end, placed).values()))
        closing = TRUE() if setting.final is None else at(setting.final, end)
        parts.append(And(before, closing, unrolling.valid(end)))
    return Or(parts)


def _ways(
    setting: Setting, path: Sequence[str], below: int, end: int | None, placed: Callable[[str, int], FNode]
) -> dict[int, FNode]:
    """For each step before ``below``: the formula that the path's last node starts there, the others in order before.

    Where ``end`` is given no node ends later.
    """
    ways: dict[int, FNode] = {}
    for number, node in enumerate(path):
        steps = [k for k in range(below if number else 1) if end is None or k + setting.length(node) <= end]
        gap = setting.gap(path[number - 1]) if number else 0
        before: Mapping[int, FNode] = _up_to(ways, below) if number else {0: TRUE()}
        ways = {k: And(placed(node, k), before[k - gap]) for k in steps if k - gap in before}
    return ways


def _up_to(ways: Mapping[int, FNode], below: int) -> dict[int, FNode]:
    """For each step: that one of ``ways`` up to there is taken."""
    result: dict[int, FNode] = {}
    so_far = FALSE()
    for step in range(below):
        so_far = Or(so_far, ways[step]) if step in ways else so_far
        result[step] = so_far
    return result


def _places(setting: Setting, fact: PathFact, run: Run) -> list[int] | None:
    """Steps at which ``run`` (valid throughout) has the nodes of the fact in less than it says; None if it has not."""
    covered = setting.covered(run)
    if fact.path[-1] != setting.end:
        return _earliest(setting, fact.path, covered, fact.at_least, None)
    for end in range(min(fact.at_least, run.length + 1)):
        places = _earliest(setting, fact.path[:-1], covered, end + 1, end)
        if places is not None and setting.ends_well(run, end):
            return [*places, end]
    return None


def _earliest(
    setting: Setting, path: Sequence[str], covered: Mapping[str, Sequence[int]], below: int, end: int | None
) -> list[int] | None:
    """The first places of the path's nodes in order, the first node at 0; None if there are none before ``below``."""
    places: list[int] = []
    for node in path:
        least = places[-1] + setting.gap(path[len(places) - 1]) if places else 0
        steps = [0] if node == INIT else covered[node]
        fitting = (k for k in steps if least <= k < below and (end is None or k + setting.length(node) <= end))
        place = next(fitting, None)
        if place is None or (not places and place != 0):
            return None
        places.append(place)
    return places
