"""The baseline ``random-runs``: random runs, and the test cases among them that cover all goals in the fewest steps.

As in the paper (Schrammel, Melham and Kroening 2014, section 6) a test case ends in the final condition, so that each
run is cut at the places where that holds, and a weighted set cover chooses among all that were found, the weight being
the length. Runs are simulated on the model, many side by side; what is chosen is replayed on the compiled original.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

import click
import numpy as np

from benchmarks.bench.tools.baseline import Baseline, Case, Given, Search, TimeOver, conduct, given_options, starts
from benchmarks.bench.tools.weighted_cover import EXACT, GREEDY, greedy_cover, undominated, weighted_cover
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import Batch, EventFinder, Runs
from chaincover.cli.options import held_request_options
from chaincover.problem import Problem
from chaincover.project.load import Request
from chaincover.weights import FINAL

UNIFORM, HELD = "uniform", "held"

LENGTHS = (32, 64, 128, 256, 512, 1024)
"""Steps of the runs side by side, one group after the other and from the beginning again, where none are given."""

CELLS, WIDTH = 1 << 18, 1024
"""Steps of all runs side by side together, and most of these runs."""

NEVER = 1 << 30


class RandomRuns(Baseline):
    """Random runs with weighted set cover."""

    name = "random-runs"
    settings = frozenset({"inputs", "runs", "steps", "several", "selection"})


@dataclass
class Pool:
    """The shortest test case seen for each set of goals (as bits); sets that others contain are left out."""

    lengths: dict[int, int] = field(default_factory=dict)
    inputs: dict[int, dict[str, Column]] = field(default_factory=dict)

    @property
    def covered(self) -> int:
        """The goals that any of them covers."""
        union = 0
        for mask in self.lengths:
            union |= mask
        return union

    def add(self, runs: Runs, ends: Column) -> None:
        """Take the test cases of ``runs``; ``ends`` has for each goal and run the least length with which it is one."""
        for number in range(ends.shape[1]):
            mask = 0
            column = ends[:, number]
            order = np.argsort(column, kind="stable").tolist()
            for place, goal in enumerate(order):
                length = int(column[goal])
                if length >= NEVER:
                    break
                mask |= 1 << goal
                last = place + 1 == len(order) or int(column[order[place + 1]]) > length
                if last and length < self.lengths.get(mask, NEVER):
                    self.lengths[mask] = length
                    self.inputs[mask] = {name: values[:length, number].copy() for name, values in runs.inputs.items()}
        self.lengths = undominated(self.lengths)
        self.inputs = {mask: self.inputs[mask] for mask in self.lengths}

    def steps(self, mask: int) -> list[dict[str, int]]:
        """The inputs of the test case for this set."""
        columns = {name: values.tolist() for name, values in self.inputs[mask].items()}
        return [{name: int(values[step]) for name, values in columns.items()} for step in range(self.lengths[mask])]


def ends_of(runs: Runs, events: EventFinder, problem: Problem) -> Column:
    """For each goal and run the least number of steps after which the goal is covered and the final condition holds."""
    hits = events.hits(runs)
    count = len(runs.valid)
    ending = np.full((runs.steps + 2, count), NEVER, np.int64)
    for step in range(runs.steps, -1, -1):
        holds = hits[FINAL][step] if problem.final is not None else step <= runs.valid
        ending[step] = np.where(holds, step, ending[step + 1])
    found = np.full((len(problem.goals), count), NEVER, np.int64)
    for place, goal in enumerate(problem.goals):
        rows = hits[goal.name]
        if rows.any():
            end = np.where(rows.any(axis=0), rows.argmax(axis=0), runs.steps + 1)
            found[place] = ending[end, np.arange(count)]
    return found


def runs_until_covered(ends: Column, before: int) -> int | None:
    """How many of the runs are needed until all goals are covered, ``before`` (as bits) being so already; None if all
    of them are not enough."""
    known = np.array([before >> place & 1 for place in range(len(ends))], bool)
    whole = (np.logical_or.accumulate(ends < NEVER, axis=1) | known[:, None]).all(axis=0)
    return int(whole.argmax()) + 1 if whole.any() else None


def groups(runs: int, steps: int) -> Iterator[tuple[int, int]]:
    """How many runs of how many steps are made side by side, one group after the other."""
    lengths = repeat(steps) if steps else chain.from_iterable(repeat(LENGTHS))
    while runs > 0:
        length = next(lengths)
        count = min(runs, WIDTH, max(CELLS // length, 16))
        yield count, length
        runs -= count


def draw(search: Search, inputs: str, runs: int, steps: int) -> Pool:
    """The test cases of so many random runs of ``steps`` steps (0: of growing length)."""
    problem, _ = replace(search.problem, overlap="allow").in_one_step(search.problem.names)
    pool = Pool()
    batch = Batch(problem.system, [goal.antecedent for goal in problem.goals], search.seed)
    events = EventFinder({goal.name: (goal.antecedent, goal.takes_step) for goal in problem.targets})
    made, everything = 0, (1 << len(problem.goals)) - 1
    try:
        for count, length in groups(runs, steps):
            manner = batch.manner(count)
            if inputs == UNIFORM:
                manner = replace(manner, rates={name: np.ones(count) for name in manner.rates})
            drawn = batch.go_on(batch.repeated(batch.initial(), count), manner, length, search.check)
            ends = ends_of(drawn, events, problem)
            if pool.covered != everything:
                enough = runs_until_covered(ends, pool.covered)
                if enough is not None:
                    search.notes.append(f"all goals were covered after {made + enough} runs")
            pool.add(drawn, ends)
            made += count
            search.farthest = max(search.farthest or 0, length)
    except TimeOver:
        search.notes.append(f"{made} of {runs} runs were made")
    return pool


def selected(pool: Pool, several: bool, selection: str, seconds: float | None) -> tuple[Sequence[int], str]:
    """The sets of goals whose test cases are the result, and what is to be said of that."""
    if not pool.lengths:
        return (), "no run covers a goal and ends in the final condition"
    if not several:
        return [min(pool.lengths, key=lambda mask: (-mask.bit_count(), pool.lengths[mask], mask))], ""
    if selection == GREEDY:
        return greedy_cover(pool.lengths), ""
    picked, proved = weighted_cover(pool.lengths, seconds)
    return picked, "" if proved else "the set cover is not proved to be minimal"


@click.command()
@held_request_options
@given_options
@click.option("--inputs", type=click.Choice([UNIFORM, HELD]), default=UNIFORM, show_default=True, help="How inputs go.")
@click.option("--runs", type=click.IntRange(1), default=5000, show_default=True, help="How many runs are made.")
@click.option("--steps", type=click.IntRange(0), default=0, show_default=True, help="Of each run; 0: 32 up to 1024.")
@click.option("--several", type=bool, default=True, show_default=True, help="Several test cases, or the best one.")
@click.option(
    "--selection", type=click.Choice([EXACT, GREEDY]), default=EXACT, show_default=True, help="The set cover."
)
def main(request: Request, given: Given, inputs: str, runs: int, steps: int, several: bool, selection: str) -> None:
    """Random runs of PATH, cut into test cases, and those of them that cover all goals in the fewest steps."""

    def search(state: Search) -> list[Case]:
        pool = draw(state, inputs, runs, steps)
        state.stages["search"] = time.monotonic() - state.begun - state.stages["read"]
        picked, note = selected(pool, several, selection, state.left)
        state.notes += [note] if note else []
        chosen = starts(state.problem.system)
        return [Case(pool.steps(mask), chosen) for mask in sorted(picked, key=lambda m: (-m.bit_count(), m))]

    conduct(request, given, search)


if __name__ == "__main__":
    main()
