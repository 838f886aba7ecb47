"""What became of each goal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmc.ending import CALLED_OFF
from bmc.errors import counted
from bmc.system.transition import Run
from chaincover.chain import (
    BEYOND,
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    UNDECIDED,
    UNREACHABLE,
    Verdict,
)
from chaincover.options import Options
from chaincover.result import BY
from properties.goal import Goal

NEXT_STEP = {
    UNREACHABLE: "correct the antecedent, or the ranges, constraints and held inputs that exclude it",
    NOT_WITHIN_BOUND: "give {more}, leave the goal out with --exclude, or, if it reads a variable that init "
    "leaves open ('chaincover check' shows them), list that in interface.chosen",
    NO_WAY_TO_FINAL: "look at the final condition (--final none: a chain may end anywhere), or give {more}",
    EXCLUDED: "let --several cover it with another chain, or leave out what stands in the way with --exclude",
    UNDECIDED: "allow more {spent}, let --engine portfolio work on hard questions without an end, or ask for fewer "
    "goals",
}
"""What a user can do about a goal that is not covered. ``more`` are the limits on chains that keep it from being
decided, ``spent`` those on the work of the run."""

PROVED_NO_WAY = (
    "change the final condition (--final none: a chain may end anywhere), or leave the goal out with --exclude"
)
"""The same where it is proved that no run goes on to the final condition: no limit is in the way."""

TOO_LONG = (
    "leave the goal out with --exclude, or make the constant that keeps it so far away smaller for tests; longer "
    "chains are stored with --max-length"
)
"""The same where all tests of the goal have more steps than are stored."""

AFTER_A_WRAP = "after these a counter may wrap around"
"""Up to where no run covers a goal, where a normal form holds up to a wrap only."""

BEYOND_A_WRAP = (
    "leave the goal out with --exclude, or correct it: nothing else than a counter that has wrapped around can bring "
    "it about"
)
"""The advice there: more effort proves no more."""

CALLED_OFF_EARLY = "run it again, and let it go on until it ends by itself"
"""The same where a signal ended the run before a limit did."""

EFFORT = "the effort"
"""What stopped a run whose effort is used up."""

HELD = "held"
"""A requirement was exercised, and held wherever that was judged."""

FAILED = "failed"
"""A requirement was exercised, and did not hold."""

NOT_EXERCISED = "not exercised"
"""The antecedent of a requirement never held."""

NOT_OBSERVABLE = "not observable"
"""A goal or a requirement depends on a variable that was not observed."""

NOT_JUDGED_TO_THE_END = "not judged to the end"
"""A deadline or a consequent reaches beyond the end of the run, and no occurrence before was judged."""

MISSED = "missed"
"""A goal that the run was made for is not covered by it."""

AS_SEEN, AS_PREDICTED = "as seen", "as predicted"
"""How a goal is known to be covered: by what was observed alone, or by the model with which all that was observed
agrees."""

OPEN_REQUIREMENTS = frozenset({NOT_OBSERVABLE, NOT_JUDGED_TO_THE_END, UNDECIDED})
"""The verdicts of requirements that leave open whether they held."""


def never_by_induction(steps: int) -> str:
    """That induction over so many steps proves a goal unreachable; over none, its formula excludes every state."""
    how = f"proved by induction over {counted(steps, 'step')}" if steps else "no state allows it"
    return f"no run covers it: {how}"


_NEXT_STEP_GENERATED = {
    UNREACHABLE: "nothing, if it is dead code or a combination that the constraints or held inputs exclude; it "
    "does not count as missed",
    EXCLUDED: "let --several cover it with another chain, or leave it out with --exclude",
}
"""The same for generated goals, where it differs."""


NO_ORIGINAL = "covered is only what the compiled original covers"
"""Why a goal that depends on functions with bounds is undecided where the program is not compiled."""


def next_step(verdict: Verdict, generated: bool, options: Options) -> str:
    """What a user can do about a goal with this verdict, '' if it is covered."""
    advice = _by_detail(verdict, options)
    if advice:
        return advice
    advice = NEXT_STEP.get(NOT_WITHIN_BOUND if _only_by_bound(verdict, options) else verdict.status, "")
    if generated:
        advice = _NEXT_STEP_GENERATED.get(verdict.status, advice)
    given = [("-K", options.bound), ("--max-length", options.max_length)]
    larger = [f"a larger {name} than {value}" for name, value in given if value is not None]
    limits = [("--time-limit", options.time_limit), ("--query-limit", options.query_limit)]
    spent = ["--effort", *(name for name, value in limits if value is not None)]
    return advice.format(more=" or ".join(larger) or "more --effort", spent=" or ".join(spent))


def _by_detail(verdict: Verdict, options: Options) -> str:
    """What a user can do by what the verdict says besides its status; '' if that says nothing more."""
    if verdict.status == NO_WAY_TO_FINAL and verdict.proved:
        return PROVED_NO_WAY
    if verdict.status == NOT_WITHIN_BOUND and AFTER_A_WRAP in verdict.detail:
        return BEYOND_A_WRAP
    if verdict.status != UNDECIDED:
        return ""
    if any(f"stopped by {BY.get(by, by)}" in verdict.detail for by in CALLED_OFF):
        return CALLED_OFF_EARLY
    if options.max_length is None and BEYOND in verdict.detail:
        return TOO_LONG
    return "run it where the program can be compiled, and without --no-native" if NO_ORIGINAL in verdict.detail else ""


def _only_by_bound(verdict: Verdict, options: Options) -> bool:
    """Whether a goal is undecided for want of a larger K than the user gave, and for nothing else."""
    found = re.search(r"within K = (\d+)", verdict.detail)
    open_by_bound = verdict.status == UNDECIDED and found is not None and int(found[1]) == options.bound
    return open_by_bound and not re.search("stopped by|gave up", verdict.detail)


def own_test(run: Run) -> str:
    """That a goal which the chain leaves out is covered by ``run``."""
    return f"reachable: a test of its own has {counted(run.length, 'step')}"


def infeasible(goals: Sequence[Goal], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """The generated goals that are proved unreachable, in order: findings about the code, no failure of a run."""
    generated = {goal.name for goal in goals if goal.generated}
    return tuple(v.goal for v in verdicts if v.status == UNREACHABLE and v.goal in generated)
