"""The command ``export``: chains for benches, questions and claims for the model checkers of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from bmc import ending
from bmc.errors import InputRefused, Location, UsageError, counted
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.chain import COVERED, Hit
from chaincover.cli.entry import closing
from chaincover.cli.help import PLACE, Command
from chaincover.cli.options import (
    COUNT,
    Shown,
    held_request_options,
    no_goal,
    overlap_option,
    read_controller,
    shown_options,
    table_options,
    time_option,
)
from chaincover.cli.progress import Progress
from chaincover.cli.replay import one_chain, read_chain
from chaincover.exporters import exporter as writer_of
from chaincover.exporters import formats
from chaincover.exporters.claims import Claim, LeftOut, claims
from chaincover.exporters.columns import failing_requirements
from chaincover.exporters.protocol import ChainExporter, ExportedChain, Exporter, Question, Statement, TestExporter
from chaincover.exporters.questions import chain_question
from chaincover.formats.chain_file import Stimulus
from chaincover.formats.document import read_document
from chaincover.formats.output import NoFolder, prepare_folder, to_json, write_texts
from chaincover.formats.recorded_subject import load_for
from chaincover.formats.table_style import TableStyle
from chaincover.formats.writer import tool_version
from chaincover.limits import Limits
from chaincover.problem import Problem
from chaincover.project.bench import Bench
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.subject import Subject
from chaincover.target.judge import Claims, judge_goals
from chaincover.target.sight import WholeRun

SCHEMA = "chaincover/export/1"
EXPORTED_SCHEMA = "chaincover/exported/1"
INDEX = "index.json"
LONGEST = 80
"""Characters of a file's name that come from a claim."""
CHAIN = "chain"
"""The kind of the question for a whole chain."""

Index = dict[str, Any]
"""What a result's index says, and ``--json`` prints."""


@dataclass(frozen=True)
class Tools:
    """Who writes, who is told of progress, and the limits that end the command: nothing is written then."""

    writer: Exporter
    progress: Progress
    limits: Limits


Asked = tuple[str | None, int | None]
"""The overlap and the greatest length that options ask for."""


def _of_project(request: Request, asked: Asked, place: Path, tools: Tools, head: Index) -> Index:
    """Write the question for a chain of the project to the file ``place``."""
    overlap, most = asked
    if place.is_dir():
        raise NoFolder("this is a folder", Location(str(place)), "name a file: -o FILE")
    prepare_folder(str(place.parent))
    subject = read_controller(request, tools.progress)
    if not subject.goals and subject.final is None:
        raise no_goal(subject)
    with tools.progress.stage("export"), ending.interruptible():
        tools.limits.check()
        problem = replace(subject.problem, overlap=overlap or subject.settings.overlap)
        problem.check_names()
        frames = None if most is None else most + 1
        question = chain_question(problem, _no_chain(problem, most), frames)
        content = tools.writer.write(question)
        tools.limits.check()
    closing()
    return _write_question(place, {**head, "controller": problem.system.name}, question, content)


def _no_chain(problem: Problem, most: int | None) -> Statement:
    """That the problem has no chain of at most so many steps; of any length for None."""
    number = len(problem.goals)
    goals = "the goal" if number == 1 else f"all {counted(number, 'goal')}"
    end = "" if problem.final is None else f"{',' * problem.forbid} and ends in the final condition"
    steps = "" if most is None else f" of {counted(most, 'step')} or fewer"
    apart = ", no two of which share a step" if problem.forbid else ""
    return Statement(CHAIN, problem.system.name, f"no chain{steps} covers {goals}{apart}{end}")


def _of_result(request: Request, chain: str, folder: Path, tools: Tools, head: Index) -> Index:
    """Write the claims of a result into ``folder``."""
    place = Path(one_chain(chain))
    document = read_document(place)
    prepare_folder(str(folder))
    with tools.progress.stage("read"), ending.interruptible():
        subject = load_for(document, request, UseOfBounds.REFUSED)
        ending.reads(str)
    with tools.progress.stage("export"), ending.interruptible():
        found = list(_each_written(claims(subject.problem, document), tools))
    closing()
    return _write_claims(folder, {**head, "controller": subject.system.name}, found)


@click.command(name="export", cls=Command)
@held_request_options
@click.argument("chain", metavar="[CHAIN]", type=PLACE, required=False)
@overlap_option
@click.option("--max-length", type=COUNT, metavar="STEPS", help="Ask for a chain of so many steps at most.")
@click.option("--format", "form", type=click.Choice([*formats()]), default="aiger", show_default=True)
@table_options
@click.option(
    "-o", "--output", metavar="PLACE", type=PLACE, required=True, help="The file to write; with CHAIN the folder."
)
@time_option
@shown_options
@ending.uninterrupted()
def command(
    request: Request,
    shown: Shown,
    chain: str | None,
    overlap: str | None,
    max_length: int | None,
    form: str,
    output: str,
    time_limit: float | None,
    **layout: Any,
) -> int:
    """Write a chain for a bench, or the question whether there is a chain, for model checkers.

    Formats of chains write CHAIN (chain.json, its folder, or a table of inputs such as violation-NAME.csv) into a
    folder of files. Those of questions write one of which a run of k steps to a bad state is a chain.

    The formats c, ctest and pytest write tests. They fail where a value deviates from the chain, and where a
    requirement fails on it: by what the harness sees, else by all values that it compares being those of the chain.
    After a repair of the program the chain is exported again.

    With CHAIN (chain.json or its folder) instead what this result claims that no run does, a file each, into a folder
    with an index. Goals, final condition and macros are those that CHAIN names, unless options name others.
    """
    writer = _with_style(writer_of(form), form, layout)
    if isinstance(writer, ChainExporter):
        if chain is None or overlap is not None or max_length is not None:
            raise UsageError(f"the format {form} is one of chains", hint="name the project and a chain: PROJECT CHAIN")
        return _chain(request, shown, chain, Path(output), writer)
    tools = Tools(writer, shown.progress(), Limits(time_limit))
    head = {"tool": {"name": "chaincover", "version": tool_version()}, "format": form}
    if chain is None:
        index = _of_project(request, (overlap, max_length), Path(output), tools, head)
        told = f"{output}: {index['questions'][0]['text']}"
    elif overlap is not None or max_length is not None:
        raise UsageError("a result has its own overlap and greatest length", hint="leave these options out")
    else:
        index = _of_result(request, chain, Path(output), tools, head)
        left = len(index["left_out"])
        told = f"{output}: {counted(len(index['questions']), 'claim')}" + (
            f", {left} left out: see {INDEX}" if left else ""
        )
    tools.progress.done()
    if shown.as_json:
        click.echo(to_json(index), nl=False)
    elif shown.text:
        click.echo(f"written to {told}")
    return 0


def _with_style(writer: ChainExporter | Exporter, form: str, given: Mapping[str, Any]) -> ChainExporter | Exporter:
    """``writer`` with what the options say of tables. UsageError where it writes none."""
    named = [name for name, value in given.items() if value]
    if not named:
        return writer
    if form != "csv":
        option = f"--{named[0].replace('_', '-')}"
        raise UsageError(f"{option} belongs to the format csv", hint="add --format csv, or leave the option out")
    from chaincover.exporters.table import Table

    return Table(TableStyle.of(given["delimiter"], given["decimal_comma"], given["changes_only"]))


def _chain(request: Request, shown: Shown, chain: str, folder: Path, writer: ChainExporter) -> int:
    """Write a chain for a bench into ``folder``."""
    place = one_chain(chain)
    bench = request.project().target or Bench()
    read = read_chain(request, shown, place)
    subject, stimulus = read.subject, read.stimulus
    with read.progress.stage("export"), ending.interruptible():
        simulator = Simulator(subject.system)
        run = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
        hits = _hits(subject, run, stimulus)
        signals = bench.of(subject.system)
        exported = ExportedChain(subject, run, hits, stimulus.initial, Path(place).name, signals)
        files = writer.files(exported)
        failing = [*_failing(writer, exported)]
    closing()
    prepare_folder(str(folder))
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    write_texts({folder / name: [content] for name, content in files.items()})
    read.progress.done()
    if shown.as_json:
        head = {"schema": EXPORTED_SCHEMA, "tool": {"name": "chaincover", "version": tool_version()}}
        data = {**head, "controller": subject.system.name, "files": [*files], "failing": failing}
        click.echo(to_json(data), nl=False)
    elif shown.text:
        for each in failing:
            click.echo(each["told"])
        click.echo(f"written to {folder}: {', '.join(files)}")
    return 0


def _failing(writer: ChainExporter, exported: ExportedChain) -> Iterator[dict[str, Any]]:
    """The requirements that fail on the run of a chain: the goal of each, the first step, and what is told of it."""
    found = failing_requirements(exported)
    plain = (f"requirement {each.goal.name} fails at step {each.step} of this run" for each in found)
    told = writer.failing(exported) if isinstance(writer, TestExporter) else plain
    for each, text in zip(found, told, strict=True):
        yield {"goal": each.goal.name, "step": each.step, "told": text}


def _hits(subject: Subject, run: Run, stimulus: Stimulus) -> tuple[Hit, ...]:
    """Where the run covers goals. InputRefused where that is not what the chain says of itself."""
    claims = Claims(stimulus.claimed, stimulus.asked)
    judged = [*judge_goals(subject.system, subject.goals, WholeRun(subject.system, run), claims)]
    for each in judged:
        if each.claimed is not None and each.step != each.claimed:
            text = f"the chain covers '{each.goal}' at step {each.claimed}, and the program does not"
            raise InputRefused(text, Location(stimulus.source), "generate it again: the sources have changed")
    held = {each.goal: each.consequent_held for each in judged}
    steps = {each.goal: each.step for each in judged if each.verdict == COVERED and each.step is not None}
    return tuple(Hit(goal, step, held[goal]) for goal, step in sorted(steps.items(), key=lambda hit: hit[1]))


# files


def _write_question(place: Path, head: Index, question: Question, content: bytes) -> Index:
    """Write a question as ``content`` to ``place``, and return its index, which begins with ``head``.

    CannotWrite if that fails.
    """
    write_texts({place: [content]})
    return {"schema": SCHEMA, **head, "questions": [_entry(place.name, question)], "left_out": []}


@dataclass(frozen=True)
class _Written:
    """A question as its file has it."""

    entry: dict[str, Any]
    content: bytes


def _each_written(claims: Iterable[Claim], tools: Tools) -> Iterator[_Written | LeftOut]:
    """Each of ``claims`` with the content of its file; what is left out as it is. Progress is told each name."""
    number = 0
    for claim in claims:
        tools.limits.check()
        if isinstance(claim, LeftOut):
            yield claim
            continue
        number += 1
        name = f"{number:04}-{_name(claim)}.{claim.bound}{tools.writer.suffix}"
        tools.progress(name)
        yield _Written(_entry(name, claim), tools.writer.write(claim))


def _write_claims(folder: Path, head: Index, found: Sequence[_Written | LeftOut]) -> Index:
    """Write what is ``found`` of claims into ``folder``, and return their index, which begins with ``head``.

    All files are finished before the first is put in its place. CannotWrite if that fails.
    """
    files = [each for each in found if isinstance(each, _Written)]
    left_out = [asdict(each) for each in found if isinstance(each, LeftOut)]
    index = {"schema": SCHEMA, **head, "questions": [each.entry for each in files], "left_out": left_out}
    texts: dict[Path, str | list[bytes]] = {folder / each.entry["file"]: [each.content] for each in files}
    write_texts({**texts, folder / INDEX: to_json(index)})
    return index


def _entry(name: str, question: Question) -> Index:
    statement, frames = question.statement, question.frames
    bound = "ever" if frames is None else frames
    return {"file": name, "kind": statement.kind, "text": statement.text, "frames": bound}


def _name(question: Question) -> str:
    """What the question is about, in characters that every file system has."""
    statement = question.statement
    return re.sub(r"[^A-Za-z0-9_.]+", "-", f"{statement.kind}-{statement.title}")[:LONGEST].strip("-.")
