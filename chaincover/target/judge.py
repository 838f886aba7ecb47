"""The one judge of runs: what became of each goal and each requirement on a run that was observed, whole or in part.

Last: a run that was judged, with all that is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from bmc.ending import ExitCode
from bmc.errors import counted, listed
from bmc.formulas.terms import both, negate
from bmc.records import dataclass
from bmc.system.transition import Run, TransitionSystem
from chaincover import verdicts
from chaincover.chain import COVERED, UNDECIDED
from chaincover.target.sight import Covered, Doubt, Sight, WholeRun
from properties.deadlines import Deadline, last_step
from properties.goal import Goal, goal_length, violation
from properties.monitor import Monitor

if TYPE_CHECKING:
    from chaincover.target.comparison import Comparison, Difference, Observed


@dataclass(frozen=True, slots=True)
class Claims:
    """What a chain says of goals: ``claimed`` has the step of each that it covers; ``asked`` are those that it was made
    for, None for all; ``infeasible`` are generated goals of which it says that no run covers them."""

    claimed: Mapping[str, int] = field(default_factory=dict)
    asked: frozenset[str] | None = None
    infeasible: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the model does under the same inputs as the run, where these are known to be those of the chain.

    ``agrees`` is the number of steps up to which all outputs were observed, and agree with the model.
    """

    run: Run
    agrees: int


@dataclass(frozen=True, slots=True)
class JudgedDeadline:
    """A deadline, as ``asked`` (``F[0,500ms]``), from the step ``antecedent`` on, of which ``last`` is the last check
    that it allows: ``held`` or not by the check at step ``check``; None where that is not known up to there."""

    asked: str
    antecedent: int
    check: int
    last: int
    held: bool | None


@dataclass(frozen=True, slots=True)
class Others:
    """The other requirements that are judged at a step at which one fails: those that ``held``, that ``failed``, and
    that are ``undecided`` there, which are also those with a deadline that had begun and was not decided yet."""

    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedGoal:
    """What became of a goal: ``verdict`` (covered, missed, not observable or undecided), and of its ``requirement``
    (held, failed, not exercised, not observable, not judged to the end or undecided; '' for a goal without consequent).

    ``step`` is where it is covered (the claimed step if the run covers it there, else the first; None: nowhere),
    ``how`` whether that was seen or is predicted, ``times`` how often it was seen: at so many steps; of a deadline so
    many occurrences of its antecedent are decided, each by itself. ``consequent_held`` is of ``step``.
    ``failed_at``: the first step from which the antecedent held and the consequent did not; of a deadline the first
    step at which some occurrence of the antecedent has failed, whether or not it is the one judged at ``step``.
    ``detail`` says what leaves the goal open, ``why`` what leaves the requirement open.
    ``asked``: whether the chain was made for this goal; one that it was not made for need not be covered.
    ``deadline`` is the occurrence of a deadline that failed first, else the one that covers the goal at ``step``, else
    the first that is left open. ``others`` says what became of the other requirements at ``failed_at``.
    ``failed_on_chain`` is the first step at which the requirement fails on the chain itself; ``newly_failed``: it fails
    on this run and is known not to fail on the chain.
    """

    goal: str
    verdict: str
    step: int | None
    how: str
    times: int
    requirement: str
    consequent_held: bool | None
    failed_at: int | None
    claimed: int | None = None
    claim_holds: bool = True
    asked: bool = True
    infeasible: bool = False
    detail: str = ""
    why: str = ""
    deadline: JudgedDeadline | None = None
    others: Others | None = None
    failed_on_chain: int | None = None
    newly_failed: bool = False

    @property
    def lost(self) -> bool:
        """Whether the chain covers the goal, and the run shows that it does not; nothing else is lost."""
        missed = self.verdict == verdicts.MISSED and not self.detail
        return self.claimed is not None and self.asked and missed


def judge_goals(
    system: TransitionSystem,
    goals: Sequence[Goal],
    sight: Sight,
    claims: Claims,
    prediction: Prediction | None = None,
) -> Iterator[JudgedGoal]:
    """What became of each of ``goals``, in their order, on a run of ``system`` that was seen."""
    predicted = {} if prediction is None else Monitor(goals).covered(prediction.run)
    inputs = {var.name for var in system.inputs}
    judged = {goal.name: _Occurrences(sight, goal, inputs) for goal in goals if goal.consequent is not None}
    judge = _Judge(sight, judged, claims, prediction)
    for goal, covers in zip(goals, sight.covered(goals).values(), strict=True):
        yield judge.of(goal, covers, predicted.get(goal.name, ()))


def failing(system: TransitionSystem, goal: Goal, run: Run) -> list[int]:
    """The steps at which ``run`` violates the property of ``goal``, which has a consequent; of a deadline each
    occurrence of the antecedent is looked at by itself."""
    return _Occurrences(WholeRun(system, run), goal, {var.name for var in system.inputs}).failed


_THERE = (verdicts.HELD, verdicts.FAILED, UNDECIDED)
"""What becomes of a requirement at a step, in the order of the fields of ``Others``."""


@dataclass(frozen=True, slots=True)
class _Judge:
    """A run, the occurrences of each requirement on it, what is claimed of it, and what the model does."""

    sight: Sight
    occurrences: Mapping[str, _Occurrences]
    claims: Claims
    prediction: Prediction | None

    def of(self, goal: Goal, covers: Covered, predicted: Sequence[int]) -> JudgedGoal:
        """What became of ``goal``, which the model covers at the steps ``predicted``."""
        claims, claimed = self.claims, self.claims.claimed.get(goal.name)
        steps, how = covers.steps, verdicts.AS_SEEN
        if not steps and self.prediction is not None:
            steps, how = self._predicted(goal, covers, predicted, self.prediction.agrees), verdicts.AS_PREDICTED
        verdict, detail = (COVERED, "") if steps else self._uncovered(covers)
        step = (claimed if claimed in steps else steps[0]) if steps else None
        held = None
        if goal.consequent is not None and covers.steps and step is not None:
            held = self.sight.value(goal.consequent, step)
        judged = JudgedGoal(
            goal.name,
            verdict,
            step,
            how if steps else "",
            len(covers.steps),
            "",
            held,
            None,
            claimed,
            claimed is None or claimed in steps or verdict in verdicts.OPEN_REQUIREMENTS,
            (claims.asked is None or goal.name in claims.asked) and goal.name not in claims.infeasible,
            goal.name in claims.infeasible,
            detail,
        )
        occurrences = self.occurrences.get(goal.name)
        return judged if occurrences is None else self._with_requirement(judged, occurrences)

    def _with_requirement(self, judged: JudgedGoal, occurrences: _Occurrences) -> JudgedGoal:
        """``judged`` with what became of its requirement."""
        requirement, why = occurrences.verdict()
        failed_at = min(occurrences.failed, default=None)
        others = None if failed_at is None else self._others(judged.goal, failed_at)
        deadline = occurrences.deadline(judged.step)
        times = occurrences.decided if judged.times and deadline is not None else judged.times
        found = replace(judged, requirement=requirement, why=why, failed_at=failed_at, times=times)
        return replace(found, deadline=deadline, others=others)

    def _others(self, goal: str, step: int) -> Others:
        """What became at ``step`` of the requirements but that of ``goal``."""
        there = {name: own.at(step) for name, own in self.occurrences.items() if name != goal}
        named = (tuple(name for name, own in there.items() if own == verdict) for verdict in _THERE)
        return Others(*named)

    def _predicted(self, goal: Goal, covers: Covered, predicted: Sequence[int], agrees: int) -> list[int]:
        """The steps among those ``predicted`` where it was not seen whether ``goal`` is covered, and the run agrees."""
        return [step for step in predicted if step in covers.uncertain and goal.over(step) <= agrees]

    def _uncovered(self, covers: Covered) -> tuple[str, str]:
        """The verdict of a goal that is not known to be covered, and what leaves it open."""
        return _in_doubt(covers.doubts) if covers.uncertain else (verdicts.MISSED, "")


def _in_doubt(doubts: Sequence[Doubt]) -> tuple[str, str]:
    """The verdict of what depends on ``doubts``, and which variables and steps leave it open."""
    unseen = [*dict.fromkeys(doubt.variable for doubt in doubts if doubt.unseen)]
    if unseen:
        return verdicts.NOT_OBSERVABLE, f"{listed(unseen)} {'was' if len(unseen) == 1 else 'were'} not observed"
    late = next((doubt for doubt in doubts if not doubt.variable), None)
    if late is not None:
        return UNDECIDED, f"the bench was late in step {late.step}"
    first = doubts[:1]
    where = [f"which value {doubt.variable} had {_when(doubt.step)}" for doubt in first]
    more = f", and on {counted(len(doubts) - 1, 'more value')}" if len(doubts) > 1 else ""
    return UNDECIDED, f"it depends on {where[0]}{more}" if where else ""


BEFORE_FIRST = "before the first step, which a row 'init' records"
"""When a value was that leaves something open because the recording has no start state."""


def _when(step: int) -> str:
    return f"before step {step}" if step else BEFORE_FIRST


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """An occurrence of an antecedent from ``begin`` on (of a deadline: the step from which that is counted), decided at
    ``end``: ``certain`` whether it occurs at all; ``held`` whether the consequent holds, None where that is not
    certain; ``beyond`` the end of the run. ``check`` is the check of a deadline that decides it, or the last one that
    was made."""

    begin: int
    end: int
    certain: bool
    held: bool | None
    beyond: bool = False
    doubts: tuple[Doubt, ...] = ()
    check: int = 0

    @property
    def fails(self) -> bool:
        """Whether it occurs, and its consequent does not hold."""
        return self.certain and self.held is False and not self.beyond

    def waits(self, step: int) -> bool:
        """Whether it has begun by ``step`` and is not decided there."""
        return self.begin <= step and (self.beyond or step < self.end)


class _Occurrences:
    """The occurrences of the antecedent of a goal's property, each judged by itself."""

    def __init__(self, sight: Sight, goal: Goal, inputs: Collection[str]) -> None:
        self._goal = goal
        found = _of_deadline(sight, goal.deadline, inputs) if goal.deadline is not None else _plain(sight, goal, inputs)
        self._found = [*found]

    @property
    def failed(self) -> list[int]:
        """The steps at which an occurrence has failed, for certain."""
        return [each.end for each in self._found if each.certain and each.held is False and not each.beyond]

    @property
    def decided(self) -> int:
        """How many occurrences there are for certain that are decided."""
        return sum(1 for each in self._found if each.certain and each.held is not None and not each.beyond)

    def verdict(self) -> tuple[str, str]:
        """The verdict of the requirement, and what leaves it open, or what was not judged."""
        found = [each for each in self._found if not each.beyond]
        beyond = [each for each in self._found if each.beyond and each.certain]
        if self.failed:
            return verdicts.FAILED, ""
        may_fail = [each for each in found if each.held is not True]
        if may_fail:
            return _in_doubt(_doubts(may_fail))
        pending = f"the run ends before the occurrence at step {beyond[0].begin} is decided" if beyond else ""
        if any(each.certain for each in found):
            return verdicts.HELD, pending
        if not found and beyond:
            return verdicts.NOT_JUDGED_TO_THE_END, pending
        return self._not_exercised()

    def at(self, step: int) -> str:
        """What becomes of the requirement at ``step``: one of ``_THERE``, or that it is not exercised there."""
        decided = [each for each in self._found if each.end == step and not each.beyond]
        if any(each.fails for each in decided):
            return verdicts.FAILED
        if decided:
            return verdicts.HELD if all(each.certain and each.held for each in decided) else UNDECIDED
        return UNDECIDED if any(each.waits(step) for each in self._found) else verdicts.NOT_EXERCISED

    def deadline(self, step: int | None) -> JudgedDeadline | None:
        """The occurrence of the deadline that is shown of the run, which covers the goal at ``step``."""
        asked = self._goal.deadline
        certain = [each for each in self._found if each.certain]
        if asked is None or not certain:
            return None
        failed = [each for each in certain if each.fails]
        covers = [each for each in certain if each.end == step and each.held is not None and not each.beyond]
        shown = min(failed, key=lambda each: each.end, default=None) or (covers or certain)[0]
        held = None if shown.beyond else shown.held
        last = shown.begin + asked.last
        return JudgedDeadline(asked.text, shown.begin, shown.check, last, held)

    def _not_exercised(self) -> tuple[str, str]:
        """The verdict where no occurrence is certain."""
        unsure = [each for each in self._found if not each.certain]
        return _in_doubt(_doubts(unsure)) if unsure else (verdicts.NOT_EXERCISED, "")


def _doubts(occurrences: Iterable[_Occurrence]) -> list[Doubt]:
    return [doubt for each in occurrences for doubt in each.doubts]


def _plain(sight: Sight, goal: Goal, inputs: Collection[str]) -> Iterator[_Occurrence]:
    """Those of a property whose consequent spans as many steps as its formula says; short deadlines are among them."""
    antecedent, consequent = goal.antecedent, goal.consequent
    assert consequent is not None
    violated = both(antecedent, negate(consequent)) if goal.violated is None else goal.violated
    needed = goal_length([antecedent], inputs)
    judged = violation(goal, inputs).over(0)
    for step in range(sight.length - needed + 1):
        occurs = sight.value(antecedent, step)
        if occurs is False:
            continue
        if step + judged > sight.length:
            doubts = () if occurs else tuple(sight.doubts([antecedent], step))
            yield _Occurrence(step, step, bool(occurs), None, beyond=True, doubts=doubts)
            continue
        late = next((each for each in sorted(sight.late) if step <= each < step + judged), None)
        if late is not None and judged > 1:
            yield _Occurrence(step, step, bool(occurs), None, doubts=(Doubt("", late),))
            continue
        held = sight.value(consequent, step)
        if held is None and sight.value(violated, step) is False:
            held = True
        doubts = () if occurs and held is not None else tuple(sight.doubts([antecedent, consequent], step))
        yield _Occurrence(step, step, bool(occurs), held, doubts=doubts)


def _of_deadline(sight: Sight, deadline: Deadline, inputs: Collection[str]) -> Iterator[_Occurrence]:
    """Those of a property with a deadline, in the order in which they begin."""
    antecedent = deadline.antecedent
    assert antecedent is not None
    known = max(deadline.base, last_step([antecedent], inputs))
    checks = _Checks(sight, deadline, max(deadline.base, last_step([deadline.condition], inputs)))
    for begin in range(sight.length - known + 1):
        occurs = sight.value(antecedent, begin)
        if occurs is not False:
            doubts = () if occurs else tuple(sight.doubts([antecedent], begin))
            yield checks.decided(begin, known, bool(occurs), doubts)


class _Checks:
    """The checks of a deadline's condition, each over ``span`` steps, from each step on."""

    def __init__(self, sight: Sight, deadline: Deadline, span: int) -> None:
        self._sight, self._deadline, self._span = sight, deadline, span
        self._settles = deadline.word == "F"
        values = [sight.value(deadline.condition, at) for at in range(sight.length - span + 1)]
        self._number = len(values)
        self._settling = _following(values, lambda value: value is self._settles)
        self._unsure = _following(values, lambda value: value is None)

    def decided(self, begin: int, known: int, certain: bool, doubts: tuple[Doubt, ...]) -> _Occurrence:
        """The occurrence from ``begin`` on, which is known after so many steps, as it is decided."""
        first, last = begin + self._deadline.first, begin + self._deadline.last
        settled, unsure = (self._within(each, first, last) for each in (self._settling, self._unsure))
        at = last if settled is None else settled
        late = next((step for step in sorted(self._sight.late) if begin <= step < at), None)
        held: bool | None = self._settles if settled is not None else not self._settles
        beyond = settled is None and last >= self._number
        if late is not None:
            held, beyond, doubts = None, False, (*doubts, Doubt("", late))
        elif settled is None and unsure is not None and not (self._settles and beyond):
            held, beyond = None, False
            doubts = (*doubts, *self._sight.doubts([self._deadline.condition], unsure))
        base, end = self._deadline.base, max(begin + known, at + self._span)
        check = min(at + base, self._sight.length)
        return _Occurrence(begin + base, end, certain, held, beyond, doubts, check)

    def _within(self, following: Sequence[int | None], first: int, last: int) -> int | None:
        """The first place in ``following`` from the check ``first`` on, if it is none after ``last``."""
        place = following[first] if first < self._number else None
        return place if place is not None and place <= last else None


def _following(values: Sequence[bool | None], wanted: Callable[[bool | None], bool]) -> list[int | None]:
    """For each place of ``values`` the first one from there on that is ``wanted``."""
    found, latest = list[int | None](), None
    for place in range(len(values) - 1, -1, -1):
        latest = place if wanted(values[place]) else latest
        found.append(latest)
    return found[::-1]


@dataclass(frozen=True)
class JudgedRun:
    """One run, judged. ``on`` is the name of the original, ``model``, or what was recorded; ``remarks`` say what could
    not be checked, and ``why`` why it was not on the original, of which ``original`` says what it is.

    ``run`` is what the model does where values were not observed. ``steps`` are those that were judged.
    ``disagreements`` tell where model, run and file differ; ``refused`` which steps break the input constraint
    or rely on undefined behaviour; ``violations`` are the program's own assertions that failed; ``not_known`` are the
    goals that the chain was made for and the program does not have. ``comparison``: with the outputs that were
    recorded; None where every variable was compared. ``other_inputs`` say where the inputs were not those of the
    chain: it is the model under the recorded ones that the run is compared with. ``cut_short``: the run ends before the
    chain does. ``differences`` are those among the disagreements that are values of variables, ``changed`` the source
    files that are not those of the chain, ``included`` those among them that are the same themselves, and of which only
    what they include, or a macro, has changed. ``observed``: the values of the run beside the expected ones; None for a
    replay that has those of the chain. ``against`` is the place of another build that was run in place of the sources
    of the project; '' for these. ``renumbered`` are enumerations that give other numbers to the same names in the
    build that was run: its numbers are told by the names that they have in the program.
    """

    on: str
    run: Run
    goals: tuple[JudgedGoal, ...]
    final: bool | None
    disagreements: tuple[str, ...]
    refused: tuple[str, ...]
    violations: tuple[str, ...]
    remarks: tuple[str, ...]
    not_known: tuple[str, ...] = ()
    why: str = ""
    original: str = "the compiled original"
    comparison: Comparison | None = None
    other_inputs: tuple[str, ...] = ()
    cut_short: bool = False
    steps: int = 0
    differences: tuple[Difference, ...] = ()
    changed: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    observed: Observed | None = None
    against: str = ""
    renumbered: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where the run was made, in words."""
        if self.comparison is not None:
            return self.on
        original = PurePath(self.against).name or self.original
        return "the model" if self.on == "model" else f"{original} ({short_compiler(self.on)})"

    @property
    def exit_code(self) -> int:
        """1 if something failed, disagreed or deviates; 5 if the run was cut short; 4 if a goal is missed or lost, or
        not observable, if it is open whether a requirement held, or final is not reached; else 0."""
        failed = any(g.requirement == verdicts.FAILED or not g.claim_holds for g in self.goals)
        deviates = self.comparison is not None and self.comparison.first is not None
        if failed or deviates or self.disagreements or self.refused or self.violations:
            return ExitCode.FINDING
        if self.cut_short:
            return ExitCode.LIMIT
        return ExitCode.NOT_COVERED if self._misses or self.not_known or self.final is False else ExitCode.DONE

    @property
    def _misses(self) -> bool:
        """Whether a goal that the run was made for is not covered, or it is open whether its requirement held."""
        asked = [g for g in self.goals if g.asked]
        return any(g.verdict != COVERED or g.requirement in verdicts.OPEN_REQUIREMENTS for g in asked)


def short_compiler(name: str) -> str:
    """A compiler's name and version without what its packager adds in brackets."""
    return re.sub(r" \([^()]*\)", "", name)
