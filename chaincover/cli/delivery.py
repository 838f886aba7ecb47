"""Answers of ``generate`` on their way to files, to the compiled original and to the terminal.

One chain and several chains are written and shown by a class each; the order of the steps is the same for both.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import count, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from bmc import ending
from bmc.ending import CALLED_OFF, ExitCode
from bmc.errors import ChainCoverError
from bmc.records import dataclass
from chaincover.chain import COVERED, UNDECIDED
from chaincover.cli.entry import closing, what_ended
from chaincover.cli.options import Shown
from chaincover.cli.progress import Progress
from chaincover.formats import chain_file
from chaincover.formats.chain_file import coverage_place, violation_file
from chaincover.formats.output import CannotWrite, json_parts, to_json, write_text, write_texts
from chaincover.formats.table_style import TableStyle
from chaincover.formats.writer import chain_document, chains_document
from chaincover.options import Options
from chaincover.report import console
from chaincover.report import documents as results
from chaincover.report.console_generate import Asked, part_of, show_result, show_several, show_written
from chaincover.result import ChainResult, Requirements, SeveralChains
from chaincover.subject import Subject
from chaincover.verdicts import infeasible

if TYPE_CHECKING:
    from bmc.engines.dead_ends import DeadEnd
    from bmc.system.original import Original
    from chaincover.target.judge import JudgedRun

REPLAYED = 10_000
"""Steps of a chain that is replayed though the run was called off. Twice as many: longer chains have their replay, and
less time is left for writing them where it is cut."""

REPLAY_SECONDS = 5.0
"""Seconds for the replays of a run that was called off, from then on; what they do not suffice for is left out.
Coverage may be measured for as long again."""

T = TypeVar("T", ChainResult, SeveralChains)

Replays = Sequence["JudgedRun | None"]


@dataclass(frozen=True)
class Run:
    """One run of the command: for what, with which settings, and where its files go.

    ``page``: the folder of the sources where a report is wanted, else None. ``asked``: the words that name the project
    on the command line.
    """

    subject: Subject
    options: Options
    folder: Path
    progress: Progress
    shown: Shown
    with_replay: bool
    junit: str | None = None
    page: str | None = None
    style: TableStyle = TableStyle()
    with_coverage: bool = False
    asked: Sequence[str] = ()


@dataclass(frozen=True)
class Delivery(ABC, Generic[T]):
    """An answer, and how it is written and shown; ``no_step`` says why no run goes on.

    ``finished``: the search has ended.
    """

    run: Run
    found: T
    no_step: DeadEnd | None = None
    finished: bool = True

    @property
    @abstractmethod
    def length(self) -> int:
        """Steps of all its chains."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[tuple[Subject, ChainResult]]:
        """Its results for one chain, each with the subject that has the goals of the chain alone."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The file of each chain."""

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The answer as plain data."""

    @abstractmethod
    def files(self, problems: Sequence[ChainCoverError]) -> list[str]:
        """The files to tell of, once all are written, where ``problems`` stopped replays."""

    @abstractmethod
    def write(self, played: Replays = (), violated: Mapping[str, JudgedRun] = results.NOTHING_REPLAYED) -> None:
        """Write its files, all whole or none at all, and remove those of earlier runs."""

    @abstractmethod
    def runs(self, played: Replays, violated: Mapping[str, JudgedRun]) -> dict[Path, Iterable[str]]:
        """The files that differ from run to run, with the replays: all else stays as it is."""

    @abstractmethod
    def show(self, out: console.Console, asked: Asked, played: Replays) -> None:
        """Show it on the terminal."""

    @abstractmethod
    def exit_code(self, played: Replays) -> int:
        """The exit code of the command."""


class OneChain(Delivery[ChainResult]):
    """One chain in ``chain.json`` and ``chain.csv``, or why there is none."""

    @property
    def length(self) -> int:
        return 0 if self.found.chain is None else self.found.chain.length

    @property
    def parts(self) -> Sequence[tuple[Subject, ChainResult]]:
        return [(self.run.subject, self.found)]

    @property
    def names(self) -> Sequence[str]:
        return ["chain.json"] if self.found.chain else []

    @cached_property
    def document(self) -> dict[str, Any]:
        return chain_document(self.run.subject, self.found, self.finished, no_step=self.no_step)

    def files(self, problems: Sequence[ChainCoverError]) -> list[str]:
        table = ["chain.csv"] if self.found.chain else []
        return ["chain.json, run.json", *table, *_tables(self.found.requirements)]

    def write(self, played: Replays = (), violated: Mapping[str, JudgedRun] = results.NOTHING_REPLAYED) -> None:
        folder, found = self.run.folder, self.found
        table = folder / "chain.csv"
        texts: dict[Path, Iterable[str]] = {folder / "chain.json": json_parts(self.document)}
        if found.chain is not None:
            texts[table] = chain_file.csv_lines(self.run.subject, found.chain, self.run.style)
        texts |= self.runs(played, violated)
        texts |= _violations(self.run, found.requirements)
        write_texts(texts)
        _remove_violations(self.run, found.requirements)
        coverage_place(folder / "chain.json").unlink(missing_ok=True)
        if found.chain is None:
            table.unlink(missing_ok=True)
        if (folder / "chains.json").exists():  # of an earlier run for several chains
            (folder / "chains.json").unlink(missing_ok=True)
            _remove_chains(folder, 1)

    def runs(self, played: Replays, violated: Mapping[str, JudgedRun]) -> dict[Path, Iterable[str]]:
        own = played[0] if played else None
        data = results.run_document(self.run.subject, self.found, own, self.run, violated)
        return {self.run.folder / "run.json": json_parts(data)}

    def show(self, out: console.Console, asked: Asked, played: Replays) -> None:
        show_result(out, asked, self.found, played[0])

    def exit_code(self, played: Replays) -> int:
        return results.exit_code(self.run.subject, self.found, played[0], self.no_step)


class Several(Delivery[SeveralChains]):
    """Several chains in files with numbers, and ``chains.json`` about all."""

    @property
    def length(self) -> int:
        return self.found.length

    @cached_property
    def parts(self) -> Sequence[tuple[Subject, ChainResult]]:
        return [(part_of(self.run.subject, result), result) for result in self.found.results]

    @property
    def names(self) -> Sequence[str]:
        return [f"chain-{number}.json" for number in range(1, len(self.found.results) + 1)]

    @cached_property
    def document(self) -> dict[str, Any]:
        return chains_document(self.run.subject, self.run.options, self.found, self.finished, self.no_step)

    def files(self, problems: Sequence[ChainCoverError]) -> list[str]:
        each = ["chain-N.json, chain-N.csv, run-N.json"] if self.found.results else []
        return [] if problems else ["chains.json", *each, *_tables(self.found.requirements)]

    def write(self, played: Replays = (), violated: Mapping[str, JudgedRun] = results.NOTHING_REPLAYED) -> None:
        folder = self.run.folder
        texts: dict[Path, Iterable[str]] = {}
        for name, (part, result) in zip(self.names, self.parts, strict=True):
            assert result.chain is not None
            texts[folder / name] = json_parts(chain_document(part, result, self.finished))
            texts[(folder / name).with_suffix(".csv")] = chain_file.csv_lines(part, result.chain, self.run.style)
        texts |= self.runs(played, violated)
        texts[folder / "chains.json"] = json_parts(self.document)
        texts |= _violations(self.run, self.found.requirements)
        write_texts(texts)
        _remove_violations(self.run, self.found.requirements)
        _remove_chains(folder, len(self.found.results) + 1)
        for name in ("chain.json", "chain.csv", "run.json"):  # of an earlier run for one chain
            (folder / name).unlink(missing_ok=True)
        for name in ("chain.json", *self.names):
            coverage_place(folder / name).unlink(missing_ok=True)

    def runs(self, played: Replays, violated: Mapping[str, JudgedRun]) -> dict[Path, Iterable[str]]:
        texts: dict[Path, Iterable[str]] = {}
        for number, ((part, result), own) in enumerate(zip_longest(self.parts, played), 1):
            data = results.run_document(part, result, own, self.run)
            texts[self.run.folder / f"run-{number}.json"] = json_parts(data)
        return texts

    def show(self, out: console.Console, asked: Asked, played: Replays) -> None:
        show_several(out, asked, self.found, played)

    def exit_code(self, played: Replays) -> int:
        found = self.found
        if not found.results and self.no_step is not None and not found.requirements.findings:
            return ExitCode.NOT_COVERED
        return _exit_code(self.run.subject, found, played)


def deliver(delivery: OneChain | Several, stage: str) -> int:
    """Write, replay and show an answer; the exit code. The search has ended in ``stage``."""
    run, found = delivery.run, delivery.found
    closing(found.stopped_by, bounded=False)
    early = run.shown.text and too_long(delivery.length)
    written = bool(ending.called_off()) and not early and _written(run, delivery.write)
    replays = _replayed(delivery)
    run.progress.done()
    stopped_by = what_ended(found.stopped_by, replays.missing)
    asked = Asked(
        run.subject,
        run.options,
        run.folder,
        delivery.no_step,
        "",
        replays.violated,
        replays.missing,
        stage,
        stopped_by,
    )
    out = console.console(run.shown.verbose > 0)
    if early:  # writing it takes a while
        delivery.show(out, asked, replays.played)
        sys.stdout.flush()
    errors: list[ChainCoverError] = [*replays.problems]
    try:
        if written:
            write_texts(delivery.runs(replays.played, replays.violated))
        else:
            delivery.write(replays.played, replays.violated)
        asked = replace(asked, written=", ".join(delivery.files(errors)))
        if run.junit is not None:
            write_text(Path(run.junit), _junit(delivery, replays.played))
    except CannotWrite as error:
        errors.insert(0, error)
    if run.shown.as_json and not errors:
        click.echo(to_json(delivery.document), nl=False)
    elif early:
        show_written(out, asked)
    elif run.shown.text:
        delivery.show(out, asked, replays.played)
    sys.stdout.flush()
    if errors:
        raise errors[0]
    for text in _measured(delivery, replays.played):
        console.say(out, text)
    _write_page(run, out)
    return delivery.exit_code(replays.played)


def _junit(delivery: OneChain | Several, played: Replays) -> str:
    """What became of each goal and requirement, and on the replays, as JUnit."""
    from chaincover.report.junit import junit, of_answer, of_judged

    subject, found = delivery.run.subject, delivery.found
    cases = of_answer(subject.goals, found.verdicts, found.requirements.rulings)
    cases += [case for own in played if own is not None for case in of_judged(own)]
    return junit(subject.system.name, cases)


def _write_page(run: Run, out: console.Console) -> None:
    """Write the report beside the result that is written and told, where it is wanted. CannotWrite if that fails."""
    if run.page is None:
        return
    from chaincover.cli.report import REPORT, made

    write_text(run.folder / REPORT, made([str(run.folder)], run.page)[0])
    if run.shown.text:
        console.say(out, f"written to {run.folder}/: {REPORT}")


def _measured(delivery: OneChain | Several, played: Replays) -> list[str]:
    """Measure what the chains execute, where that is wanted; what to tell of it on the terminal."""
    run = delivery.run
    if not run.with_coverage:
        return []
    from chaincover.cli.coverage import ToMeasure, measure_all

    chains = []
    for (part, result), name, own in zip(delivery.parts, delivery.names, played, strict=False):
        assert result.chain is not None
        stimulus = chain_file.stimulus_of(part.system, result.chain)
        chains.append(ToMeasure(run.folder / name, part, stimulus, None if own is None else own.run))
    lines = measure_all(chains, run.progress, 2 * REPLAY_SECONDS) or ["coverage was not measured: there is no chain"]
    return lines if run.shown.text else []


@dataclass(frozen=True)
class _Replayed:
    """The replay of each chain, and of violations by goal; the ``problems`` that stopped some, and the files that are
    ``missing`` a replay because the run was called off."""

    played: Replays
    violated: Mapping[str, JudgedRun]
    problems: Sequence[ChainCoverError]
    missing: list[str]


def _replayed(delivery: OneChain | Several) -> _Replayed:
    """Replay all runs of an answer on the compiled original."""
    from chaincover.target.original import built_once

    run, requirements = delivery.run, delivery.found.requirements
    with built_once(run.subject.model, True) as original:
        tried = [try_replay(run, part, result, original) for part, result in delivery.parts]
        violated, other = replay_violations(run, requirements, original)
    played = [own for own, _ in tried]
    problems = [problem for problem in (*(problem for _, problem in tried), other) if problem is not None]
    chains = {name: own or problem for name, (own, problem) in zip(delivery.names, tried, strict=False)}
    missing = _unplayed(run, {**chains, **_violations_played(requirements, violated, other)})
    return _Replayed(played, violated, problems, missing)


def _written(run: Run, write: Callable[[], None]) -> bool:
    """Write the result, before all that may take long; where that fails it is told when it fails once more."""
    with suppress(CannotWrite):
        write()
        ending.keeps(f"{run.folder}/")
        return True
    return False


def try_replay(
    run: Run, part: Subject, result: ChainResult, original: Callable[[], Original | None]
) -> tuple[JudgedRun | None, ChainCoverError | None]:
    """The replay of the chain of ``result``, where it is wanted, or why there is none that was wanted.

    ``part`` is the subject with the goals of the chain; ``original`` gives the original of both.
    """
    if result.chain is None or not run.with_replay or too_long(result.chain.length):
        return None, None
    from chaincover.target.original import replay

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
) -> tuple[dict[str, JudgedRun], ChainCoverError | None]:
    """The replays of the runs that violate properties, by goal, where they are wanted, and what stopped them."""
    played: dict[str, JudgedRun] = {}
    if not run.with_replay or not found.failures or too_long(sum(each.run.length for each in found.failures)):
        return played, None
    from chaincover.target.original import replay_each

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
    found: Requirements, violated: Mapping[str, JudgedRun], problem: ChainCoverError | None
) -> dict[str, JudgedRun | ChainCoverError | None]:
    """The replay of each file of a run that violates a property, or why there is none; None where neither is known."""
    names = (failure.goal for failure in found.failures)
    return {name: violated.get(goal) or problem for goal, name in zip(names, _tables(found), strict=True)}


def _unplayed(run: Run, replays: Mapping[str, JudgedRun | ChainCoverError | None]) -> list[str]:
    """The files of ``replays`` without a replay that was wanted, where the run was called off and nothing else is the
    reason."""
    wanted = run.with_replay and ending.called_off()
    return [name for name, own in replays.items() if own is None] if wanted else []


def _tables(found: Requirements) -> list[str]:
    """The names of the files of the runs that violate properties."""
    return [violation_file(failure.goal) for failure in found.failures]


def _violations(run: Run, found: Requirements) -> dict[Path, Iterable[str]]:
    """The files of the runs that violate properties, each with its lines."""
    subject = run.subject
    texts = (chain_file.violation_lines(subject, failure, run.style) for failure in found.failures)
    return {run.folder / name: text for name, text in zip(_tables(found), texts, strict=True)}


def _remove_violations(run: Run, found: Requirements) -> None:
    """Remove the files of violations of an earlier run."""
    for place in run.folder.glob(violation_file("*")):
        if place.name not in _tables(found):
            place.unlink(missing_ok=True)


def _remove_chains(folder: Path, first: int) -> None:
    """Remove the files of chains from number ``first`` on, which an earlier run has left."""
    for number in count(first):
        old = [folder / f"chain-{number}.json", folder / f"chain-{number}.csv", folder / f"run-{number}.json"]
        coverage_place(old[0]).unlink(missing_ok=True)
        if not any(place.exists() for place in old):
            return
        for place in old:
            place.unlink(missing_ok=True)


def _exit_code(subject: Subject, found: SeveralChains, played: Replays) -> int:
    """The gravest: called off, a finding, a goal left open, goals not covered (but for generated unreachable ones)."""
    if found.stopped_by in CALLED_OFF:
        return CALLED_OFF[found.stopped_by]
    if found.requirements.findings:
        return ExitCode.FINDING
    runs = zip(found.results, played, strict=True)
    codes = [results.exit_code(part_of(subject, result), result, own) for result, own in runs]
    if 1 in codes:
        return ExitCode.FINDING
    aside = infeasible(subject.goals, found.verdicts)
    if any(v.status == UNDECIDED for v in found.verdicts):
        return ExitCode.LIMIT
    missed = not found.results or any(v.status != COVERED and v.goal not in aside for v in found.verdicts)
    return ExitCode.NOT_COVERED if missed else 0
