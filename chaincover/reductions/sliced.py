"""The part of a system that a search for chains needs, and the way back to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain as joined
from typing import TYPE_CHECKING

from pysmt.fnode import FNode

from bmc.analysis.slice import slice_system, spare_inputs
from bmc.analysis.validity import without_impossible
from bmc.formulas.unroll import plain
from bmc.system.run import Run
from bmc.system.transition import TransitionSystem, symbols_of
from chaincover.chain import Verdict
from chaincover.reductions.final_latches import explained, lost_values
from chaincover.replay.simulated import Checker
from properties.goal import Goal

if TYPE_CHECKING:
    from chaincover.pipeline import ChainResult


def sliced(system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> TransitionSystem:
    """The part of ``system`` on which ``goals``, with their consequents, ``final`` and a step's validity depend.

    ``final`` is over plain state symbols, None: a run may end anywhere.
    """
    return slice_system(*_cut_at(system, goals, final))


def _cut_at(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None
) -> tuple[TransitionSystem, list[FNode], list[FNode]]:
    """What to slice, what a search looks at and what it judges besides, as plain formulas."""
    searched = plain_symbols([goal.antecedent for goal in goals])
    judged = plain_symbols([goal.consequent for goal in goals if goal.consequent is not None])
    searched = searched if final is None else [*searched, final]
    return without_impossible(system, [*searched, *judged]), searched, judged


def plain_symbols(formulas: Sequence[FNode]) -> list[FNode]:
    """The symbols of framed ``formulas``, without their steps."""
    return list(dict.fromkeys(plain(s) for s in joined.from_iterable(map(symbols_of, formulas))))


def on_whole(result: ChainResult, system: TransitionSystem, goals: Sequence[Goal], final: FNode | None) -> ChainResult:
    """``result``, found on a slice of ``system``, with its chain simulated and judged on ``system``.

    Inputs that the slice does not have keep one value; CheckDisagreed if that comes out otherwise. The verdicts are
    those of ``with_reasons``.
    """
    chain = result.chain
    result = replace(result, verdicts=with_reasons(result.verdicts, system, goals, final))
    if chain is None:
        return result
    if any(var.name not in values for values in chain.run.inputs[:1] for var in system.inputs):
        spare = spare_inputs(*_cut_at(system, goals, final))
        names = [var.name for var in system.inputs]
        inputs = tuple({name: {**spare, **values}[name] for name in names} for values in chain.run.inputs)
        chain = replace(chain, run=Run(chain.run.states, inputs))
    return replace(result, chain=Checker(system, goals, final).again(chain))


def with_reasons(
    verdicts: Sequence[Verdict], system: TransitionSystem, goals: Sequence[Goal], final: FNode | None
) -> tuple[Verdict, ...]:
    """``verdicts`` with the variables named that keep runs from ``final``, where they are known."""
    return explained(verdicts, lambda: lost_values(sliced(system, goals, final), final))
