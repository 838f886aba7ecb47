"""A search on a smaller problem, with stages of its own, within a stage of the whole one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf

import numpy as np

from bmc.evaluation.vectors import Columns, Program
from bmc.explicit.layers import NotInLayers
from chaincover.chain import Chain
from chaincover.facts import BETTER, COMPLETE, DISTANCES, EXACT, FLOATING, LAYERED, NEAR, OBSERVED, STATES
from chaincover.graph.enumerated import LISTING, enumerate_states, exact_graph
from chaincover.graph.layered import layers_of
from chaincover.known import Board, Known, Reason
from chaincover.limits import EffortUsedUp
from chaincover.minimality.claims import result_of
from chaincover.problem import Problem
from chaincover.reductions.reduction import Reduction
from chaincover.reductions.slicing import smaller_problem
from chaincover.replaying.judge import Judge
from chaincover.result import ChainResult
from chaincover.runs.guided import Guiding
from chaincover.stages import Rounds, Stage, later

STAGES = (
    Stage("enumerate", enumerate_states, LISTING, for_targets=False, gives=(STATES,), once=True),
    Stage("enumerate", enumerate_states, 0.4, for_targets=False, gives=(STATES,), put_off=FLOATING),
    Stage("exact graph", exact_graph, 1.0, gives=(DISTANCES, EXACT, NEAR)),
    Stage(
        "path weights",
        later("chaincover.minimality.path_weights:learn_path_weights"),
        1.0,
        needs=(DISTANCES, STATES | EXACT | COMPLETE),
    ),
    Stage("simulate", later("chaincover.runs.random:random_runs"), for_targets=False, gives=(COMPLETE, OBSERVED)),
    Stage("whole lengths", later("chaincover.minimality.windows:refute_lengths"), needs=(NEAR,)),
    Stage("accelerate", later("chaincover.minimality.acceleration:accelerate"), 1.0, gives=(COMPLETE, BETTER)),
)
"""What finds a shortest run to one goal, in turns."""

ON_STATES = (
    Stage("states in layers", later("chaincover.graph.layered:reach_in_layers"), inf, gives=(LAYERED,)),
    Stage(
        "covering search",
        later("chaincover.minimality.covering_search:search_covering_runs"),
        inf,
        needs=(LAYERED,),
        gives=(COMPLETE, BETTER),
    ),
    Stage("exact graph", exact_graph, inf, needs=(LAYERED | STATES,), gives=(DISTANCES, EXACT)),
    Stage("enumerate", enumerate_states, inf, for_targets=False, gives=(STATES,), until=(EXACT,)),
    Stage("product search", later("chaincover.minimality.product:search_product"), inf, needs=(STATES, DISTANCES)),
    Stage("path weights", later("chaincover.minimality.path_weights:learn_path_weights"), needs=(EXACT,)),
)
"""What finds a shortest chain where the states are few: along the arrows between them, without distances as long as
each goal has a chain by itself."""


class SmallerSearch:
    """A search for a shortest chain of ``problem``, which is smaller than that of ``board``, by ``stages``; it ends
    with its work, wherever it is, and goes on when it is given more. It is on the ``fewest`` states that are proved to
    do, or begins without such proofs."""

    def __init__(self, board: Board, problem: Problem, stages: Sequence[Stage] = STAGES, fewest: bool = True) -> None:
        self._board, self._problem, self._stages, self._fewest = board, problem, stages, fewest
        self._limits = board.limits.portion(0.0)
        self._reduction: Reduction | None = None
        self._own: Board | None = None
        self._rounds: Rounds | None = None
        self.finished = False

    def go_on(self, units: float) -> ChainResult | None:
        """What is known after so many more units of work; None where that did not suffice to begin.

        ``finished`` is true once there is nothing else to find out.
        """
        self._board.limits.check()  # what runs within may end without a look at the turn of this stage
        self._limits.go_on(units)
        if self._rounds is None:
            try:
                self._begin()
            except EffortUsedUp:
                return None
        assert self._rounds is not None
        assert self._own is not None
        assert self._reduction is not None
        more = True
        with suppress(EffortUsedUp):
            more = self._rounds.go_on()
        self.finished = self._own.known.settled or not more
        return self._reduction.restore(result_of(self._own, self._own.known, ""))

    @property
    def problem(self) -> Problem:
        """What it searches."""
        return self._problem

    def guide(self, chain: Chain, units: float) -> Guiding | None:
        """What leads a search along ``chain``, which was found here; None where the states are too many for that, or
        there is no compiler, or so many more units of work do not suffice."""
        self._limits.go_on(units)
        assert self._own is not None
        assert self._reduction is not None
        problem, terms = self._own.problem, self._reduction.normal_form
        over = {hit.goal: self._problem.over(hit.goal, hit.step) for hit in chain.hits if hit.goal in problem.names}
        order, program = sorted(over, key=lambda name: over[name]), Program([*terms.values()])
        try:
            with layers_of(self._own) as layered:
                guide, rows = layered.guide(order), layered.inputs
        except (NotInLayers, EffortUsedUp):
            return None

        def project(states: Columns) -> Columns:
            size = len(next(iter(states.values())))
            return {**states, **{n: np.broadcast_to(v, (size,)) for n, v in zip(terms, program(states), strict=True)}}

        return None if guide is None else Guiding(guide, order, project, rows)

    @property
    def uncoverable(self) -> Mapping[str, Reason]:
        """The goals of which it is proved that no chain covers them, each with its reason."""
        return {} if self._own is None else self._own.known.uncoverable

    def end(self) -> None:
        """End it, wherever it is."""
        if self._rounds is not None:
            self._rounds.end()

    def _begin(self) -> None:
        """Take the part that the goals depend on, its states in a normal form. EffortUsedUp where it does not suffice
        for that."""
        board, limits = self._board, self._limits
        options = replace(board.options, max_length=None)
        reduction = self._reduction = smaller_problem(self._problem, options, limits, self._fewest)
        if not reduction.normal_form:
            limits.check()
        known = Known(reduction.problem)
        own = self._own = Board(known, options, board.engine, limits, _Unheard(), Judge(reduction.problem))
        own.enumeration = reduction.enumeration
        self._rounds = Rounds(self._stages, own)


class _Unheard:
    """Listens to the search on a smaller problem: what it finds is told once it has ended."""

    def __call__(self, text: str) -> None:
        """A stage begins, or goes on."""

    def improved(self, known: Known) -> None:
        """There is a better chain, a higher bound or a new verdict."""
