"""The verdicts on goals that a chain does not cover, and that no chain does: as far as they claim a proof."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.unroll import shift
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import MostFact
from chaincover.chain import EXCLUDED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, STORED, UNDECIDED, UNREACHABLE
from chaincover.formats.document import Document, GoalClaim
from chaincover.verify.acceleration import Jumps
from chaincover.verify.claims import uncovered
from chaincover.verify.confirmation import Confirmation
from chaincover.verify.invariants import Assumed
from chaincover.verify.limits import SHARES, Clock
from chaincover.verify.marks import FAR, Marks
from chaincover.verify.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, told_inputs
from chaincover.verify.search import Outcome, search, search_some, too_few
from chaincover.verify.setting import Setting
from chaincover.verify.unrolling import Unrolling

UNCOVERED = "goals not covered"
KEPT_APART = (NOT_WITHIN_BOUND, EXCLUDED, UNDECIDED)
"""Verdicts of goals that are in no chain because all through them are too long: than was asked for, or than is stored.
"""
INDUCTION = 8
"""The largest k of a proof by k-induction, as where it was claimed; more by as many steps as monitors look back."""
TOO_MANY = "too many states to look at all runs"
_SEARCHED = "reachable states were searched"
_MOST = re.compile(r"no chain covers more than (\d+) of them at all")
_SHORTER = re.compile(r"no chain of at most (\d+) steps? covers all goals: none is shorter than (\d+)")

Verdict = tuple[str, str]
"""A verdict and why."""


@dataclass(frozen=True)
class Verdicts:
    """Checks what is said of runs of any length. ``marks``: all runs, None where there are too many states.

    ``jumps``: paths that see what all runs see, where the certificate speaks of counters.
    """

    setting: Setting
    document: Document
    known: Assumed
    marks: Marks | None
    clock: Clock
    jumps: Jumps | None = None

    def line(self, confirmation: Confirmation | None) -> Line:
        """The verdict on all of them."""
        found = list(self._all())
        texts = [f"{said}: {why}" for said, (_, why) in found]
        kinds = {verdict for _, (verdict, _) in found}
        if confirmation is not None and confirmation.differences and HOLDS in kinds:
            return Line(UNCOVERED, WRONG, "original and model take different steps", confirmation.differences[:3])
        if confirmation is not None and self.marks is not None:
            texts.append(confirmation.told(self.marks.table.steps))
        verdict = next((v for v in (WRONG, OPEN, HOLDS) if v in kinds), UNCLAIMED)
        return Line(UNCOVERED, verdict, "; ".join(texts))

    def each(self, confirmation: Confirmation) -> dict[str, Verdict]:
        """The verdict on each goal that is said not to be covered."""
        found = {goal.name: self._alone(goal) for goal in uncovered(self.document)}
        if not confirmation.differences:
            return found
        differs = OPEN, "original and model take different steps"
        return {name: differs if verdict[0] == HOLDS else verdict for name, verdict in found.items()}

    def _all(self) -> Iterator[tuple[str, Verdict]]:
        for goal in uncovered(self.document):
            if goal.verdict != EXCLUDED and self._too_long(goal) is None:
                yield f"{goal.name} ({goal.verdict})", self._alone(goal)
        for name, status in self._ruled_out():
            covered = name in self.document.credited
            claim = GoalClaim(name, "", status, None, "")
            yield f"{name} ({status})", (WRONG, "the chain covers it") if covered else self._alone(claim)
        for names in self._conflicts():
            yield f"no chain covers {', '.join(names)} together", self._together(names, len(names))
        lower = self._lower()
        if lower is not None:
            yield f"no chain shorter than {lower} covers all goals", self._no_shorter(lower)
        most = self._most()
        if most is not None:
            yield f"no chain covers more than {most.number} of {len(most.goals)} goals", self._at_most(most)
        for goal in uncovered(self.document):
            if goal.verdict == EXCLUDED and not self._follows(goal, most):
                yield f"{goal.name} ({goal.verdict})", self._besides(goal.name)

    # what is claimed

    def _follows(self, goal: GoalClaim, most: MostFact | None) -> bool:
        """Whether claims that are checked by themselves say that no chain covers an excluded goal and all covered."""
        covered = {*self.document.credited}
        if self._too_long(goal) is not None or (most is not None and {*most.goals} >= covered | {goal.name}):
            return True
        if self.document.chain is None:
            return bool(self._conflicts())
        return any(goal.name in names and {*names} <= covered | {goal.name} for names in self._conflicts())

    def _asked(self, setting: str) -> int | None:
        """A number among the settings of the search; None where it had none."""
        number: int | None = self.document.data.get("settings", {}).get(setting)
        return number

    def _ruled_out(self) -> Iterator[tuple[str, str]]:
        """Goals of which the certificate alone says that no run covers them, or none that goes on to the end."""
        told, proof = {(goal.name, goal.verdict) for goal in uncovered(self.document)}, self.document.certificate
        if proof is not None:
            claimed = [(name, UNREACHABLE) for name in proof.unreachable]
            claimed += [(name, NO_WAY_TO_FINAL) for name in proof.no_way_to_end]
            yield from (claim for claim in claimed if claim not in told)

    def _conflicts(self) -> Sequence[tuple[str, ...]]:
        """The sets of goals that are said not to fit together at all."""
        proof = self.document.certificate
        if proof is not None and proof.conflicts:
            return proof.conflicts
        told = [g for g in self.document.goals if g.verdict == EXCLUDED and _SEARCHED in g.detail]
        if self.document.chain is not None or not told:
            return ()
        return (tuple(goal.name for goal in told),)

    def _most(self) -> MostFact | None:
        """How many goals one chain is said to cover at most."""
        proof = self.document.certificate
        if proof is not None and proof.most is not None:
            return proof.most
        found = [_MOST.search(g.detail) for g in self.document.goals if g.verdict == EXCLUDED]
        number = next((int(match[1]) for match in found if match), None)
        names = (g.name for g in self.document.goals if g.verdict not in (UNREACHABLE, NO_WAY_TO_FINAL))
        return None if number is None or self.document.chain is None else MostFact(tuple(names), number)

    def _lower(self) -> int | None:
        """The bound on chains through all goals that some chain covers, where a greatest length kept them apart."""
        found = [self._too_long(goal) for goal in self.document.goals]
        return max((lower for lower in found if lower is not None), default=None)

    def _too_long(self, goal: GoalClaim) -> int | None:
        """The bound on chains through all goals by which ``goal`` is in none, above what was asked for or is stored."""
        found = _SHORTER.search(goal.detail) if goal.verdict in KEPT_APART else None
        most = self._asked("max_length")
        counts = found is not None and int(found[2]) > int(found[1]) == (STORED if most is None else most)
        return int(found[2]) if found is not None and counts else None

    # what is checked

    def _besides(self, name: str) -> Verdict:
        """Whether no run to the end, as short as was asked for, covers the goal ``name`` and all those of the chain."""
        most, names = self._asked("max_length"), [*self.document.credited, name]
        if self.document.chain is None or self._asked("bound") is not None:
            return UNCLAIMED, "no proof is claimed"
        if most is None:
            return self._together(names, len(names))
        return self._no_run(names, lambda marks: search(marks, names, self.clock, most + 1), 0)

    def _alone(self, claim: GoalClaim) -> Verdict:
        """Whether no run covers a goal (and goes on to the end)."""
        to_end = claim.verdict == NO_WAY_TO_FINAL
        within = to_end and "within K" in claim.detail and self._asked("bound") is not None
        if claim.verdict not in (UNREACHABLE, NO_WAY_TO_FINAL) or within:
            return UNCLAIMED, "no proof is claimed"
        if claim.name not in self.setting.by_name:
            return WRONG, "this is no goal"
        if self.marks is None and self.jumps is not None and self.jumps.misses(claim.name, to_end):
            return HOLDS, "no run among all in jumps of counters"
        if self.marks is None:
            verdict, why = never(self.setting, claim.name, self.known, self.clock)
            # a run covers it: whether one goes on to the end is left open
            return (OPEN, TOO_MANY) if verdict == WRONG and to_end else (verdict, why)
        table = self.marks.table
        if to_end:
            found = self.marks.remaining[claim.name][list(table.starts)].min(initial=FAR) < FAR
        else:
            found = bool(self.marks.begins(claim.name).any())
        if not found:
            return HOLDS, "no run among all"
        anywhere = self.setting if to_end else replace(self.setting, final=None)
        outcome = search(Marks(table, anywhere, [claim.name]), [claim.name], self.clock)
        return WRONG, f"a run does so: {told_inputs(self.setting.system, outcome.inputs)}"

    def _together(self, names: Sequence[str], number: int) -> Verdict:
        """Whether no run to the end covers so many of the goals ``names``."""
        return self._no_run(names, lambda marks: search_some(marks, names, self.clock, number), number)

    def _no_shorter(self, lower: int) -> Verdict:
        """Whether no run of fewer than ``lower`` steps to the end covers all goals but those that no chain covers."""
        proof = self.document.certificate
        names = [g.name for g in self.document.goals if g.verdict not in (UNREACHABLE, NO_WAY_TO_FINAL)]
        bounded = proof is not None and proof.lower >= lower and {*proof.goals} <= {*names} <= {*self.setting.by_name}
        if self.document.chain is None and bounded:
            return UNCLAIMED, "that is the lower bound: see there"
        return self._no_run(names, lambda marks: search(marks, names, self.clock, lower), 0)

    def _no_run(self, names: Sequence[str], sought: Callable[[Marks], Outcome], number: int) -> Verdict:
        """Whether the search for a run through so many of the goals ``names`` (0: all, soon) ends without one."""
        strange = [name for name in names if name not in self.setting.by_name]
        if strange:
            return WRONG, f"{', '.join(strange)} is no goal"
        if self.marks is None and self.jumps is not None and number == len(names) and self.jumps.no_path(names, inf):
            return HOLDS, "no run among all in jumps of counters"
        if self.marks is None:
            return OPEN, TOO_MANY
        components = too_few(self.marks, names, self.clock, number) if number else None
        if components is not None:
            return HOLDS, f"no run among all, {counted(components, 'strongly connected component')} of states"
        found = sought(self.marks)
        if found.length is not None:
            inputs = told_inputs(self.setting.system, found.inputs)
            return WRONG, f"a run of {counted(found.length, 'step')} does so: {inputs}"
        if not found.complete:
            return OPEN, "too many combinations of state and goals, or no time left"
        return HOLDS, f"no run among all, {found.nodes} combinations of state and goals"

    def _at_most(self, most: MostFact) -> Verdict:
        """Whether no run to the end covers more goals than claimed, and the chain covers so many."""
        chain = self.document.chain
        covered = {*self.document.credited} & {*most.goals}
        if chain is not None and len(covered) != most.number:
            return WRONG, f"the chain covers {len(covered)} of them"
        return self._together(most.goals, most.number + 1)


def never(setting: Setting, name: str, known: Assumed, clock: Clock) -> Verdict:
    """HOLDS if no run covers the goal ``name`` (whatever comes after), WRONG with a run that does, else OPEN; and why.

    ``known`` is true of every state that can be reached.
    """
    goal = setting.by_name[name]
    anywhere = Unrolling(setting.system, setting.formulas, known.start, known.always, clock)
    first: Unrolling | None = None
    for k in range(INDUCTION + setting.oldest + 1):
        steps, here = k + goal.length, shift(goal.antecedent, k)
        before = [Not(shift(goal.antecedent, step)) for step in range(k)]
        sought = And(*before, here)
        status = _status(anywhere, sought, steps)
        if status is Status.UNSAT:
            how = f"by induction over {counted(k, 'step')}" if k else "no state allows it"
            return HOLDS, f"{how}{' together with the invariants' if not known.always.is_true() else ''}"
        first = first or Unrolling(setting.system, setting.formulas, setting.system.init_formula, TRUE(), clock)
        covered = first.ask(And(here, first.valid(steps)), steps)
        if covered.status is Status.SAT and covered.run is not None:
            return WRONG, f"a run does so: {told_inputs(setting.system, _sound(setting, name, covered.run, k).inputs)}"
        if Status.UNKNOWN in (status, covered.status):
            return OPEN, "too many states to look at all runs, and the solver did not finish"
    return OPEN, "too many states to look at all runs, and no induction proves it"


def _status(unrolling: Unrolling, formula: FNode, steps: int) -> Status:
    """Whether a run of so many valid steps satisfies ``formula``: asked as clauses and as words, in turns.

    Where sums of the same inputs are to be the same, clauses are hard and words are not.
    """
    valid = And(formula, unrolling.valid(steps))
    status = unrolling.ask(valid, steps, share=SHARES[0]).status
    for share in SHARES[1:]:
        if status is not Status.UNKNOWN:
            break
        excluded = unrolling.excludes(formula, steps, share)
        status = Status.UNSAT if excluded else unrolling.ask(valid, steps, share=share).status
    return status


def _sound(setting: Setting, name: str, run: Run, step: int) -> Run:
    """``run``, which covers the goal ``name`` from ``step`` on; CheckDisagreed if it does not when simulated."""
    fine = setting.starts_in_init(run) and setting.sound(run) == run.length and step in setting.covered(run)[name]
    if not fine:
        raise CheckDisagreed(f"the solver's run does not cover '{name}' when simulated")
    return run
