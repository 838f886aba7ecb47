"""The baseline ``greedy``: always on to the nearest goal that is missing, and to the final condition at the end.

This is what someone does by hand with a model checker. Where no run leads on to a missing goal, a reset and another
chain of the same kind follow.
"""

from __future__ import annotations

from collections.abc import Collection

import click

from benchmarks.bench.tools.baseline import Baseline, Case, Given, Search, conduct, given_options
from bmc.engines import NAMES, choose, described
from bmc.engines.protocol import Engine
from bmc.errors import LimitReached
from bmc.formulas.evaluate import compile_formulas
from bmc.system.transition import Run
from chaincover.cli.options import held_request_options
from chaincover.limits import Limits
from chaincover.problem import Problem, Questions
from chaincover.project.load import Request
from chaincover.runs.nearest import NearestFirst
from properties.monitor import Monitor

SHARE = 0.5
"""The part of the time left that one chain may look for its next goals, and that one way to the end may take: there may
be none, which bounded model checking never tells."""


class Greedy(Baseline):
    """The greedy chain."""

    name = "greedy"
    settings = frozenset({"several", "engine", "K"})


class GreedyChains:
    """Greedy chains of the problem of ``search``; ``within``: the most steps to the next goal, or the end."""

    def __init__(self, search: Search, engine: Engine, within: int | None) -> None:
        self._search, self._engine, self._within = search, engine, within
        self._problem: Problem = search.problem
        self._monitor = Monitor(self._problem.goals)
        self._final = None if self._problem.final is None else compile_formulas([self._problem.final])

    def chain(self, names: Collection[str]) -> Run | None:
        """A chain through as many of the goals ``names`` as the greedy way leads to; None without one.

        Where the way has lost the end, the first goal from which no way to it was found is left out of another try.
        """
        best: Run | None = None
        aims = list(names)
        while aims:
            run = self._way(aims)
            if run is None:
                break
            ended, trap = self._ended_part(run, aims)
            if ended is not None and (best is None or len(self.covered(ended)) > len(self.covered(best))):
                best = ended
            left = [name for name in aims if name not in trap]
            if len(left) == len(aims):
                break
            aims = left
        return best

    def _way(self, names: Collection[str]) -> Run | None:
        """The run to one goal after the other, and to the end where there is a way."""
        way = NearestFirst(self._questions(), list(names), self._within)
        try:
            return way.run()
        except LimitReached:
            self._search.cut = True
            return way.reached

    def _ended_part(self, run: Run, aims: Collection[str]) -> tuple[Run | None, set[str]]:
        """The longest part of ``run`` to the end of a goal from which a way to the final condition was found, with that
        way, and the goals that end next of those aimed at: none was found from there."""
        if self._ended(run):
            return run, set()
        trap = set[str]()
        ends = self._ends(run)
        for end in sorted({*ends.values()}, reverse=True):
            ended = self._to_end(Run(run.states[: end + 1], run.inputs[:end]))
            if ended is not None:
                return ended, trap
            trap = {name for name in aims if ends.get(name) == end} or trap
        return None, trap

    def covered(self, run: Run) -> set[str]:
        """The goals that ``run`` covers."""
        return {name for name, steps in self._monitor.covered(run).items() if steps}

    def _questions(self) -> Questions:
        left = self._search.left
        return Questions(self._problem, self._engine, Limits(None if left is None else max(SHARE * left, 0.01)))

    def _ended(self, run: Run) -> bool:
        return self._final is None or bool(self._final(run.states[-1])[0])

    def _ends(self, run: Run) -> dict[str, int]:
        """The step at which each goal that ``run`` covers is covered first."""
        goals, covered = self._problem.by_name, self._monitor.covered(run)
        return {name: steps[0] + goals[name].length for name, steps in covered.items() if steps}

    def _to_end(self, run: Run) -> Run | None:
        """``run`` and on to the final condition; None where no way was found."""
        try:
            ended = NearestFirst(self._questions(), [], self._within, run).run()
        except LimitReached:
            self._search.cut = True
            return None
        return ended if ended is not None and self._ended(ended) else None


@click.command()
@held_request_options
@given_options
@click.option("--several", type=bool, default=True, show_default=True, help="Further chains for goals that are left.")
@click.option("--engine", type=click.Choice(NAMES), default="auto", show_default=True, help="Who answers.")
@click.option(
    "--K",
    "most",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Most steps to a goal; 0: as many as it takes.",
)
def main(request: Request, given: Given, several: bool, engine: str, most: int) -> None:
    """The greedy chain through the goals of PATH: always on to the nearest one that is missing, then to the end."""

    def search(state: Search) -> list[Case]:
        solver = choose(engine)
        state.versions["engine"] = " ".join(described(solver, state.problem.system))
        within = most or state.reachable_states()
        chains, missing, tests = GreedyChains(state, solver, within), set(state.problem.names), list[Case]()
        state.farthest = within
        while missing and (several or not tests):
            run = chains.chain([name for name in state.problem.names if name in missing])
            covered = set() if run is None else chains.covered(run) & missing
            if run is None or not covered:
                break
            tests.append(Case.of(run, state.problem.system))
            missing -= covered
        return tests

    conduct(request, given, search)


if __name__ == "__main__":
    main()
