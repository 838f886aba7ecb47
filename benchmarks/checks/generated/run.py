"""Answers on generated systems against the independent search: ``python -m benchmarks generated --count 500``.

A *wrong* answer contradicts the search; a *weak* one leaves something open that the search decides. Exit code 1 on any
wrong answer, with ``--strict`` on any weak one too. Seconds depend on the machine, all else on the seeds.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO
from unittest.mock import patch

import click
from pysmt.fnode import FNode

from benchmarks.checks.generated.reference import COVERABLE, NO_WAY_TO_FINAL, UNREACHABLE, Answer, Reference
from benchmarks.checks.generated.systems import KINDS, Case, generated_case
from bmc.native.build import NO_NATIVE
from bmc.system.transition import Run, TransitionSystem
from chaincover import chain as status
from chaincover import pipeline
from chaincover.options import Options
from chaincover.partition.several import generate_several
from chaincover.problem import Problem
from properties.goal import Goal

ALL, COMPILED, ARRAYS, QUESTIONS = BY = ("all", "compiled", "arrays", "questions")
"""What may find the answer: all that there is; only the compiled search over states and goals covered, with distances
in layers; all but what is compiled; only questions to a solver, without listed states."""

IN_LAYERS = ("exact graph", "covering search")

SECONDS = 60.0
"""Each system's time limit."""

ACCEPTED = {
    COVERABLE: ((status.COVERED,), ()),
    UNREACHABLE: ((status.UNREACHABLE,), (status.NOT_WITHIN_BOUND, status.UNDECIDED)),
    NO_WAY_TO_FINAL: ((status.NO_WAY_TO_FINAL,), (status.NOT_WITHIN_BOUND, status.UNDECIDED)),
}
"""By the search's verdict: those that say the same, those that only say less."""


@dataclass(frozen=True)
class Found:
    """One chain: ``credited`` gives the step of each of its goals, ``lower`` its proven bound in steps."""

    run: Run
    credited: Mapping[str, int]
    lower: int
    minimal: bool
    gap: float | None


@dataclass(frozen=True)
class Outcome:
    """What ChainCover says of one case, in plain data."""

    chains: tuple[Found, ...]
    verdicts: Mapping[str, str]
    number_minimal: bool
    stopped_by: str


@dataclass(frozen=True)
class Row:
    """The comparison of one case: the search's ``chains`` and ``total``, the lengths ``found``, seconds to find them.

    ``states`` can be reached. ``wrong`` and ``weak`` are pairs of the difference's kind and what it is.
    """

    seed: int
    kind: str
    goals: int
    states: int
    chains: int
    total: int
    found: tuple[int, ...]
    seconds: float
    wrong: tuple[tuple[str, str], ...]
    weak: tuple[tuple[str, str], ...]

    def agrees(self, strict: bool) -> bool:
        """Whether nothing is wrong, with ``strict`` nor weak."""
        return not self.wrong and not (strict and self.weak)


def ask(
    system: TransitionSystem, goals: Sequence[Goal], final: FNode | None, overlap: str, limit: float, by: str
) -> Outcome:
    """Run ChainCover; the only place that knows its results. ``limit`` in seconds; ``by`` is one of ``BY``."""
    stages = [stage for stage in pipeline.STAGES if by != COMPILED or stage.name in IN_LAYERS]
    with (
        patch.object(pipeline, "STAGES", tuple(stages)),
        patch.dict(os.environ, {NO_NATIVE: "1"} if by in (ARRAYS, QUESTIONS) else {}),
    ):
        options = Options(overlap=overlap, time_limit=limit, engine="sat" if by == QUESTIONS else "auto")
        answer = generate_several(Problem(system, tuple(goals), final), options)
    return Outcome(
        chains=tuple(
            Found(
                result.chain.run,
                {hit.goal: hit.step for hit in result.chain.hits},
                result.bounds.lower,
                result.bounds.minimal,
                result.bounds.gap,
            )
            for result in answer.results
            if result.chain is not None
        ),
        verdicts={verdict.goal: verdict.status for verdict in answer.verdicts},
        number_minimal=answer.number_minimal_within_k,
        stopped_by=answer.stopped_by,
    )


def compared(seed: int, overlap: str = "allow", limit: float = SECONDS, by: str = ALL, **drawn: Any) -> Row:
    """Generate the case of ``seed`` (``drawn`` as for ``generated_case``), search it, ask ChainCover, compare."""
    case = generated_case(seed, **drawn)
    reference = Reference(case.system, case.goals, case.final, overlap)
    right = reference.answer()
    begin = time.perf_counter()
    try:
        outcome = ask(case.system, case.goals, case.final, overlap, limit, by)
    except Exception as error:  # a crash is a result of the comparison too
        outcome, wrong, weak = None, [("crash", f"{type(error).__name__}: {error}".splitlines()[0])], []
    seconds = time.perf_counter() - begin
    if outcome is not None:
        wrong = list(_wrong(case, reference, right, outcome))
        weak = list(_weak(right, outcome))
        if seconds > limit:
            weak.append(("slow", f"{seconds:.0f} s"))
    return Row(
        seed=seed,
        kind=case.kind,
        goals=len(case.goals),
        states=len(reference.states),
        chains=right.chains,
        total=right.total,
        found=tuple(found.run.length for found in outcome.chains) if outcome else (),
        seconds=seconds,
        wrong=tuple(wrong),
        weak=tuple(weak),
    )


def _wrong(case: Case, reference: Reference, right: Answer, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What contradicts the search."""
    for goal, verdict in right.verdicts.items():
        said = outcome.verdicts.get(goal, "no verdict")
        missed = verdict == COVERABLE and said in (status.EXCLUDED, status.NOT_WITHIN_BOUND, status.UNDECIDED)
        if not missed and not any(said in statuses for statuses in ACCEPTED[verdict]):
            yield "verdict wrong", f"{goal}: {said}, is {verdict}"
    for number, found in enumerate(outcome.chains, 1):
        for fault in reference.faults(found.run.inputs, found.run.states, found.credited):
            yield "replay", f"chain {number}: {fault}"
        goals = sum(1 << n for n, goal in enumerate(case.goals) if goal.name in found.credited)
        least = right.least.get(goals)
        if least is None or found.lower > least:
            yield "bound wrong", f"chain {number}: {found.lower}, is {least}"
        elif found.minimal and found.run.length != least:
            yield "minimal wrong", f"chain {number}: {found.run.length}, is {least}"
    credited = {goal for found in outcome.chains for goal in found.credited}
    if credited != {goal for goal, said in outcome.verdicts.items() if said == status.COVERED}:
        yield "verdict wrong", "the goals called covered are not those that the chains cover"
    all_covered = all(goal in credited for goal, verdict in right.verdicts.items() if verdict == COVERABLE)
    if all_covered and len(outcome.chains) < right.chains:
        yield "too few chains", f"{len(outcome.chains)}, is {right.chains}"
    if outcome.number_minimal and len(outcome.chains) > right.chains:
        yield "number wrong", f"{len(outcome.chains)}, is {right.chains}"


def _weak(right: Answer, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """What the search decides and ``outcome`` leaves open."""
    missed = [g for g, v in right.verdicts.items() if v == COVERABLE and outcome.verdicts.get(g) != status.COVERED]
    if missed:
        yield "goals missed", ", ".join(f"{goal} {outcome.verdicts.get(goal)}" for goal in missed)
    for goal, verdict in right.verdicts.items():
        if outcome.verdicts.get(goal) in ACCEPTED[verdict][1]:
            yield "verdict weak", f"{goal}: {outcome.verdicts[goal]}, is {verdict}"
    total = sum(found.run.length for found in outcome.chains)
    if not missed and len(outcome.chains) > right.chains:
        yield "too many chains", f"{len(outcome.chains)}, is {right.chains}"
    elif not missed and total > right.total:
        yield "too long" if right.chains == 1 else "total too long", f"{total}, is {right.total}"
    open_chains = [found for found in outcome.chains if not found.minimal or found.gap != 0]
    if open_chains:
        yield "not minimal", ", ".join(f"{found.lower} to {found.run.length}" for found in open_chains)
    if not outcome.number_minimal:
        yield "number not minimal", f"{len(outcome.chains)} chain(s)"
    if outcome.stopped_by:
        yield "stopped", outcome.stopped_by


def line(row: Row, strict: bool = True) -> str:
    """One row of the table: the search's answer, ChainCover's, and where they differ."""
    differences = [f"**{kind}**: {what}" for kind, what in row.wrong]
    differences += [f"{kind}: {what}" for kind, what in row.weak if strict]
    expected = f"{row.chains}: {row.total}"
    got = f"{len(row.found)}: {' + '.join(map(str, row.found)) or 0}"
    cells = (row.seed, row.kind, row.goals, row.states, expected, got, f"{row.seconds:.2f}", "; ".join(differences))
    return f"| {' | '.join(map(str, cells))} |"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """The counts over all rows, and for each kind of difference its seeds."""
    shapes = Counter("one" if row.chains == 1 else "several" if row.chains else "none" for row in rows)
    seconds = [row.seconds for row in rows]
    weak = Counter(kind for row in rows for kind in {kind for kind, _ in row.weak})
    yield f"{len(rows)} systems: {shapes['one']} one chain, {shapes['several']} several, {shapes['none']} none"
    yield f"seconds: median {statistics.median(seconds):.2f}, most {max(seconds):.2f}, all {sum(seconds):.0f}"
    yield f"equal to the search in all: {sum(row.agrees(True) for row in rows)}"
    yield f"not said minimal (a gap): {weak['not minimal']}; number not said minimal: {weak['number not minimal']}"
    for degree, chosen in (("wrong", [row.wrong for row in rows]), ("weak", [row.weak for row in rows])):
        seeds: dict[str, list[int]] = {}
        for row, differences in zip(rows, chosen, strict=True):
            for kind in sorted({kind for kind, _ in differences}):
                seeds.setdefault(kind, []).append(row.seed)
        for kind, where in sorted(seeds.items()):
            yield f"{degree}: {kind}: {len(where)} (seeds {', '.join(map(str, where))})"


@click.command()
@click.option("--count", default=500, show_default=True, help="Number of systems.")
@click.option("--seed", default=0, show_default=True, help="The first one's seed; the others' follow.")
@click.option("--jobs", default=1, show_default=True, help="Processes at once.")
@click.option("--overlap", type=click.Choice(("allow", "forbid")), default="allow", show_default=True)
@click.option("--states", default=64, show_default=True, help="Most reachable states of a system.")
@click.option("--kind", type=click.Choice(KINDS), help="Only systems of this kind; default: table and formulas.")
@click.option("--open-start", is_flag=True, help="What some variables start with is left open.")
@click.option("--by", type=click.Choice(BY), default=ALL, show_default=True, help="What may find the answer.")
@click.option("--limit", default=SECONDS, show_default=True, help="Seconds for each system.")
@click.option("--strict", is_flag=True, help="Weak answers fail too.")
@click.option("-o", "--output", type=click.File("w"), default="-", help="Where table and summary go (markdown).")
def main(count: int, seed: int, jobs: int, strict: bool, output: TextIO, **settings: Any) -> None:
    """Compare; a row is written for each system with a difference, then the summary."""
    one = partial(compared, **settings)
    click.echo("| seed | kind | goals | states | search | found | seconds | differences |", file=output)
    click.echo("|---|---|---|---|---|---|---|---|", file=output)
    rows = []
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=25) as pool:
        for row in pool.imap(one, range(seed, seed + count)):
            rows.append(row)
            if not row.agrees(strict=True):
                click.echo(line(row), file=output)
                output.flush()
    click.echo("", file=output)
    for text in summary(rows):
        click.echo(f"- {text}", file=output)
    raise SystemExit(0 if all(row.agrees(strict) for row in rows) else 1)
