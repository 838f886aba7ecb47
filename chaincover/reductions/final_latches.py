"""Why no chain gets back to a state like init: fields that never have their value after init again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pysmt.fnode import FNode

from bmc.analysis.idle import conjuncts
from bmc.analysis.latches import latches
from bmc.system.hold import released
from bmc.system.transition import TransitionSystem, equal
from chaincover.chain import NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, Verdict

CONCERNED = (NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED)
"""Verdicts that a value which never comes back can explain; all but the first only if the first step loses it."""
MOST_NAMES = 8
"""Fields named in one verdict."""
ADVICE = "ask for another end (--final), or, where the end is a state like init, list them in interface.ignore"


def lost_values(part: TransitionSystem, final: FNode | None) -> Mapping[str, bool]:
    """The variables whose value after init ``final`` asks for, and that never have it again once they have another.

    True: they have another from the first step on. ``part`` is a slice for ``final`` (over plain symbols, None: a run
    may end anywhere).
    """
    asked = {*conjuncts(final)} if final is not None else set()
    names = {var.name for var in part.state if var.init is not None and equal(var.symbol, var.init) in asked}
    return latches(released(part), names) if names else {}


def explained(verdicts: Sequence[Verdict], lost: Callable[[], Mapping[str, bool]]) -> tuple[Verdict, ...]:
    """``verdicts`` with the fields named that keep runs from the final condition; ``lost`` tells its lost values."""
    if not any(verdict.status in CONCERNED for verdict in verdicts):
        return tuple(verdicts)
    names = lost()
    ever, at_once = _why([*names]), _why([name for name in names if names[name]])
    return tuple(
        replace(v, detail=v.detail + (ever if v.status == NO_WAY_TO_FINAL else at_once)) if v.status in CONCERNED else v
        for v in verdicts
    )


def _why(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - MOST_NAMES
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    verb, values = ("have", "values") if len(names) > 1 else ("has", "value")
    return f"; once changed, {listed} never {verb} the {values} after init again: {ADVICE}"
