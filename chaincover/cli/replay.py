"""The command ``replay``: a chain, or inputs written by hand, on the compiled original."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.ending import CALLED_OFF, INTERRUPT, ExitCode
from bmc.errors import InputRefused, Location, NoOriginal, UsageError, counted
from bmc.native.mathematics import Library
from bmc.native.original import loaded
from bmc.records import dataclass
from bmc.system.original import Original
from bmc.system.transition import Run, TransitionSystem, ValueType
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import Shown, coverage_option, junit_option, request_options, shown_options, time_option
from chaincover.cli.progress import Progress
from chaincover.formats import chain_file
from chaincover.formats.chain_file import (
    Recorded,
    RecordedGoal,
    chain_files,
    known,
    missing_criteria,
    read_recorded,
    unreadable,
)
from chaincover.formats.document import CHAINS_FILE, chain_place
from chaincover.formats.output import to_json, write_text
from chaincover.formats.recorded_subject import changed_sources
from chaincover.formats.writer import sources_of
from chaincover.library import Bounded, TrueRuns
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Program, Request
from chaincover.project.project_file import refuse_project
from chaincover.report import console
from chaincover.report.console_replay import same_but_included, show_judged
from chaincover.report.documents import judged_document, judgements_document
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import replay


@click.command(name="replay", cls=Command)
@request_options
@click.argument("chain", metavar="CHAIN", type=PLACE)
@click.option(
    "--against", metavar="OTHER", type=PLACE, help="Replay on another build: a changed C file, or a shared library."
)
@click.option("--steps", is_flag=True, help="Show the steps of the run.")
@click.option("-o", "--output", metavar="FILE", type=PLACE, help="Write the judgement into this file, as JSON.")
@coverage_option
@junit_option
@time_option
@shown_options
@ending.uninterrupted()
def command(request: Request, shown: Shown, chain: str, against: str | None, **given: Any) -> int:
    """Replay CHAIN (chain.json, chains.json, their folder, or a hand-written inputs.csv) on the compiled original.

    Tells where it first differs from the chain, for each goal where it is covered and whether its consequent held.
    Goals that a chain.json was made for are looked at too where they came from options.
    """
    output, junit = given["output"], given["junit"]
    refuse_project(chain)
    _refuse_both(given["coverage"], against)
    shown.progress().code_runs(request.path)
    files = chain_files(chain)
    played, stopped_by = _all_played(request, shown, files, against)
    closing(stopped_by)
    documents = [judged_document(one.subject, chain_place(file).name, one.judged) for file, one in played.items()]
    document = to_json(judgements_document(documents, stopped_by) if len(files) > 1 else documents[0])
    if output is not None:
        write_text(Path(output), document)
    if junit is not None:
        write_text(Path(junit), _junit([*played.values()]))
    told = _measured(played, shown) if given["coverage"] else []
    if shown.as_json:
        click.echo(document, nl=False)
    elif shown.text:
        out = console.console(shown.verbose > 0)
        _show(out, played, len(files), given["steps"])
        if stopped_by:
            console.say(out, f"{console.ended_by(stopped_by)}: {len(played)} of {len(files)} chains were replayed")
        for text in told:
            console.say(out, text)
    return _exit_code({one.judged.exit_code for one in played.values()}, stopped_by)


def _all_played(
    request: Request, shown: Shown, files: Sequence[str], against: str | None
) -> tuple[dict[str, Played], str]:
    """The replays of the chains in ``files``, by file, and what stopped them, '' where all were made."""
    played: dict[str, Played] = {}
    try:
        for file in files:
            with ending.interruptible():
                one = _played(request, shown, file, against)
            played[file] = one
    except KeyboardInterrupt as error:
        if not played:
            raise
        return played, str(error) or INTERRUPT
    return played, ""


def _junit(played: Sequence[Played]) -> str:
    """What became of each goal on the replays, as JUnit."""
    from chaincover.report import junit

    return junit.junit(played[0].controller, [case for one in played for case in junit.of_judged(one.judged)])


def _refuse_both(coverage: bool, against: str | None) -> None:
    """UsageError where ``--coverage`` is asked for with ``--against``."""
    if coverage and against is not None:
        text = "--coverage measures the sources of the project, and --against replays another build"
        raise UsageError(text, hint="replay the project with the changed file itself")


def _measured(played: Mapping[str, Played], shown: Shown) -> list[str]:
    """Measure what each chain executes; what to tell of it, a line each."""
    from chaincover.cli.coverage import ToMeasure, measure_all

    chains = [ToMeasure(chain_place(file), one.subject, one.stimulus, one.judged.run) for file, one in played.items()]
    return measure_all(chains, shown.progress())


def _show(out: console.Console, played: Mapping[str, Played], asked: int, steps: bool) -> None:
    """Show each replay, with its ``steps`` or not, under the name of its file where several were ``asked`` for."""
    for file, one in played.items():
        if asked > 1:
            console.say(out, f"{Path(file).name}:")
        show_judged(out, one.subject, one.judged, steps, one.next_command)


def _exit_code(codes: Set[int], stopped_by: str) -> int:
    """The exit code of the command where those of its replays are ``codes``."""
    if stopped_by in CALLED_OFF:
        return CALLED_OFF[stopped_by]
    if ExitCode.FINDING in codes:
        return ExitCode.FINDING
    return ExitCode.LIMIT if stopped_by else max(codes)


@dataclass(frozen=True)
class Played:
    """The replay of one chain of a controller, the ``subject``, its inputs, and what to type next; '' for nothing."""

    subject: Subject
    stimulus: chain_file.Stimulus
    judged: JudgedRun
    next_command: str = ""

    @property
    def controller(self) -> str:
        """Its name."""
        return self.subject.system.name


def _played(request: Request, shown: Shown, chain: str, against: str | None) -> Played:
    """The replay of one chain; on another build where ``against`` names one."""
    read = read_chain(request, shown, chain)
    with read.progress.stage("replay"):
        if against is None:
            played = replay(read.subject, read.stimulus, read.never, kept=True)
        else:
            with other_build(request, read.subject, against) as (built, renumbered):
                played = replay(read.subject, read.stimulus, read.never, built)
            played = replace(played, against=against, renumbered=renumbered)
    played = replace(played, not_known=read.not_known, remarks=(*played.remarks, *read.notes))
    played = replace(played, changed=read.changed, included=read.included)
    read.progress.done()
    return Played(read.subject, read.stimulus, played, _next_command(request, chain, read, played, against))


def _next_command(request: Request, chain: str, read: ReadChain, played: JudgedRun, against: str | None) -> str:
    """What makes a chain beside this one for a program that has changed since, or for the sources of another build,
    where a goal is lost; '' else."""
    if not ((read.changed or against) and any(goal.lost for goal in played.goals)):
        return ""
    words = replace(request, cover=(*request.cover, *read.criteria)).words
    place = Path(chain) if Path(chain).is_dir() else Path(chain).parent
    others = (place.parent / f"{place.resolve().name}-{number}" for number in count(2))
    folder = next(other for other in others if not other.exists())
    command = shlex.join(["chaincover", "generate", *words, "-o", str(folder)])
    return f"{command} (once the sources are those of {against})" if against else command


@contextmanager
def other_build(request: Request, subject: Subject, place: str) -> Iterator[tuple[Original, tuple[str, ...]]]:
    """Another build of the program: a C file in place of the one of its name, or of the only one; or a shared library.

    A C file is read by itself: its types and places in memory are its own, and behind the build stand the enumerations
    that give other numbers there to the same names. InputRefused where that is not possible, NoOriginal without a
    compiler.
    """
    if not Path(place).is_file():
        raise InputRefused("no such file", Location(place), "name a C file or a shared library (.so)")
    if Path(place).suffix != ".c":
        native = getattr(subject.model, "native", None)
        if native is None:
            raise UsageError("this model is no C program: no other build of it can be run")
        yield loaded(native, Path(place).resolve()), ()
        return
    project = request.project()
    files = project.config.files
    same = [file for file in files if Path(file).name == Path(place).name] or (list(files) if len(files) == 1 else [])
    if not same:
        names = ", ".join(Path(file).name for file in files)
        raise InputRefused("this is the name of no source file", Location(place), f"call it as one of {names}")
    others = tuple(place if file == same[0] else file for file in files)
    folders = (*project.config.include, str(Path(same[0]).parent))
    config = replace(project.config, files=others, include=folders)
    model = Program.of(replace(project, config=config)).model
    with model.original(False) as built:
        yield built, tuple(dict.fromkeys(_renumbered(subject.system, model.system)))


def _renumbered(system: TransitionSystem, other: TransitionSystem) -> Iterator[str]:
    """The enumerations of variables of ``system`` that give other numbers in ``other`` to names that both have."""
    types = _types(other)
    for variable, own in _types(system).items():
        there = dict(types[variable].labels) if variable in types else {}
        if any(there.get(label, number) != number for label, number in own.labels):
            yield own.name if own.name != "enum" else f"the enumeration of {variable}"


def _types(system: TransitionSystem) -> dict[str, ValueType]:
    """The types of the variables of the state and of the inputs."""
    return {var.name: var.type for var in system.visible_state} | {var.name: var.type for var in system.inputs}


@dataclass(frozen=True)
class ReadChain:
    """A chain with the controller that it is for: ``never`` are the goals that it says to be unreachable, ``not_known``
    those that the program does not have, ``notes`` what was done to bring goals back, with the ``criteria`` that nobody
    gave; ``changed`` are the source files whose code is not that of the chain, ``included`` those among them that are
    the same themselves."""

    subject: Subject
    stimulus: chain_file.Stimulus
    never: tuple[str, ...]
    not_known: tuple[str, ...]
    notes: tuple[str, ...]
    criteria: tuple[str, ...]
    changed: tuple[str, ...]
    included: tuple[str, ...]
    progress: Progress

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, with that on changed files."""
        own = [name for name in self.changed if name not in self.included]
        code = [f"the code has changed since the chain was made: {', '.join(own)}"] if own else []
        return (*self.notes, *code, *(same_but_included(name) for name in self.included))


def one_chain(chain: str) -> str:
    """The file of one chain that ``chain`` names, for commands that take no more.

    InputRefused for a project, or for the summary of several chains.
    """
    refuse_project(chain)
    place = chain if chain.endswith(".csv") else str(chain_place(chain))
    if Path(place).name == CHAINS_FILE:
        text, hint = "this is the summary of several chains", "name one of their files, such as chain-1.json"
        raise InputRefused(text, Location(place), hint)
    return place


def read_chain(request: Request, shown: Shown, chain: str) -> ReadChain:
    """Read a chain, and the controller that ``request`` names with the chain's goals. Errors as in ``load_request``."""
    progress = shown.progress()
    recorded = read_recorded(chain)
    with progress.stage("read"):
        restored = restore(recorded, request)
        ending.reads(str)
    subject = restored.subject
    if chain.endswith(".jsonl"):
        from chaincover.target.log import stimulus_of_log

        stimulus = stimulus_of_log(chain, subject.below.system)
    else:
        stimulus = chain_file.read_stimulus(chain, subject.below.system, subject.value_names)
    if subject.library is not None:
        subject = replace(subject, library=with_values(subject.system, subject.library, stimulus)).below
    if request.final is not None:
        stimulus = replace(stimulus, to_final=True)
    not_known = frozenset(restored.not_known)
    claimed = {goal: step for goal, step in stimulus.claimed.items() if goal not in not_known}
    asked = None if stimulus.asked is None else stimulus.asked - not_known
    stimulus = replace(stimulus, claimed=claimed, asked=asked)
    never = tuple(goal for goal in recorded.infeasible if goal not in not_known)
    changed, included = _changed_sources(recorded, subject)
    found = restored.not_known, restored.notes, restored.criteria
    return ReadChain(subject, stimulus, never, *found, changed, included, progress)


def _changed_sources(recorded: Recorded, subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files whose code is not that which the chain was made for, and those among them that are the same themselves:
    what they include has changed, or a macro."""
    changed = tuple(changed_sources({name: code for name, (_, code) in recorded.sources.items()}, subject))
    now = {each["file"]: each["sha256"] for each in sources_of(subject)} if changed else {}
    return changed, tuple(name for name in changed if now[name] == recorded.sources[name][0])


def with_values(system: TransitionSystem, known: Bounded, stimulus: chain_file.Stimulus) -> Bounded:
    """What functions of the C library yield where ``stimulus`` calls them. InputRefused for a value outside of its
    bounds, and where there is no such library."""
    try:
        library = Library(known.calls[0].word_sizes)
    except NoOriginal as error:
        raise InputRefused(error.message, known.calls[0].where) from None
    runs = TrueRuns(system, known.calls, library)
    runs.run(Run((stimulus.initial,), stimulus.inputs))
    return replace(known, facts=runs.facts, version=library.version)


@dataclass(frozen=True, slots=True)
class Restored:
    """``controller`` with the goals brought back, except ``not_known``; ``notes`` say what was done. ``criteria`` were
    given by nobody but the chain."""

    subject: Subject
    not_known: tuple[str, ...]
    notes: tuple[str, ...]
    criteria: tuple[str, ...] = ()


def restore(recorded: Recorded, request: Request) -> Restored:
    """The controller that ``request`` names, with the goals of ``recorded`` beside its own.

    What cannot be brought back is said, never passed over. The request selects among all goals. Errors as in
    ``load_request``.
    """
    held = request.project().hold
    program = Program.of(replace(request, hold=recorded.hold).project())
    more = missing_criteria(program.project, request.cover, recorded.criteria)
    subject, more, notes = _with_criteria(program, request, more)
    if held > 1 and not recorded.goals and recorded.hold == 1:
        notes.append(f"these inputs need not be held for {held} steps, as those of generated chains")
    texts: list[str] = []
    for goal in [goal for goal in _goals_not_known(recorded, subject) if goal.readable]:
        try:
            one_more = [*texts, f"{goal.name}: {goal.text}"]
            subject = _all_goals(program, request, more, one_more)
            texts = one_more
        except InputRefused as error:
            notes.append(f"the chain's property {goal.name} cannot be read: {error.message}")
    not_known = _goals_not_known(recorded, subject)
    if request.select or request.exclude:
        chosen = request.select, request.exclude
        properties, cover = (*request.properties, *texts), (*request.cover, *more)
        subject, not_known = program.subject(properties, request.final, *chosen, cover, UseOfBounds.SEARCHED), []
    notes += _on_goals_not_known(not_known, subject)
    return Restored(subject, tuple(goal.name for goal in not_known), tuple(notes), tuple(more))


def _on_goals_not_known(goals: Sequence[RecordedGoal], subject: Subject) -> Iterator[str]:
    """What is said of goals of a chain that the program does not have: those whose code reads otherwise now, and those
    that are at no place of the source any more."""
    now = {goal.name: goal.text for goal in subject.goals}
    changed = [goal for goal in goals if goal.name in now]
    if changed:
        first, place = changed[0], f"the place of {counted(len(changed), 'goal')}"
        was = f"{first.name} was '{first.text}', and is '{now[first.name]}' now"
        yield f"other code stands at {place}: {was}; not looked at: {', '.join(goal.name for goal in changed)}"
    if gone := [goal for goal in goals if goal.name not in now]:
        why = "; names of generated goals hold line and column of the source that the chain was made for"
        names = [goal.name for goal in gone]
        generated = any(goal.generated for goal in gone)
        yield f"the program has no goal {', '.join(names)}: not looked at{why if generated else ''}"


def _with_criteria(program: Program, request: Request, more: list[str]) -> tuple[Subject, list[str], list[str]]:
    """The controller with the recorded criteria that can be read, these, and a note on each other one."""
    notes: list[str] = []
    while True:
        try:
            return _all_goals(program, request, more), more, notes
        except InputRefused as error:
            guilty = unreadable(error, request.cover, more)
            if not guilty:
                raise
            more = [text for text in more if text != guilty]
            notes.append(f"the chain's criterion {guilty} cannot be read: {error.message}")


def _all_goals(program: Program, request: Request, more: Sequence[str], texts: Sequence[str] = ()) -> Subject:
    """The controller with all goals, also those of the criteria ``more`` and of the properties ``texts``."""
    return program.subject(
        (*request.properties, *texts), request.final, criteria=(*request.cover, *more), bounds=UseOfBounds.SEARCHED
    )


def _goals_not_known(recorded: Recorded, subject: Subject) -> list[RecordedGoal]:
    return [goal for goal in recorded.goals if not known(goal, subject)]
