"""The command ``generate``: one chain, its files, and its replay on the compiled original.

With ``--several`` it finds as few chains as it takes, each with its own files, and a summary of all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bmc import ending
from bmc.ending import INTERRUPT
from bmc.engines import choose as choose_engine
from bmc.errors import LimitReached, MemoryLimitReached, UsageError, counted
from chaincover.chain import COVERED
from chaincover.cli.delivery import OneChain, Run, Several, T, deliver
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import (
    Search,
    Shown,
    coverage_option,
    held_request_options,
    junit_option,
    prepare,
    search_options,
    shown_options,
    table_options,
)
from chaincover.cli.progress import Answers, Figures, Saving, can_fail, described, figures, goals_covered
from chaincover.formats.output import prepare_folder
from chaincover.formats.table_style import TableStyle
from chaincover.limits import AFTER, Limits
from chaincover.options import Options
from chaincover.pipeline import not_begun
from chaincover.problem import Problem
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.result import ChainResult, Listener, SeveralChains, Silent
from properties.goal import VIOLATIONS

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd

Find = Callable[[Problem, Options, Listener], ChainResult]


@click.command(name="generate", cls=Command)
@held_request_options
@click.option(
    "-o", "--output", default="chain-out", show_default=True, metavar="DIR", type=PLACE, help="Folder for the results."
)
@search_options
@click.option("--no-replay", is_flag=True, help="Do not replay the chain on the compiled original.")
@coverage_option
@click.option("--several", is_flag=True, help="As few chains as it takes, where one cannot cover every goal.")
@click.option("--most", is_flag=True, help="The one chain that covers most goals, where it cannot cover every goal.")
@click.option("--violations", is_flag=True, help="Violations of requirements are goals too: those that can fail do so.")
@click.option("--report", is_flag=True, help="Write report.html too: the result as one HTML page.")
@table_options
@junit_option
@shown_options
@ending.uninterrupted()
def command(request: Request, search: Search, shown: Shown, output: str, junit: str | None, **asked: Any) -> int:
    """Generate one chain that covers every goal; replay it on the compiled original.

    The best chain so far is on disk from the first one on.
    """
    progress = shown.progress()
    several, most, no_replay = (asked[name] for name in ("several", "most", "no_replay"))
    style = TableStyle.of(asked["delimiter"], asked["decimal_comma"], asked["changes_only"])
    if asked["violations"]:
        request = replace(request, cover=(*request.cover, VIOLATIONS))
    if several and most:
        raise UsageError("--several and --most exclude each other", hint="give one of them")
    if asked["coverage"] or not no_replay:
        progress.code_runs(request.path)
    subject, options = prepare(
        request, search, progress, bounds=UseOfBounds.REFUSED if several or most else UseOfBounds.SEARCHED
    )
    page = _sources(request) if asked["report"] else None
    run = Run(
        *(subject, options, prepare_folder(output), progress, shown, not no_replay, junit, page, style),
        with_coverage=asked["coverage"],
        asked=request.words,
    )
    if subject.library is not None:
        return generate_bounded(run)
    if several:
        return generate_chains(run)
    return generate_chain(run, _find(most))


def _sources(request: Request) -> str:
    """The folder from which the names of the sources are told."""
    return request.path if os.path.isdir(request.path) else os.path.dirname(request.path) or "."


def _find(most: bool) -> Find:
    from chaincover.partition.maximum_coverage import generate_all_or_most, generate_most

    return generate_most if most else generate_all_or_most


def generate_chain(run: Run, find: Find) -> int:
    """Search one chain, write, replay and show it; the exit code."""
    answers = Answers[ChainResult](
        write=lambda best: OneChain(run, best, finished=False).write(),
        described=described,
        chains=lambda best: (best.chain, best.requirements.rulings),
        figures=figures,
    )
    saving = Saving(run.progress, answers, run.folder)
    result = searched(run, saving, find, lambda reason: not_begun(run.subject.problem, run.options, reason))
    run.progress.better(described(result), figures(result))
    stage = run.progress.at
    nothing = result.chain is None and not result.tests
    no_step = find_dead_end(run, [result]) if nothing or _missed(result) else None
    return deliver(OneChain(run, result, no_step), stage)


def generate_bounded(run: Run) -> int:
    """Search one chain where only bounds are known of functions of the C library; the exit code.

    Nothing is on disk before the end, for only then it is known what the compiled original covers: the search runs it,
    whether or not the chain is replayed once more.
    """
    from chaincover.bounded import BoundedSearch
    from chaincover.target.original import built_once

    with run.progress.stage("search"), built_once(run.subject.model, True) as original:
        search = BoundedSearch(run.subject, run.options, original)
        result = search.find(Silent(run.progress))
    run.progress.better(described(result))
    return deliver(OneChain(replace(run, subject=search.subject), result), run.progress.at)


def generate_chains(run: Run) -> int:
    """Search several chains, write, replay and show them; the exit code."""
    from chaincover.partition.several import generate_several, none_begun

    answers = Answers[SeveralChains](
        write=lambda best: Several(run, best, finished=False).write(),
        described=several_described,
        chains=lambda best: ([result.chain for result in best.results], best.requirements.rulings),
        figures=_several_figures,
    )
    saving = Saving(run.progress, answers, run.folder)
    found = searched(run, saving, generate_several, lambda reason: none_begun(run.subject.problem, reason))
    run.progress.better(several_described(found), _several_figures(found))
    stage = run.progress.at
    no_step = find_dead_end(run, found.results) if not found.results or _missed(found) else None
    return deliver(Several(run, found, no_step), stage)


def searched(run: Run, saving: Saving[T], find: Callable[..., T], not_begun: Callable[[str], T]) -> T:
    """What is found; where a limit or a signal ends that in the midst of something, the best answer so far.

    ``not_begun`` makes the answer of a search that has found nothing.
    """
    try:
        with saving.kept(), run.progress.stage("search"), ending.interruptible():
            return find(run.subject.problem, run.options, saving)
    except (LimitReached, MemoryError, KeyboardInterrupt) as error:
        limit = getattr(error, "limit", MemoryLimitReached.limit)
        ending.call_off(str(error) or INTERRUPT if isinstance(error, KeyboardInterrupt) else limit)
    found, stopped_by = saving.latest(), ending.called_off()
    return not_begun(stopped_by) if found is None else replace(found, stopped_by=stopped_by)


def _missed(found: ChainResult | SeveralChains) -> bool:
    """Whether a goal is not covered, and no limit that ended the run early is to blame."""
    return not found.stopped_by and any(verdict.status != COVERED for verdict in found.verdicts)


def find_dead_end(run: Run, found: Sequence[ChainResult]) -> DeadEnd | None:
    """Why no run goes on after some number of steps, which rules out goals; None where that is not so.

    The whole system is asked about: what the goals do not depend on may be to blame. The results ``found`` may
    know the longest run through all reachable states.
    """
    from chaincover.check import undefined_behaviour
    from chaincover.requirements.deciding import EFFORT

    if ending.called_off():
        return None
    options = run.options
    known = [each.answered.longest_run for each in found if each.answered.longest_run is not None]
    effort = EFFORT if options.effort is None else min(EFFORT, AFTER * options.effort)
    limits = Limits(options.time_limit, options.query_limit, effort)
    with run.progress.stage("dead end"), suppress(LimitReached, KeyboardInterrupt), ending.interruptible():
        engine = choose_engine(options.engine, options.memory_limit)
        limits.watch(engine)
        return undefined_behaviour.find_dead_end(run.subject.system, engine, limits, min(known, default=None))
    return None


def _several_figures(found: SeveralChains) -> Figures:
    """The figures of an answer of several chains."""
    covered = sum(1 for verdict in found.verdicts if verdict.status == COVERED)
    return Figures(covered, found.length if found.results else None, found.bounds.lower)


def several_described(found: SeveralChains) -> str:
    """The best chains so far in a line."""
    chains = counted(len(found.results), "chain")
    steps = f"{counted(found.length, 'step')} in all"
    proved = f"none below {found.bounds.lower}" if found.bounds.lower else "no lower bound yet"
    return f"{goals_covered(found.verdicts)} by {chains} of {steps}, {proved}{can_fail(found.requirements)}"
