"""Questions to a solver about what no run does: paths of goals, and chains of a length.

A question demands valid steps only up to the last end of the goals placed: a longer run may lead into a dead end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Or, Symbol

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import shift
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import NoRun, PathFact
from chaincover.verification.cells import Cells
from chaincover.verification.invariants import Assumed
from chaincover.verification.limits import FIRST_ASKED, SHARES, Clock
from chaincover.verification.report import HOLDS, OPEN, WRONG, Verdict, told, told_inputs
from chaincover.verification.setting import Setting
from chaincover.verification.unrolling import Unrolling
from chaincover.weights import INIT
from properties.goal import Goal

FIRST_STEPS = 64
"""A claim of more steps is asked first for fewer."""
MOST_STEPS = 4096
"""A claim of more steps is not unrolled."""
MAYBE = "a run breaks it from a state of which it is not known whether it can be reached"
FIRST_CELLS = 1 / 8
"""The part of an effort that runs over cells of values may take, before a solver is asked."""


@dataclass(frozen=True)
class Paths:
    """Asks about paths of goals. ``assumed`` is what is known of the first state of a run that begins with a goal."""

    setting: Setting
    assumed: Assumed
    clock: Clock

    @cached_property
    def _from_init(self) -> Unrolling:
        setting = self.setting
        return Unrolling(setting.system, setting.formulas, setting.system.init_formula, TRUE(), self.clock)

    @cached_property
    def _from_anywhere(self) -> Unrolling:
        setting, known = self.setting, self.assumed
        return Unrolling(setting.system, setting.formulas, known.start, known.always, self.clock)

    def verdict(self, fact: PathFact, share: float = 1) -> Verdict:
        """The verdict on ``fact``, and why. Shorter runs are asked for first where the claim is long."""
        if fact.at_least > MOST_STEPS:
            return OPEN, f"more than {MOST_STEPS} steps are not unrolled"
        below = FIRST_STEPS
        while below < fact.at_least:
            verdict, why = self._verdict(replace(fact, at_least=below), share)
            if verdict != HOLDS:
                return verdict, why
            below *= 2
        return self._verdict(fact, share)

    def _verdict(self, fact: PathFact, share: float) -> Verdict:
        begins = fact.path[0] == INIT
        unrolling = self._from_init if begins else self._from_anywhere
        found = unrolling.ask(_together(self.setting, fact, unrolling), fact.at_least, share)
        if found.status is Status.UNSAT:
            return HOLDS, ""
        if found.status is Status.UNKNOWN or found.run is None:
            return OPEN, "the solver did not finish"
        known = self.setting.system.init_formula if begins else And(self.assumed.start, self.assumed.always)
        steps = self.setting.sound(found.run)
        run = Run(found.run.states[: steps + 1], found.run.inputs[:steps])
        places = _places(self.setting, fact, run) if compile_formulas([known])(run.states[0])[0] else None
        if places is None:
            path = " -> ".join(fact.path)
            raise CheckDisagreed(f"the solver's run against the bound of {path} does not break it when simulated")
        if not begins and not self.assumed.complete:
            return OPEN, MAYBE
        end = max(self.setting.over(node, step) for step, node in zip(places, fact.path, strict=True))
        return WRONG, f"a run takes {places[-1]} ({told(self.setting.system, run, end, begins)})"


def _together(setting: Setting, fact: PathFact, unrolling: Unrolling) -> FNode:
    """The formula: some run covers the fact's path in less than it says."""

    def placed(node: str, step: int) -> FNode:
        if node == INIT:
            return TRUE()
        return And(shift(setting.by_name[node].antecedent, step), unrolling.valid(setting.over(node, step)))

    if fact.path[-1] != setting.end:
        return Or(list(_ways(setting, fact.path, fact.at_least, None, placed).values()))
    parts = []
    for end in range(fact.at_least):
        before = Or(list(_ways(setting, fact.path[:-1], end + 1, end, placed).values()))
        parts.append(And(before, *setting.end_formulas(end), unrolling.valid(end)))
    return Or(parts)


def _ways(
    setting: Setting, path: Sequence[str], below: int, end: int | None, placed: Callable[[str, int], FNode]
) -> dict[int, FNode]:
    """For each step before ``below``: the formula that the path's last node starts there, the others in order before.

    Where ``end`` is given no node ends later.
    """
    ways: dict[int, FNode] = {}
    for number, node in enumerate(path):
        steps = [k for k in range(below if number else 1) if end is None or setting.over(node, k) <= end]
        before: Mapping[int, FNode] = _up_to(ways, below) if number else {0: TRUE()}
        ways = {k: And(placed(node, k), before[k]) for k in steps}
    return ways


def _up_to(ways: Mapping[int, FNode], below: int) -> dict[int, FNode]:
    """For each step: that one of ``ways`` up to there is taken."""
    return dict(enumerate(accumulate((ways.get(step, FALSE()) for step in range(below)), Or)))


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
        least = places[-1] if places else 0
        steps = [0] if node == INIT else covered[node]
        fitting = (k for k in steps if least <= k < below and (end is None or setting.over(node, k) <= end))
        place = next(fitting, None)
        if place is None or (not places and place != 0):
            return None
        places.append(place)
    return places


# whole chains


class WholeChains:
    """Chains through ``goals`` from init, of any length, in one unrolling: what a length needs serves longer ones too.

    A symbol for each goal and each number of steps says that the goal is covered by then; it follows from that for one
    step less, or from the goal's place that ends there. What is refuted is a clause of later questions.
    """

    def __init__(self, setting: Setting, goals: Sequence[str], always: FNode, clock: Clock) -> None:
        """``always`` is known of every state after valid steps: a solver refutes lengths sooner by it."""
        self.setting = setting
        self._goals = [setting.by_name[name] for name in goals]
        self._unrolling = Unrolling(setting.system, setting.formulas, setting.system.init_formula, always, clock)
        self._covered: dict[str, list[FNode]] = {name: [] for name in goals}
        self._cells, self._clock = Cells(setting, goals), clock

    def verdict(self, claim: NoRun) -> Verdict:
        """The verdict on ``claim``, of chains of fewer than ``claim.before`` steps, and why.

        One question is about all lengths; where that is left open each is asked about at the first of the shares of
        effort, those that are open then at the next.
        """
        first, last = claim.first, claim.before or 0
        if last > MOST_STEPS or first < 0:
            return OPEN, "not unrolled"
        cells = self._cells.refuted(last, self._clock, FIRST_CELLS)
        if cells:
            return HOLDS, f"no run over {cells} is so short"
        status, found = self.any_of(range(first, last), FIRST_ASKED)
        if status is Status.UNSAT:
            return HOLDS, "proved again that no run of so few steps is a chain"
        undecided = [*range(first, last)]
        for share in SHARES:
            cells = self._cells.refuted(last, self._clock, 1) if share == SHARES[1] else ""
            if cells:
                return HOLDS, f"no run over {cells} is so short"
            left, undecided = undecided, []
            for length in left:
                status, found = (status, found) if found is not None else self.any_of(range(length, length + 1), share)
                if found is not None:
                    inputs = told_inputs(self.setting.system, found.inputs)
                    return WRONG, f"a run of {counted(found.length, 'step')} does so: {inputs}"
                if status is Status.UNKNOWN:
                    undecided.append(length)
        if undecided:
            return OPEN, f"the solver did not finish on {', '.join(map(str, undecided))}"
        return HOLDS, "proved again that no chain has one of these lengths"

    def any_of(self, asked: range, share: float) -> tuple[Status, Run | None]:
        """Is there a chain of one of the lengths ``asked``? With SAT also one, simulated.

        Where a chain may end anywhere many lengths are asked about as one: SAT without a chain is a shorter one.
        """
        most, setting = asked[-1], self.setting
        anywhere = setting.final is None and len(asked) > 1
        within = And(self._by(goal, most) for goal in self._goals)
        question = within if anywhere else And(within, Or(self._of(length) for length in asked))
        found = self._unrolling.ask(question, most, share)
        if found.status is Status.UNSAT:
            self._unrolling.never(question)
        if found.status is not Status.SAT or found.run is None:
            return found.status, None
        chain = next((length for length in asked if self._is_chain(found.run, length)), None)
        if chain is None and not anywhere:
            raise CheckDisagreed("the solver's run for a shorter chain is none when simulated")
        return Status.SAT, None if chain is None else Run(found.run.states[: chain + 1], found.run.inputs[:chain])

    def _of(self, length: int) -> FNode:
        """The formula: the first ``length`` steps of the run are a chain."""
        ends = self.setting.end_formulas(length)
        return And(self._unrolling.valid(length), *ends, *(self._by(goal, length) for goal in self._goals))

    def _by(self, goal: Goal, steps: int) -> FNode:
        """The symbol that says that the goal is covered by the first ``steps`` steps, which are valid so far."""
        known = self._covered[goal.name]
        while len(known) <= steps:
            ending, symbol = goal.ending(len(known)), Symbol(f"{goal.name} by {len(known)}")
            valid = self._unrolling.valid(len(known))
            here = ending if ending.is_false() else And(valid, ending)
            known.append(self._unrolling.named(symbol, Or(known[-1], here) if known else here))
        return known[steps]

    def _is_chain(self, run: Run, length: int) -> bool:
        """Whether the first ``length`` steps of ``run`` are a chain."""
        setting = self.setting
        if not setting.starts_in_init(run) or setting.sound(run) < length or not setting.ends_well(run, length):
            return False
        covered = setting.covered(Run(run.states[: length + 1], run.inputs[:length]))
        return all(covered[goal.name] for goal in self._goals)
