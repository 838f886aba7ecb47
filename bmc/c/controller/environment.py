"""The environment of a program: functions and objects that it uses and no source defines, as the project describes.

Every call of an input function in one step gives the same value: one sample per step. ``environment_text`` writes
the same environment as C for the compiled original.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pysmt.shortcuts import FALSE

from bmc.c.controller import autosar
from bmc.c.controller.environment_text import Definition, environment_text
from bmc.c.controller.externals import RESULT, External, ExternalReader, undefined_calls
from bmc.c.controller.start_values import start_value
from bmc.c.execute.calls import Calls
from bmc.c.execute.external_calls import ExternalCalls
from bmc.c.execute.initialise import zero
from bmc.c.execute.lvalues import Result
from bmc.c.execute.memory import Content, Key, MemObject, State
from bmc.c.source.config import SourceConfig
from bmc.c.source.program import Function, Program, Scope, Unit, where
from bmc.c.source.types import scalars, type_at
from bmc.c.source.variables import matching, variable_name
from bmc.errors import InputRefused, Location, UnsupportedConstruct

UNSET = Content((), FALSE())


class Environment:
    """What stands around one program. ``initialising`` holds while init runs: then no input has a value yet."""

    def __init__(self, config: SourceConfig, program: Program, executor: Calls) -> None:
        self.config = config
        self.program = program
        self.executor = executor
        self.calls = ExternalCalls(executor)
        self.initialising = False
        self.functions: dict[str, External] = {}
        self.objects: dict[MemObject, str] = {}
        """Objects behind functions, each with its role: input, output, state or constant."""
        self.externs: list[MemObject] = []
        """Objects that the program declares and uses, and no source defines."""
        self.valued: set[Key] = set()
        self._refused: dict[str, InputRefused] = {}

    # what there is

    def discover(self, roots: Sequence[Function], used: Iterable[MemObject]) -> None:
        """Find the undefined functions and objects that ``roots`` and all that they call use, and give them roles."""
        self._check_listed()
        reader = ExternalReader(self.config)
        for function, node in undefined_calls(self.program, roots):
            if self.executor.library.knows(function.name):
                continue
            try:
                external = reader.read(function, node)
            except InputRefused as error:
                self._refused[function.name] = error
                continue
            if external is not None:
                self.functions[function.name] = external
        self._give_roles()
        self._check_runnables()
        self.externs = [obj for obj in used if obj.symbol and not obj.file]

    def _check_listed(self) -> None:
        """Refuse a function that the project describes although a source defines it."""
        config = self.config
        listed = [*config.input_functions, *config.output_functions, *config.status_functions]
        for name in [*listed, *(name for group in config.shared.values() for name in group)]:
            function = None if any(c in name for c in "*?[") else self.program.function(name)
            if function is not None:
                raise InputRefused(
                    f"'{name}' is described as a function of the environment, but {where(function.node)} defines it",
                    config.where,
                    "leave it out there (its body is read), or leave the file out of sources.files",
                )

    def _give_roles(self) -> None:
        """An object that is only given is an input, one that is only taken an output, any other is state."""
        ways: dict[MemObject, set[str]] = {}
        for external in self.functions.values():
            for slot in external.slots:
                ways.setdefault(slot.object, set()).add(slot.way)
                status = slot.place == RESULT and slot.way == "gives" and external.role != "shared"
                role = "input" if status else external.role
                self.objects[slot.object] = "constant" if slot.object.kind == "constant" else role
        for obj, role in self.objects.items():
            if role == "shared":
                both_ways = "takes" in ways[obj] and len(ways[obj]) > 1
                self.objects[obj] = "state" if both_ways else "output" if "takes" in ways[obj] else "input"
            elif role == "memory":
                self.objects[obj] = "state"

    def _check_runnables(self) -> None:
        """Refuse to read one and write another inter-runnable variable that may be one under two names."""
        irv: dict[MemObject, list[tuple[str, str]]] = {}
        for name, external in self.functions.items():
            for slot in external.slots:
                if slot.object.name.startswith("Rte_Irv_"):
                    irv.setdefault(slot.object, []).append((slot.way, name))
        for obj, uses in irv.items():
            others = [use for other in irv if other is not obj and _last(other) == _last(obj) for use in irv[other]]
            for way, name in others:
                if way != uses[0][0]:
                    listed = ", ".join(f'"{each}"' for _, each in [*uses, *others])
                    raise InputRefused(
                        f"'{uses[0][1]}' and '{name}' may move one inter-runnable variable or two",
                        self.config.where,
                        f"if one: [functions.shared] {_last(obj)} = [{listed}]; if two, give each its own name there",
                    )

    def role(self, key: Key) -> str:
        """The role of a variable behind a function, '' for any other."""
        return self.objects.get(key[0], "")

    # start values

    def start(self, unit: Unit) -> dict[Key, Content]:
        """The start values of all objects: as ``[interface.values]`` says, else none for outputs and externs, else 0.

        InputRefused for a value of something that is not here, and for a constant without a value.
        """
        cells: dict[Key, Content] = {}
        for obj in self.externs:
            cells.update({(obj, path): UNSET for path, _ in scalars(obj.ctype)})
        for obj, role in self.objects.items():
            status = obj.kind == "constant" and autosar.is_standard(obj.name)
            known = role in ("input", "state") or status
            cells.update({(obj, path): zero(ctype) if known else UNSET for path, ctype in scalars(obj.ctype)})
        names = {variable_name(*key): key for key in cells}
        place = self.config.where or Location("interface.values")
        for text, number in self.config.values.items():
            for name in matching([text], list(names), self.config.where, "object that no source defines"):
                obj, path = names[name]
                cells[obj, path] = start_value(self.executor, unit, name, number, type_at(obj.ctype, path), place)
                self.valued.add((obj, path))
        for (obj, path), content in cells.items():
            if obj.kind == "constant" and content.defined.is_false():
                self._refuse_constant(obj, path)
        return cells

    def _refuse_constant(self, obj: MemObject, path: tuple[str | int, ...]) -> None:
        name = variable_name(obj, path)
        hint = f'give it in [interface.values]: "{name}" = 0'
        if obj in self.externs:
            obj.refusal = undefined_object(obj)
        else:
            raise InputRefused(f"'{name}' has no value", self.config.where, hint)

    # calls

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Result:
        """Call an undefined function. InputRefused for one that has no role, or no value yet."""
        external = self._known(name, node)
        values = self.calls.arguments(external, node, scope, state)
        if self.initialising:
            self._check_init(external, node)
        return self.calls.run(external, values, node, state)

    def _check_init(self, external: External, node: Any) -> None:
        """Inputs have no value before the first step."""
        for slot in external.slots:
            used = slot.place or node is not self.executor.discarded
            if used and slot.way == "gives" and self.objects[slot.object] == "input":
                raise InputRefused(
                    f"init asks for the input '{slot.object.name}', which has no value before the first step",
                    where(node),
                    "leave that call out of init, or write a stand-in for it",
                )

    def _known(self, name: str, node: Any) -> External:
        if name in self._refused:
            raise self._refused[name]
        if name in self.functions:
            return self.functions[name]
        why = autosar.reason(name)
        raise UnsupportedConstruct(
            f"the function '{name}' is called but not defined" + (f"; {why}" if why else ""),
            where(node),
            f'add its source file to sources.files, or say what it does: "{name}" in functions.input (it delivers '
            "values) or functions.output (it takes them)",
        )

    # for the user and for the compiled original

    def notes(self, set_by_init: Collection[Key]) -> list[str]:
        """What was assumed of calls, and of start values that init does not set."""
        constants = [o.name for o in self.objects if o.kind == "constant" and autosar.is_standard(o.name)]
        statuses = [name for name in constants if not any(key[0].name == name for key in self.valued)]
        notes = [
            f"'{variable_name(obj, path)}' starts with 0; another start value stands in [interface.values]"
            for obj, role in self.objects.items()
            if role == "state"
            for path, _ in scalars(obj.ctype)
            if (obj, path) not in self.valued and (obj, path) not in set_by_init
        ]
        if statuses:
            listed = ", ".join(statuses)
            notes.append(f"these calls are taken to work, with the result 0: {listed} (an input with functions.status)")
        return notes

    def text(self, start: Mapping[Key, Content]) -> str:
        """The environment as C source text, '' if there is none; ``start`` are the cells as they start."""
        definitions = [
            Definition(obj, {path: start[obj, path] for path, _ in scalars(obj.ctype) if (obj, path) in start})
            for obj in (*self.objects, *self.externs)
        ]
        return environment_text(list(self.functions.values()), definitions, self.program.model)


def undefined_object(obj: MemObject) -> InputRefused:
    """The refusal of an object that no source defines."""
    return InputRefused(
        f"'{obj.name}' is declared extern, but no source file defines it",
        obj.declared,
        "add the file that defines it to sources.files, list it in interface.input, "
        f'or give its value: [interface.values] "{obj.name}" = 0',
    )


def _last(obj: MemObject) -> str:
    return obj.name.rsplit("_", 1)[-1]
