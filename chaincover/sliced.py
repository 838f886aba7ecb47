"""The part of a system that a search for chains needs, and the way back to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined
from typing import TYPE_CHECKING

from pysmt.fnode import FNode

from bmc.slice import slice_system
from bmc.system import TransitionSystem, symbols_of
from bmc.unroll import plain
from chaincover.recheck import Checker
from properties.goal import Goal

if TYPE_CHECKING:
    from chaincover.pipeline import ChainResult


def sliced(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> TransitionSystem:
    """The part of ``system`` on which ``goals``, with their consequents, ``final`` and a step's validity depend.

    ``final`` is over plain state symbols, None: a run may end anywhere.
    """
    searched = plain_symbols([goal.antecedent for goal in goals])
    judged = plain_symbols([goal.consequent for goal in goals if goal.consequent is not None])
    return slice_system(system, searched if final is None else [*searched, final], judged)


def plain_symbols(formulas: Sequence[FNode]) -> list[FNode]:
    """The symbols of framed ``formulas``, without their steps."""
    return list(dict.fromkeys(plain(s) for s in joined.from_iterable(map(symbols_of, formulas))))


def on_whole(result: ChainResult, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> ChainResult:
    """``result``, found on a slice of ``system``, with its chain simulated and judged on ``system``.

    CheckDisagreed if that comes out otherwise.
    """
    if result.chain is None:
        return result
    return replace(result, chain=Checker(system, goals, final).again(result.chain))
