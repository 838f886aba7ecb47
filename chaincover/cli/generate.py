"""The command ``generate``: one chain, its files, and its replay on the compiled original.

With ``--several`` it finds as few chains as it takes, each with its own files, and a summary of all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bmc import ending
from bmc.engines import choose as choose_engine
from bmc.errors import ChainCoverError, LimitReached, MemoryLimitReached, UsageError, counted
from bmc.records import dataclass
from chaincover.chain import COVERED, UNDECIDED
from chaincover.cli.entry import closing, what_ended
from chaincover.cli.options import (
    Search,
    Shown,
    held_request_options,
    prepare,
    search_options,
    shown_options,
)
from chaincover.cli.progress import Answers, Progress, Saving, can_fail, described, goals_covered
from chaincover.formats import chain_file
from chaincover.formats.output import CannotWrite, json_parts, prepare_folder, to_json, write_texts
from chaincover.formats.writer import chain_document, chains_document
from chaincover.limits import AFTER, Limits
from chaincover.options import Options
from chaincover.pipeline import not_begun
from chaincover.problem import Problem
from chaincover.project.load import Request
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.report.console_generate import Asked, part_of, show_result, show_several, show_written
from chaincover.result import CALLED_OFF, INTERRUPT, ChainResult, Listener, Requirements, SeveralChains
from chaincover.subject import Subject
from chaincover.verdicts import infeasible
from properties.goal import VIOLATIONS

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from bmc.system.original import Original
    from chaincover.replaying.original import Replay

REPLAYED = 10_000
"""Steps of a chain that is replayed though the run was called off. Twice as many: longer chains have their replay, and
less time is left for writing them where it is cut."""
REPLAY_SECONDS = 5.0
"""Seconds for the replays of a run that was called off, from then on; what they do not suffice for is left out."""

DEAD_END_EFFORT = 1 / 12
"""Effort for the questions whether runs end for good, where a goal is not covered; less in a run of little effort."""

VIOLATION = "violation-"
"""How the names of the files begin that hold a run which violates a property."""

T = TypeVar("T")

Find = Callable[[Problem, Options, Listener], ChainResult]


@dataclass(frozen=True)
class Run:
    """One run of the command: for what, with which settings, and where its files go."""

    subject: Subject
    options: Options
    folder: Path
    progress: Progress
    shown: Shown
    with_replay: bool


@click.command(name="generate")
@held_request_options
@click.option("-o", "--output", default="chain-out", show_default=True, metavar="DIR", help="Folder for the results.")
@search_options
@click.option("--no-replay", is_flag=True, help="Do not replay the chain on the compiled original.")
@click.option("--several", is_flag=True, help="As few chains as it takes, where one cannot cover every goal.")
@click.option("--most", is_flag=True, help="The one chain that covers most goals, where it cannot cover every goal.")
@click.option("--violations", is_flag=True, help="Violations of requirements are goals too: those that can fail do so.")
@shown_options
@ending.uninterrupted()
def command(request: Request, search: Search, shown: Shown, output: str, **asked: bool) -> int:
    """Generate one chain that covers every goal; replay it on the compiled original.

    The best chain so far is on disk from the first one on.
    """
    progress = shown.progress()
    several, most, no_replay = (asked[name] for name in ("several", "most", "no_replay"))
    if asked["violations"]:
        request = replace(request, cover=(*request.cover, VIOLATIONS))
    if several and most:
        raise UsageError("--several and --most exclude each other", hint="give one of them")
    if not no_replay:
        progress.code_runs(request.path)
    subject, options = prepare(request, search, progress)
    run = Run(subject, options, prepare_folder(output), progress, shown, not no_replay)
    if several:
        return generate_chains(run)
    return generate_chain(run, _find(most))


def _find(most: bool) -> Find:
    from chaincover.partition.maximum_coverage import generate_all_or_most, generate_most

    return generate_most if most else generate_all_or_most


def generate_chain(run: Run, find: Find) -> int:
    """Search, write, replay, show; the exit code."""
    subject, progress = run.subject, run.progress
    answers = Answers[ChainResult](
        write=lambda best: _write(run, best, chain_document(subject, best, False)),
        described=described,
        chains=lambda best: (best.chain, best.requirements.rulings),
    )
    saving = Saving(progress, answers, run.folder)
    result = searched(run, saving, find, lambda reason: not_begun(subject.problem, run.options, reason))
    progress.better(described(result))
    stage = progress.at
    nothing = result.chain is None and not result.tests
    no_step = find_dead_end(run, [result]) if nothing or _missed(result) else None
    closing(result.stopped_by, bounded=False)
    document = chain_document(subject, result, no_step=no_step)
    early = run.shown.text and result.chain is not None and too_long(result.chain.length)
    written = bool(ending.called_off()) and not early and _written(run, lambda: _write(run, result, document))
    from chaincover.replaying.original import built_once

    with built_once(subject.model, True) as original:
        played, problem = try_replay(run, subject, result, original)
        violated, other = replay_violations(run, result.requirements, original)
    problem = problem or other
    progress.done()
    chains = {"chain.json": played or problem} if result.chain else {}
    unplayed = _unplayed(run, {**chains, **_violations_played(result.requirements, violated, other)})
    stopped_by = what_ended(result.stopped_by, unplayed)
    asked = Asked(subject, run.options, run.folder, no_step, "", violated, unplayed, stage, stopped_by)
    out = console.console(run.shown.verbose > 0)
    if early:  # writing it takes a while
        show_result(out, asked, result, played)
        sys.stdout.flush()
    errors = [problem]
    try:
        if written:
            write_texts(_of_this_run(run, result, played, violated))
        else:
            _write(run, result, document, played, violated)
    except CannotWrite as error:
        errors.insert(0, error)
    if run.shown.as_json and not any(errors):
        click.echo(to_json(document), nl=False)
    elif run.shown.text:
        each = ["chain.json, run.json", *(["chain.csv"] if result.chain else []), *_tables(result.requirements)]
        asked = replace(asked, written=", ".join(each) if errors[0] is problem else "")
        if early:
            show_written(out, asked)
        else:
            show_result(out, asked, result, played)
    for stopped in errors:
        if stopped is not None:
            raise stopped
    return results.exit_code(subject, result, played, no_step)


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
    return not_begun(stopped_by) if found is None else replace(found, stopped_by=stopped_by)  # type: ignore[type-var]


def _written(run: Run, write: Callable[[], None]) -> bool:
    """Write the result, before all that may take long; where that fails it is told when it fails once more."""
    with suppress(CannotWrite):
        write()
        ending.keeps(f"{run.folder}/")
        return True
    return False


def _missed(found: ChainResult | SeveralChains) -> bool:
    """Whether a goal is not covered, and no limit that ended the run early is to blame."""
    return not found.stopped_by and any(verdict.status != COVERED for verdict in found.verdicts)


def find_dead_end(run: Run, found: Sequence[ChainResult]) -> DeadEnd | None:
    """Why no run goes on after some number of steps, which rules out goals; None where that is not so.

    The whole system is asked about: what the goals do not depend on may be to blame. The results ``found`` may
    know the longest run through all reachable states.
    """
    from chaincover.check import undefined_behaviour

    if ending.called_off():
        return None
    options = run.options
    known = [each.answered.longest_run for each in found if each.answered.longest_run is not None]
    effort = DEAD_END_EFFORT if options.effort is None else min(DEAD_END_EFFORT, AFTER * options.effort)
    limits = Limits(options.time_limit, options.query_limit, effort)
    with run.progress.stage("dead end"), suppress(LimitReached, KeyboardInterrupt), ending.interruptible():
        engine = choose_engine(options.engine, options.memory_limit)
        limits.watch(engine)
        return undefined_behaviour.find_dead_end(run.subject.system, engine, limits, min(known, default=None))
    return None


def try_replay(
    run: Run, part: Subject, result: ChainResult, original: Callable[[], Original | None]
) -> tuple[Replay | None, ChainCoverError | None]:
    """The replay of the chain of ``result``, where it is wanted, or why there is none that was wanted.

    ``part`` is the subject with the goals of the chain; ``original`` gives the original of both.
    """
    if result.chain is None or not run.with_replay or too_long(result.chain.length):
        return None, None
    from chaincover.replaying.original import replay

    try:
        with run.progress.stage("replay"), ending.interruptible(REPLAY_SECONDS):
            stimulus = chain_file.stimulus_of(part.system, result.chain)
            return replay(part, stimulus, infeasible(part.goals, result.verdicts), original()), None
    except KeyboardInterrupt:
        return None, None
    except ChainCoverError as error:
        return None, error


def too_long(steps: int) -> bool:
    """Whether the run was called off, and a chain of so many steps is too long to be replayed then."""
    return bool(ending.called_off()) and steps > REPLAYED


def replay_violations(
    run: Run, found: Requirements, original: Callable[[], Original | None]
) -> tuple[dict[str, Replay], ChainCoverError | None]:
    """The replays of the runs that violate properties, by goal, where they are wanted, and what stopped them."""
    played: dict[str, Replay] = {}
    if not run.with_replay or not found.failures or too_long(sum(each.run.length for each in found.failures)):
        return played, None
    from chaincover.replaying.original import replay_each

    try:
        with run.progress.stage("replay"), ending.interruptible(REPLAY_SECONDS):
            replays = replay_each(run.subject, found.failures, original)
            for failure, own in zip(found.failures, replays, strict=True):
                played[failure.goal] = own
    except KeyboardInterrupt:
        return played, None
    except ChainCoverError as error:
        return played, error
    return played, None


def _violations_played(
    found: Requirements, violated: Mapping[str, Replay], problem: ChainCoverError | None
) -> dict[str, Replay | ChainCoverError | None]:
    """The replay of each file of a run that violates a property, or why there is none; None where neither is known."""
    names = (failure.goal for failure in found.failures)
    return {name: violated.get(goal) or problem for goal, name in zip(names, _tables(found), strict=True)}


def _unplayed(run: Run, replays: Mapping[str, Replay | ChainCoverError | None]) -> list[str]:
    """The files of ``replays`` without a replay that was wanted, where the run was called off and nothing else is the
    reason."""
    wanted = run.with_replay and ending.called_off()
    return [name for name, own in replays.items() if own is None] if wanted else []


def _tables(found: Requirements) -> list[str]:
    """The names of the files of the runs that violate properties."""
    return [f"{VIOLATION}{failure.goal}.csv" for failure in found.failures]


def _violations(run: Run, found: Requirements) -> dict[Path, Iterable[str]]:
    """The files of the runs that violate properties, each with its lines."""
    subject = run.subject
    texts = (chain_file.violation_lines(subject, failure) for failure in found.failures)
    return {run.folder / name: text for name, text in zip(_tables(found), texts, strict=True)}


def _remove_violations(run: Run, found: Requirements) -> None:
    """Remove the files of violations of an earlier run."""
    for place in run.folder.glob(f"{VIOLATION}*.csv"):
        if place.name not in _tables(found):
            place.unlink(missing_ok=True)


def _write(
    run: Run,
    result: ChainResult,
    document: dict[str, Any],
    played: Replay | None = None,
    violated: Mapping[str, Replay] = results.NOTHING_REPLAYED,
) -> None:
    """Write the files of ``result``, all whole or none at all."""
    subject, folder = run.subject, run.folder
    table = folder / "chain.csv"
    texts: dict[Path, Iterable[str]] = {folder / "chain.json": json_parts(document)}
    if result.chain is not None:
        texts[table] = chain_file.csv_lines(subject, result.chain)
    texts |= _of_this_run(run, result, played, violated)
    texts |= _violations(run, result.requirements)
    write_texts(texts)
    _remove_violations(run, result.requirements)
    if result.chain is None:
        table.unlink(missing_ok=True)
    if (folder / "chains.json").exists():  # of an earlier run for several chains
        (folder / "chains.json").unlink(missing_ok=True)
        _remove_chains(folder, 1)


def _of_this_run(
    run: Run, result: ChainResult, played: Replay | None, violated: Mapping[str, Replay]
) -> dict[Path, Iterable[str]]:
    """The file that differs from run to run, with the replays: all else stays as it is."""
    data = results.run_document(run.subject, result, played, run.progress.seconds, violated)
    return {run.folder / "run.json": json_parts(data)}


Replays = Sequence["Replay | None"]


def generate_chains(run: Run) -> int:
    """Search, replay, write ``chains.json``, ``chain-N.json`` and ``chain-N.csv``, and show. The exit code."""
    from chaincover.partition.several import generate_several, none_begun

    answers = Answers[SeveralChains](
        write=lambda best: _write_chains(run, best, [None] * len(best.results), finished=False),
        described=several_described,
        chains=lambda best: ([result.chain for result in best.results], best.requirements.rulings),
    )
    saving = Saving(run.progress, answers, run.folder)
    found = searched(run, saving, generate_several, lambda reason: none_begun(run.subject.problem, reason))
    run.progress.better(several_described(found))
    stage = run.progress.at
    nothing = not found.results
    no_step = find_dead_end(run, found.results) if nothing or _missed(found) else None
    closing(found.stopped_by, bounded=False)
    early = run.shown.text and too_long(found.length)
    first, unplayed = bool(ending.called_off()) and not early, [None] * len(found.results)
    written = first and _written(run, lambda: _write_chains(run, found, unplayed, no_step=no_step))
    parts = [part_of(run.subject, result) for result in found.results]
    from chaincover.replaying.original import built_once

    with built_once(run.subject.model, True) as original:
        tried = [try_replay(run, part, result, original) for part, result in zip(parts, found.results, strict=True)]
        violated, other = replay_violations(run, found.requirements, original)
    played = [own for own, _ in tried]
    errors = [problem for problem in (*(problem for _, problem in tried), other) if problem is not None]
    run.progress.done()
    chains = {f"chain-{number}.json": own or problem for number, (own, problem) in enumerate(tried, 1)}
    missing = _unplayed(run, {**chains, **_violations_played(found.requirements, violated, other)})
    stopped_by = what_ended(found.stopped_by, missing)
    asked = Asked(run.subject, run.options, run.folder, no_step, "", violated, missing, stage, stopped_by)
    out = console.console(run.shown.verbose > 0)
    if early:  # writing them takes a while
        show_several(out, asked, found, played)
        sys.stdout.flush()
    try:
        if written:
            write_texts(_of_these_runs(run, found, played))
        else:
            _write_chains(run, found, played, no_step=no_step)
    except CannotWrite as error:
        errors.insert(0, error)
    if run.shown.as_json and not errors:
        click.echo(to_json(chains_document(run.subject, run.options, found, no_step=no_step)), nl=False)
    elif run.shown.text:
        each = ["chain-N.json, chain-N.csv, run-N.json"] if found.results else []
        files = "" if errors else ", ".join(["chains.json", *each, *_tables(found.requirements)])
        asked = replace(asked, written=files)
        if early:
            show_written(out, asked)
        else:
            show_several(out, asked, found, played)
    if errors:
        raise errors[0]
    if nothing and no_step is not None and not found.requirements.findings:
        return results.GOALS_NOT_COVERED
    return _exit_code(run.subject, found, played)


def several_described(found: SeveralChains) -> str:
    """The best chains so far in a line."""
    chains = counted(len(found.results), "chain")
    steps = f"{counted(found.length, 'step')} in all"
    proved = f"none below {found.bounds.lower}" if found.bounds.lower else "no lower bound yet"
    return f"{goals_covered(found.verdicts)} by {chains} of {steps}, {proved}{can_fail(found.requirements)}"


def _write_chains(
    run: Run, found: SeveralChains, played: Replays, finished: bool = True, no_step: DeadEnd | None = None
) -> None:
    """Write the files of all chains and the summary; those of chains that there are no longer are removed."""
    folder = run.folder
    texts: dict[Path, Iterable[str]] = {}
    for number, result in enumerate(found.results, 1):
        assert result.chain is not None
        part = part_of(run.subject, result)
        texts[folder / f"chain-{number}.json"] = json_parts(chain_document(part, result, finished))
        texts[folder / f"chain-{number}.csv"] = chain_file.csv_lines(part, result.chain)
    texts |= _of_these_runs(run, found, played)
    texts[folder / "chains.json"] = json_parts(chains_document(run.subject, run.options, found, finished, no_step))
    texts |= _violations(run, found.requirements)
    write_texts(texts)
    _remove_violations(run, found.requirements)
    _remove_chains(folder, len(found.results) + 1)
    for name in ("chain.json", "chain.csv", "run.json"):  # of an earlier run for one chain
        (folder / name).unlink(missing_ok=True)


def _of_these_runs(run: Run, found: SeveralChains, played: Replays) -> dict[Path, Iterable[str]]:
    """The files that differ from run to run, with the replays: all else stays as it is."""
    texts: dict[Path, Iterable[str]] = {}
    for number, (result, own) in enumerate(zip(found.results, played, strict=True), 1):
        data = results.run_document(part_of(run.subject, result), result, own, run.progress.seconds)
        texts[run.folder / f"run-{number}.json"] = json_parts(data)
    return texts


def _remove_chains(folder: Path, first: int) -> None:
    """Remove the files of chains from number ``first`` on, which an earlier run has left."""
    for number in count(first):
        old = [folder / f"chain-{number}.json", folder / f"chain-{number}.csv", folder / f"run-{number}.json"]
        if not any(place.exists() for place in old):
            return
        for place in old:
            place.unlink(missing_ok=True)


def _exit_code(subject: Subject, found: SeveralChains, played: Replays) -> int:
    """The gravest: called off, a finding, a goal left open, goals not covered (but for generated unreachable ones)."""
    if found.stopped_by in CALLED_OFF:
        return CALLED_OFF[found.stopped_by]
    if found.requirements.findings:
        return 1
    runs = zip(found.results, played, strict=True)
    codes = [results.exit_code(part_of(subject, result), result, own) for result, own in runs]
    if 1 in codes:
        return 1
    aside = infeasible(subject.goals, found.verdicts)
    if any(v.status == UNDECIDED for v in found.verdicts):
        return results.LIMIT
    missed = not found.results or any(v.status != COVERED and v.goal not in aside for v in found.verdicts)
    return results.GOALS_NOT_COVERED if missed else 0
