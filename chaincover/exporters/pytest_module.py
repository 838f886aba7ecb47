"""The format ``pytest``: a module of tests that runs a chain on the compiled program, without ChainCover.

It calls the program's functions by ctypes. Objects of its files, static ones too, are reached where the module compiles
the sources itself: each file gets pointers to those that are needed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bmc.errors import UsageError, listed
from bmc.system.original import SHORT_DOUBLE, Call, Compilation, FileOptions, NativeInterface
from chaincover.exporters.columns import (
    Column,
    CoveredGoal,
    FailingRequirement,
    by_requirement,
    columns,
    covered_goals,
    failing_requirements,
    in_runs,
    plain_names,
)
from chaincover.exporters.protocol import ExportedChain

INSTEAD = "take another format, such as csv or json"
BEYOND = {
    "outside": "what functions that no source defines yield or take",
    "local": "static variables within functions",
    "register": "registers",
    "number": "pointers that steps change",
}
"""Kinds of objects that a process of the host cannot reach by ctypes, in words."""


class PytestModule:
    """A writer of modules for pytest."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """One module. UsageError where the program has variables that it cannot reach."""
        native = getattr(chain.subject.model, "native", None)
        if not isinstance(native, NativeInterface):
            raise UsageError("the format pytest runs a compiled C program, and this model is none", hint=INSTEAD)
        found = columns(chain)
        _refuse(native, found)
        parts = {
            **_program(native, chain, found),
            "CHOSEN": dict(chain.chosen),
            "INPUTS": {each.variable.name: in_runs(each.from_start) for each in found if each.driven},
            "EXPECTED": {each.variable.name: in_runs(each.from_start) for each in found if not each.driven},
            "STEPS": chain.run.length,
            **_judged(covered_goals(chain), failing_requirements(chain)),
        }
        written = "".join(f"{name} = {_literal(value)}\n" for name, value in parts.items())
        text = (Path(__file__).parent / TEMPLATE).read_text(encoding="utf-8").replace("# DATA\n", written)
        return {"test_chain.py": text.encode("ascii")}

    def failing(self, chain: ExportedChain) -> Iterator[str]:
        """See ``TestExporter``."""
        for each in failing_requirements(chain):
            fails = f"requirement {each.goal.name} fails at step {each.step} of this run"
            yield f"{fails}: its test fails as long as the program does as predicted"


TEMPLATE = "pytest_template.txt"
"""The module without the data of a chain, in the folder of this one."""


def _program(native: NativeInterface, chain: ExportedChain, found: Sequence[Column]) -> dict[str, Any]:
    """How the program is compiled and called, and where the variables of the chain lie, and of what type they are."""
    used = {each.variable.name for each in found} | {*chain.chosen}
    cells = [cell for cell in native.cells if cell.variable in used]
    return {
        "SOURCES": _sources(native, Path(chain.subject.settings.where.file)),
        "HEADERS": {name: Path(path).read_text("utf-8") for name, path in native.compilation.stand_ins},
        "ENVIRONMENT": native.compilation.environment,
        "OBJECTS": {each.name: (each.kind, each.size, each.symbol) for each in native.objects},
        "CELLS": {cell.variable: (cell.object, cell.offset, cell.size, cell.first, cell.width) for cell in cells},
        "TYPES": {each.variable.name: _type(each) for each in found},
        "LINKS": [(link.object, link.offset, link.target) for link in native.links],
        "INIT": [_call(call) for call in native.init],
        "STEP": _call(native.step),
    }


def _judged(covered: Sequence[CoveredGoal], failing: Sequence[FailingRequirement]) -> dict[str, Any]:
    """The goals and requirements that the chain exercises, by plain names, with their ends; of requirements besides the
    step at which they fail, None where they hold. A requirement without a name has that of its goal."""
    goals = plain_names(each.goal.name for each in covered)
    ends = {name: max(each.end for each in those) for name, those in by_requirement(covered).items()}
    steps = dict[str, int]()
    for each in failing:
        name = each.goal.requirement or each.goal.name
        ends[name] = max(each.end, ends.get(name, 0))
        steps[name] = min(each.step, steps.get(name, each.step))
    requirements = plain_names(ends)
    return {
        "GOALS": {goals[each.goal.name]: (each.goal.name, each.end) for each in covered},
        "REQUIREMENTS": {requirements[name]: (name, end, steps.get(name)) for name, end in ends.items()},
    }


def _refuse(native: NativeInterface, found: Sequence[Column]) -> None:
    """UsageError, with names, where the module could not run the program or reach one of its variables."""
    _refuse_program(native)
    sources = native.compilation.sources
    outside = {each.name for each in native.objects if each.kind == "local" and each.file not in sources}
    kinds = {each.name: each.kind for each in native.objects} | dict.fromkeys(outside, "outside")
    cells = {cell.variable: kinds[cell.object] for cell in native.cells}
    lost = [each.title for each in found if each.variable.name not in cells]
    if lost:
        raise UsageError(f"the format pytest has no place in memory for {listed(lost)}", hint=INSTEAD)
    for kind, why in BEYOND.items():
        beyond = [each.title for each in found if cells[each.variable.name] == kind]
        if beyond:
            raise UsageError(f"the format pytest cannot reach {why}: {listed(beyond)}", hint=INSTEAD)


def _refuse_program(native: NativeInterface) -> None:
    """UsageError where the host does not compile or run the program as its target does."""
    if native.refusal or native.compilation.word_sizes:
        sizes = native.compilation.word_sizes
        text = native.refusal or f"the format pytest runs the program with this machine's word sizes, not {sizes}"
        raise UsageError(text, hint=INSTEAD)
    short = [name for name, own in native.compilation.options if SHORT_DOUBLE in own.others]
    if short:
        raise UsageError(f"{short[0]} is compiled with {SHORT_DOUBLE}, which the host does not have", hint=INSTEAD)


def _sources(native: NativeInterface, project: Path) -> list[tuple[str, list[tuple[str, str | None]], list[str]]]:
    """Each source file by its path from the project's folder, with options, and the objects that it defines.

    An option is a word and the path that follows it, None for one without a path.
    """
    base = os.path.abspath(project if project.is_dir() else project.parent)
    made = native.compilation
    return [
        (
            _from(base, source),
            [*_options(made, source, base)],
            [each.name for each in native.objects if each.kind == "global" and each.file == source],
        )
        for source in made.sources
    ]


def _options(made: Compilation, source: str, base: str) -> Iterator[tuple[str, str | None]]:
    own = dict(made.options).get(source, FileOptions())
    for folder in (*own.include, *made.include_dirs):
        yield "-I", _from(base, folder)
    for name, value in (*own.macros, *made.defines):
        yield (f"-U{name}" if value is None else f"-D{name}={value}"), None
    for path in own.first:
        yield "-include", _from(base, path)
    for folder in own.last:
        yield "-idirafter", _from(base, folder)
    rounding = ("-frounding-math",) if any(each.source == source for each in made.zero_sums) else ()
    for word in (*own.others, *rounding, *(f"-fno-builtin-{name}" for name in (*made.redefined, *made.called))):
        yield word, None


def _from(base: str, path: str) -> str:
    return Path(os.path.relpath(path, base)).as_posix()


def _type(column: Column) -> tuple[int, bool, bool, dict[int, str]]:
    """Bits, whether signed, whether floating, names of values: by which values are shown."""
    vtype = column.variable.type
    return vtype.bits, vtype.signed, vtype.floating, {number: label for label, number in vtype.labels}


def _call(call: Call) -> tuple[str, list[tuple[Any, ...]], str, bool]:
    arguments = [
        (each.kind, each.object, each.offset, each.size, each.signed, each.floating, each.number)
        for each in call.arguments
    ]
    return call.function, arguments, call.returns, call.floating


def _literal(value: object) -> str:
    """``value`` as Python writes it, in ASCII; the items of a dictionary or a list one a line."""
    if isinstance(value, dict) and value:
        return "{\n" + "".join(f"    {key!a}: {each!a},\n" for key, each in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[\n" + "".join(f"    {each!a},\n" for each in value) + "]"
    return ascii(value)
