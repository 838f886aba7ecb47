"""Facts of a certificate asked again of a solver: edges and sub-paths, whole chains of a length.

A question demands valid steps only up to the last end of the goals placed: a longer run may lead into a dead end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Implies, Not, Or, Symbol

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, shift
from bmc.system.transition import Run
from chaincover.certificate import Certificate, PathFact
from chaincover.verify.cells import Cells
from chaincover.verify.explicit import ExplicitFacts
from chaincover.verify.invariants import Assumed
from chaincover.verify.limits import SHARES, Clock
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, limited, told, told_inputs
from chaincover.verify.search import Outcome
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling
from chaincover.weights import INIT

FIRST_STEPS = 64
"""A claim of more steps is asked first for fewer."""
MOST_STEPS = 4096
"""A claim of more steps is not unrolled."""
LENGTHS = "refuted lengths"
AT_ONCE = 1 / 128
"""The part of an effort that one question about all lengths may take, before there is one for each of them."""
FIRST_CELLS = 1 / 8
"""The part of an effort that runs over cells of values may take, before a solver is asked."""

Verdict = tuple[str, str]
"""A verdict and why."""


@dataclass(frozen=True)
class Prover:
    """Asks facts. ``assumed`` is what is known of the first state of a run that begins with a goal.

    ``explicit`` answers from the table of all reachable states, where there is one.
    """

    setting: Setting
    assumed: Assumed
    from_init: Unrolling
    from_anywhere: Unrolling
    clock: Clock
    explicit: ExplicitFacts | None = None

    @staticmethod
    def of(setting: Setting, assumed: Assumed, clock: Clock, explicit: ExplicitFacts | None = None) -> Prover:
        """A prover with an unrolling for each of the two kinds of start."""
        system, formulas = setting.system, setting.formulas
        first = Unrolling(system, formulas, system.init_formula, TRUE(), clock)
        other = Unrolling(system, formulas, assumed.start, assumed.always, clock)
        return Prover(setting, assumed, first, other, clock, explicit)

    def line(self, check: str, what: str, facts: Sequence[PathFact], progress: Callable[[str], None]) -> Line:
        """The verdict on all of ``facts``: those that a list of states settles, then all at a small share of effort."""
        if not facts:
            return Line(check, UNCLAIMED, f"the certificate uses no {what}")
        verdicts: dict[PathFact, Verdict] = {}
        for share in SHARES if self.explicit is None else (1,):
            for number, fact in enumerate(facts, 1):
                if verdicts.get(fact, (OPEN, ""))[0] == OPEN:
                    progress(f"{check}: {number} of {len(facts)}")
                    verdicts[fact] = self.verdict(fact, share)
            if self.clock.over or all(verdict != OPEN for verdict, _ in verdicts.values()):
                break
        wrong = [f"{_said(fact)}: {text}" for fact, (verdict, text) in verdicts.items() if verdict == WRONG]
        undecided = [f"{_said(fact)}: {text}" for fact, (verdict, text) in verdicts.items() if verdict == OPEN]
        held = len(verdicts) - len(wrong) - len(undecided)
        text = f"{held} of {len(verdicts)} {what} proved again"
        if wrong:
            return Line(check, WRONG, f"{text}, {len(wrong)} refuted by a run", limited(wrong))
        return Line(check, OPEN if undecided else HOLDS, text, limited(undecided))

    def verdict(self, fact: PathFact, share: float = 1) -> Verdict:
        """The verdict on one fact, and why. Shorter runs are asked for first where the claim is long."""
        if not self.setting.knows(fact.path):
            return WRONG, "this is no path of goals from init to the end"
        if fact.at_least <= 0:
            return HOLDS, ""
        if self.clock.over:
            return OPEN, "no time was left"
        if self.explicit is not None:
            return self._from_states(self.explicit, fact)
        if fact.at_least > MOST_STEPS:
            return OPEN, f"more than {MOST_STEPS} steps are not unrolled"
        below = FIRST_STEPS
        while below < fact.at_least:
            verdict, why = self._verdict(replace(fact, at_least=below), share)
            if verdict != HOLDS:
                return verdict, why
            below *= 2
        return self._verdict(fact, share)

    def _from_states(self, explicit: ExplicitFacts, fact: PathFact) -> Verdict:
        if explicit.holds(fact):
            return HOLDS, ""
        step, run = explicit.against(fact)
        if self.setting.sound(run) < run.length:
            raise CheckDisagreed(f"the run against '{_said(fact)}' takes a step that is not allowed when simulated")
        return WRONG, f"a run takes {step} ({told(self.setting.system, run, run.length, fact.path[0] == INIT)})"

    def _verdict(self, fact: PathFact, share: float) -> Verdict:
        unrolling = self.from_init if fact.path[0] == INIT else self.from_anywhere
        longest = max(self.setting.length(node) for node in fact.path)
        steps = max(self.setting.length(fact.path[0]), fact.at_least - 1 + longest)
        found = unrolling.ask(_together(self.setting, fact, unrolling), steps, share=share)
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
        goal = setting.by_name[node]
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


# whole chains


Places = Mapping[tuple[str, int], FNode]


def lengths(setting: Setting, proof: Certificate, searched: Outcome | None, clock: Clock) -> Line:
    """Ask each length that ``proof`` says to be refuted again. Whole runs from init: invariants are not needed.

    ``searched``: the search over all shorter runs, where there was one.
    """
    first, last = proof.refuted
    if first >= last:
        return Line(LENGTHS, UNCLAIMED, "no length is claimed to be refuted by a search over whole chains")
    said = f"lengths {first} to {last - 1}"
    if searched is not None and searched.complete and (searched.length is None or searched.length >= last):
        return Line(LENGTHS, HOLDS, f"{said}: the search over all runs finds no chain below {last}")
    if searched is not None and searched.length is not None and searched.length >= first:
        run = told_inputs(setting.system, searched.inputs)
        return Line(LENGTHS, WRONG, f"{said}: there is a chain of {counted(searched.length, 'step')}", (run,))
    if last > MOST_STEPS or first < 0:
        return Line(LENGTHS, OPEN, f"{said}: not unrolled")
    cells = Cells(setting, proof.goals)
    by_cells = cells.refuted(last, clock, FIRST_CELLS)
    if by_cells:
        return Line(LENGTHS, HOLDS, f"{said}: no run over {by_cells} is so short")
    unrolling = Unrolling(setting.system, setting.formulas, setting.system.init_formula, TRUE(), clock)
    within = _within(setting, proof.goals, last - 1, unrolling)
    if unrolling.ask(within, last - 1, share=AT_ONCE).status is Status.UNSAT:
        return Line(LENGTHS, HOLDS, f"{said}: proved again that no run of so few steps covers all goals")
    undecided = list(range(first, last))
    for share in SHARES:
        by_cells = cells.refuted(last, clock, 1) if share == SHARES[1] else ""
        if by_cells:
            return Line(LENGTHS, HOLDS, f"{said}: no run over {by_cells} is so short")
        left, undecided = undecided, []
        for length in left:
            places = _places_of(setting, proof.goals, length)
            asked = _whole(setting, proof.goals, length, places, unrolling)
            found = unrolling.ask(asked, length, list(places.values()), share)
            if found.status is Status.SAT and found.run is not None:
                _simulated(setting, proof.goals, found.run, {key for key, s in places.items() if s in found.true})
                run = told(setting.system, found.run, length, True)
                return Line(LENGTHS, WRONG, f"{said}: there is a chain of {counted(length, 'step')}", (run,))
            if found.status is Status.UNKNOWN:
                undecided.append(length)
    if undecided:
        text = f"{said}: the solver did not finish on {', '.join(map(str, undecided))}"
        return Line(LENGTHS, OPEN, text)
    return Line(LENGTHS, HOLDS, f"{said}: proved again that no chain has one of these")


def _within(setting: Setting, goals: Sequence[str], most: int, unrolling: Unrolling) -> FNode:
    """The formula: a run covers each of ``goals`` by its first ``most`` steps, wherever it may end and whatever they
    share. Every chain of at most so many steps is such a run.
    """
    return And(
        [
            Or(
                [
                    And(unrolling.valid(step + goal.length), shift(goal.antecedent, step))
                    for step in range(most - goal.length + 1)
                ]
            )
            for goal in (setting.by_name[name] for name in goals)
        ]
    )


def _places_of(setting: Setting, goals: Sequence[str], length: int) -> dict[tuple[str, int], FNode]:
    """A symbol for each goal and each step from which a chain of ``length`` steps may cover it."""
    return {
        (name, step): Symbol(f"{name} at {step}") for name in goals for step in range(length - setting.length(name) + 1)
    }


def _whole(setting: Setting, goals: Sequence[str], length: int, places: Places, unrolling: Unrolling) -> FNode:
    """The formula: a chain of ``length`` steps; the symbols of ``places`` say where each goal is credited."""
    parts = [unrolling.valid(length)]
    if setting.final is not None:
        parts.append(at(setting.final, length))
    for name in goals:
        parts.append(Or([symbol for (goal, _), symbol in places.items() if goal == name]))
    parts += [Implies(s, shift(setting.by_name[name].antecedent, step)) for (name, step), s in places.items()]
    if setting.forbid:
        for (a, s), (b, t) in combinations(places.items(), 2):
            if a[0] != b[0] and setting.overlap_between(a, b):
                parts.append(Not(And(s, t)))
    return And(parts)


def _simulated(setting: Setting, goals: Sequence[str], run: Run, placed: set[tuple[str, int]]) -> None:
    """CheckDisagreed if ``run`` is no chain with the goals ``placed``."""
    covered = setting.covered(run)
    fine = setting.starts_in_init(run) and setting.sound(run) == run.length and setting.ends_well(run, run.length)
    fine = fine and all(step in covered[name] for name, step in placed) and {n for n, _ in placed} == set(goals)
    if setting.forbid:
        pairs = combinations(sorted(placed), 2)
        fine = fine and not any(a[0] != b[0] and setting.overlap_between(a, b) for a, b in pairs)
    if not fine:
        raise CheckDisagreed("the solver's run for a shorter chain is none when simulated")
