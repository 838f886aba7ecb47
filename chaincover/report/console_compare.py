"""Which ordering ``compare`` advises to use, and why, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bmc.errors import counted, listed
from chaincover.comparison import Final, Row


def advice(rows: Sequence[Row], several: bool) -> str:
    """Which ordering to use for this graph, and why: that of the best answer, where one is better than another."""
    answers = {row.ordering: row.final for row in rows if row.final is not None and row.final.chains}
    if not answers:
        return "which ordering to use is open: none led to a chain; generate without --ordering takes one by itself"
    ranks = {name: _rank(final) for name, final in answers.items()}
    best = [name for name in answers if ranks[name] == min(ranks.values())]
    told, missing = _told(answers[best[0]], several), len(rows) - len(answers)
    if len(best) == len(rows):
        asked = any(final.ordered for final in answers.values())
        whose = {1: f"{best[0]}, the only one here,", 2: "both"}.get(len(rows), f"all {len(rows)}")
        none_asked = "" if asked else ", and no ordering was asked for it"
        return f"use the default, without --ordering: {whose} gave {told}{none_asked}"
    rest = {name: ranks[name] for name in answers if name not in best}
    return f"use --ordering {best[0]}: it gave {told}{_others(best[1:], rest, answers, several)}" + (
        f"; {counted(missing, 'ordering')} gave no chain" if missing else ""
    )


def _others(
    alike: Sequence[str], rest: Mapping[str, tuple[int, ...]], answers: Mapping[str, Final], several: bool
) -> str:
    """Which orderings gave the same, and what the best of the ``rest`` gave, which have ranks."""
    also = f", and so did {listed(alike)}" if alike else ""
    second = min(rest, key=lambda name: rest[name], default="")
    return also + (f"; {second} gave {_told(answers[second], several)}" if second else "")


def _rank(final: Final) -> tuple[int, ...]:
    """The better an answer is the less this is: most goals covered, fewest chains and steps, the highest bound."""
    return (-final.covered, final.chains, final.bounds.length or 0, -final.bounds.lower)


def _told(final: Final, several: bool) -> str:
    """What users get, in words."""
    chains = f"{counted(final.chains, 'chain')} of " if several else ""
    proof = "minimal" if final.bounds.minimal else f"none shorter than {final.bounds.lower}"
    goals = f"{final.covered} of {len(final.verdicts)} goals"
    return f"{chains}{counted(final.bounds.length or 0, 'step')} ({proof}) for {goals}"
