"""What a run executes of the controller's sources: lines as gcov counts them, and the goals of the criteria of code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from bmc.errors import NoOriginal
from bmc.native.coverage import Counted, CountedLine, counted
from bmc.system.original import NativeInterface
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.formats.chain_file import Stimulus
from chaincover.formats.coverage_file import COVERAGE_SCHEMA, lines_of
from chaincover.formats.writer import tool_version
from chaincover.subject import Subject
from properties.coverage.code import branches, conditions, mcdc
from properties.goal import Goal
from properties.monitor import Monitor


def measure(subject: Subject, stimulus: Stimulus, chain: str, run: Run | None = None) -> dict[str, Any]:
    """The content of ``coverage.json``: what ``stimulus``, from the file ``chain``, executes of the sources.

    Lines are counted on the compiled original; goals are judged on ``run``, what the original did there, or on what the
    model does where that is not known. NoOriginal where lines cannot be counted here, and for a model that is no C
    program; other errors as ``bmc.native.coverage.counted``.
    """
    native: NativeInterface | None = getattr(subject.model, "native", None)
    if native is None:
        raise NoOriginal("this model is no C program, so it has no lines")
    simulator = Simulator(subject.system)
    found = counted(native, stimulus.inputs, simulator.chosen(stimulus.initial) or None)
    names = _names(subject, native, found)
    if run is None:
        run = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
    return {
        "schema": COVERAGE_SCHEMA,
        "tool": {"name": "chaincover", "version": tool_version()},
        "controller": subject.system.name,
        "chain": chain,
        "steps": found.steps,
        "compiler": found.compiler,
        "gcov": found.gcov,
        "files": [*_files(_code(subject, found), names)],
        "goals": [*_goals(subject, run, names)],
        "justified": [
            {"file": each.file, "first": each.first, "last": each.last, "reason": each.reason}
            for each in subject.settings.justified
        ],
    }


def _names(subject: Subject, native: NativeInterface, found: Counted) -> dict[str, str]:
    """What each file with code is called, by its absolute path: as the project calls its sources, others as seen from
    there. Headers that lie neither there nor in a folder that the project names are not the project's."""
    names = {os.path.abspath(source.path): source.name for source in subject.sources}
    path, name = next(iter(names.items()))
    base = Path(path.removesuffix(name)) if path.endswith(f"/{name}") else Path(path).parent
    folders = [*native.compilation.include_dirs, *(i for _, own in native.compilation.options for i in own.include)]
    ours = [base, *(Path(os.path.abspath(folder)) for folder in folders)]
    for file in dict.fromkeys(line.file for line in found.lines):
        if file not in names and any(Path(file).is_relative_to(folder) for folder in ours):
            names[file] = Path(os.path.relpath(file, base)).as_posix()
    return names


def _code(subject: Subject, found: Counted) -> list[CountedLine]:
    """The lines of the controller: not those of functions that state properties and conditions, which nothing runs."""
    run = {line.function for line in found.lines if line.count}
    return [line for line in found.lines if line.function in run or line.function not in subject.settings.stating]


def _files(lines: list[CountedLine], names: dict[str, str]) -> Iterator[dict[str, Any]]:
    for path, own in groupby(lines, key=lambda line: line.file):
        if path in names:
            digest = sha256(Path(path).read_bytes()).hexdigest()
            yield {"file": names[path], "sha256": digest, "lines": lines_of(own)}


def _goals(subject: Subject, run: Run, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    """All goals of the criteria of code, whether they were asked for or not, with the steps that cover them."""
    decisions = subject.model.decisions
    goals: list[Goal] = [*branches(decisions), *conditions(decisions), *mcdc(decisions)]
    own = replace(subject, goals=tuple(goals)).below
    covered = Monitor(own.goals).covered(run)
    for goal in own.goals:
        steps = covered[goal.name]
        assert goal.where is not None
        yield {
            "name": goal.name,
            "criterion": goal.generated,
            "file": names.get(os.path.abspath(goal.where.file), goal.where.file),
            "line": goal.where.line,
            "column": goal.where.column,
            "text": goal.text,
            "steps": len(steps),
            "first": steps[0] if steps else None,
        }
