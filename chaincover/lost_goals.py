"""Goals that nothing so far leads to, or leads on from: whether no chain covers them, and how that is proved."""

from __future__ import annotations

from collections.abc import Sequence

from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.exhaustive import Least
from chaincover.options import Options
from chaincover.small import SmallSystem


def judged_alone(
    goals: Sequence[str], small: SmallSystem, options: Options
) -> tuple[dict[str, tuple[str, str]], frozenset[str]]:
    """The goals that no chain covers, each with its verdict and how it is proved; and those of which it is not known.

    Where ``options`` bound K, a chain found beyond it tells nothing. LimitReached when time is over.
    """
    far = options.bound is None and options.improve > 0
    exact = {goal: small.least([goal]) for goal in goals}
    proved = {
        goal: _why_not(goal, alone, small) for goal, alone in exact.items() if alone is not None and alone.run is None
    }
    return proved, frozenset(goal for goal in goals if goal not in proved and (exact[goal] is None or not far))


def _why_not(goal: str, alone: Least, small: SmallSystem) -> tuple[str, str]:
    how = f"all {alone.states} reachable states were searched"
    anywhere = small.least([goal], to_end=False)
    if anywhere is not None and anywhere.run is None:
        return UNREACHABLE, f"no run covers it: {how}"
    reached = "reached, but no run goes on" if anywhere is not None else "no run covers it and goes on"
    return NO_WAY_TO_FINAL, f"{reached} to the final condition: {how}"
