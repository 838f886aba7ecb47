"""The environment of a program: functions and objects that it uses and no source defines, as the project describes.

Every call of an input function in one step gives the same value: one sample per step. ``environment_text`` writes
the same environment as C for the compiled original.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.errors import NAMED, InputRefused, Location, listed
from bmc.floats.format import number
from bmc.formulas.terms import constant
from bmc.models.c.controller import externals
from bmc.models.c.controller.environment_text import Definition, environment_text
from bmc.models.c.controller.externals import (
    RESULT,
    External,
    ExternalCalls,
    ExternalReader,
    undefined_calls,
)
from bmc.models.c.controller.ranges import written_pattern
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute.calls import STREAMS, Calls
from bmc.models.c.execute.initialise import zero
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import Content, Key, MemObject, State, Value
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.source.program import Function, Program, Scope, Typedef, Unit, parse_text, where
from bmc.models.c.source.types import (
    ArrayType,
    FloatType,
    IntType,
    StructType,
    promote,
    scalars,
    show_type,
    type_at,
)
from bmc.models.model import UnknownFunction
from bmc.system.names import matching

UNSET = Content((), FALSE())


class Environment:
    """What stands around one program. ``initialising`` holds while init runs: then no input has a value yet."""

    def __init__(self, config: SourceConfig, program: Program, executor: Calls) -> None:
        self.config = config
        self.program = program
        self.executor = executor
        self.calls = ExternalCalls(executor, config.output_functions)
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
        described = self._described()
        reader = ExternalReader(self.config)
        for function, node in undefined_calls(self.program, roots, self.executor.library.knows):
            if self.executor.library.knows(function.name) and function.name not in described:
                continue
            try:
                external = reader.read(function, node)
            except InputRefused as error:
                if function.ctype.prototype:  # else its declaration is asked for
                    self._refused[function.name] = error
                continue
            if external is not None:
                self.functions[function.name] = external
        self._give_roles()
        self._check_runnables()
        self.externs = [obj for obj in used if obj.symbol and not obj.file and obj.symbol not in STREAMS]

    def _described(self) -> list[str]:
        """The functions that the project describes; refused is one that a source defines."""
        config = self.config
        described = [*config.input_functions, *config.output_functions, *config.status_functions]
        described += [name for group in config.shared.values() for name in group]
        for name in described:
            function = None if any(c in name for c in "*?[") else self.program.function(name)
            if function is not None:
                raise InputRefused(
                    f"'{name}' is described as a function of the environment, but {where(function.node)} defines it",
                    config.where,
                    "leave it out there (its body is read), or leave the file out of sources.files",
                )
        return described

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
                    names = ", ".join(f'"{each}"' for _, each in [*uses, *others])
                    raise InputRefused(
                        f"'{uses[0][1]}' and '{name}' may move one inter-runnable variable or two",
                        self.config.where,
                        f"if one: [functions.shared] {_last(obj)} = [{names}]; if two, give each its own name there",
                    )

    def role(self, key: Key) -> str:
        """The role of a variable behind a function, '' for any other."""
        return self.objects.get(key[0], "")

    # start values

    def start(self, unit: Unit) -> dict[Key, Content]:
        """The start values of all objects: as ``[interface.values]`` says, else none for outputs and other externs
        than registers, else 0.

        InputRefused for a value of something that is not here, and for a constant without a value.
        """
        cells: dict[Key, Content] = {}
        for obj in self.externs:
            register = obj in self.program.registers
            cells.update({(obj, path): zero(ctype) if register else UNSET for path, ctype in scalars(obj.ctype)})
        for obj, role in self.objects.items():
            status = obj.kind == "constant" and externals.is_rte(obj.name)
            known = role in ("input", "state") or status
            cells.update({(obj, path): zero(ctype) if known else UNSET for path, ctype in scalars(obj.ctype)})
        names = {variable_name(*key): key for key in cells}
        for text, given in self.config.values.items():
            for name in matching([text], list(names), self.config.where, "object that no source defines"):
                key = names[name]
                cells[key] = self._start_value(unit, key, given)
                self.valued.add(key)
        for (obj, path), content in cells.items():
            if obj.kind == "constant" and content.defined.is_false():
                self._refuse_constant(obj, path)
        return cells

    def _start_value(self, unit: Unit, key: Key, text: str) -> Content:
        """The cell ``key`` as ``text`` (a number, or a C constant expression over ``unit``'s names) says.

        InputRefused, with the place of the project file, for what is no constant number and for one that the cell
        cannot hold; a floating one takes the nearest number.
        """
        name, ctype, executor = variable_name(*key), type_at(key[0].ctype, key[1]), self.executor
        place = self.config.where or Location("interface.values")
        if isinstance(ctype, FloatType) and ctype.readable:
            written = written_pattern(text.strip(), name, ctype.value_type(), place)
            if written is not None:
                return Content(constant(written, ctype.bits), TRUE())
        try:
            tree = parse_text(f"void f(void) {{ ({unit.source.expand(text)}); }}", place.file)
            node = tree.ext[-1].body.block_items[0]
            with executor.apart() as recorder:
                given = executor.evaluate(node, unit.scope, State())
            with executor.apart():
                value = executor.as_type(given, ctype, node, State()) if isinstance(given, Value) else None
        except InputRefused as error:
            raise InputRefused(f"the value of '{name}': {error.message}", place, error.hint) from None
        if recorder.undefined_behaviour or not (_is_constant(given) and _is_constant(value)):
            raise InputRefused(f"the value of '{name}' is no constant number", place)
        assert isinstance(given, Value)
        assert isinstance(value, Value)
        if not _holds(given, value):
            ends = f": {ctype.least}..{ctype.greatest}" if isinstance(ctype, IntType) else ""
            raise InputRefused(f"{text} does not fit '{name}' ({show_type(ctype)}{ends})", place)
        return Content(value.term, TRUE())

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
        external = self._known(name, node, scope, state)
        if not external.function.ctype.prototype:
            self._check_types(name, node, scope, state)
        values = self.calls.arguments(external, node, scope, state)
        if self.initialising:
            self._check_init(external, node)
        return self.calls.run(external, values, node, state)

    def _check_types(self, name: str, node: Any, scope: Scope, state: State) -> None:
        """What is given to a function that nothing declares must be of the type int, or of that size."""
        model = self.executor.model
        for argument in node.args.exprs if node.args else ():
            ctype = self.executor.type_of(argument, scope, state)
            if not isinstance(ctype, IntType) or promote(ctype, model).bits != model.int_:
                text = (
                    f"the function '{name}' is called but not defined, and given a value of the type {show_type(ctype)}"
                )
                raise UnknownFunction(text, where(node), self._declaration(name, node, scope, state))

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

    def _known(self, name: str, node: Any, scope: Scope, state: State) -> External:
        if name in self._refused:
            raise self._refused[name]
        if name in self.functions:
            return self.functions[name]
        why = externals.rte_reason(name)
        raise UnknownFunction(
            f"the function '{name}' is called but not defined" + (f"; {why}" if why else ""),
            where(node),
            self._declaration(name, node, scope, state)
            if ExternalReader(self.config).role(name)
            else f'add its source file to sources.files, or say what it does: "{name}" in functions.input (it delivers '
            "values) or functions.output (it takes them)",
        )

    def _declaration(self, name: str, node: Any, scope: Scope, state: State) -> str:
        """What to declare of a function that is called as in ``node``; others that nothing declares are named, too."""
        types = []
        for argument in node.args.exprs if node.args else ():
            told = "int"  # as C took it for what comes of a function that nothing declares
            with suppress(InputRefused):
                ctype = self.executor.type_of(argument, scope, state)
                told = show_type(ctype)
                if isinstance(ctype, ArrayType):
                    told = f"{show_type(ctype.element)} data[{ctype.length}]"
            word, _, rest = told.partition(" ")
            named = word == "struct" and isinstance(scope.find(rest.partition(" ")[0]), Typedef)
            types.append(rest if named else told)
        return f"declare it in a header that the file includes, as in 'int {name}({', '.join(types) or 'void'});'"

    # for the user and for the compiled original

    def notes(self, set_by_init: Collection[Key]) -> list[str]:
        """What was assumed of calls, and of start values that init does not set."""
        constants = [o.name for o in self.objects if o.kind == "constant" and externals.is_rte(o.name)]
        statuses = [name for name in constants if not any(key[0].name == name for key in self.valued)]
        notes = [
            f"'{variable_name(obj, path)}' starts with 0; another start value stands in [interface.values]"
            for obj, role in self.objects.items()
            if role == "state"
            for path, _ in scalars(obj.ctype)
            if (obj, path) not in self.valued and (obj, path) not in set_by_init
        ]
        traces = [name for name, external in self.functions.items() if external.role == "trace"]
        if traces:
            notes.append(f"calls are passed over, as those of printf: {listed(traces)}")
        implicit = [name for name, external in self.functions.items() if not external.function.ctype.prototype]
        if implicit:
            notes.append(f"nothing declares {listed(implicit)}: each is taken for a function of ints")
        if statuses:
            names = ", ".join(statuses if len(statuses) <= NAMED else _by_kind(statuses))
            notes.append(f"these calls are taken to work, with the result 0: {names} (an input with functions.status)")
        return notes

    def text(self, start: Mapping[Key, Content], reached: Mapping[MemObject, str] | None = None) -> str:
        """The environment as C source text, '' if there is none; ``start`` are the cells as they start. ``reached``: as
        in ``environment_text``."""
        definitions = [
            Definition(obj, {path: start[obj, path] for path, _ in scalars(obj.ctype) if (obj, path) in start})
            for obj in (*self.objects, *self.externs)
        ]
        return environment_text(list(self.functions.values()), definitions, self.program, reached)


def _by_kind(names: Sequence[str]) -> list[str]:
    """How many functions of the run-time environment there are of each kind: ``42 of Rte_Read_*``."""
    kinds = Counter("_".join(name.split("_")[:2]) for name in names)
    return [f"{count} of {kind}_*" for kind, count in kinds.items()]


class OutsideValue(InputRefused):
    """What an object holds comes from outside, and the project does not describe it.

    ``pattern`` fits its variables; ``kept``: the program writes it, too, so that it may be state.
    """

    pattern = ""
    kept = False


def undefined_object(obj: MemObject, in_init: bool = False) -> OutsideValue:
    """The refusal of an object that no source defines; ``in_init``: init reads it, when no input has a value yet."""
    first = next((variable_name(obj, path) for path, _ in scalars(obj.ctype)), obj.name)
    listing = "" if in_init else f", list it in interface.input ({_pattern(obj)})"
    error = OutsideValue(
        f"'{obj.name}' is declared extern, but no source file defines it" + (", and init reads it" if in_init else ""),
        obj.declared,
        f'add the file that defines it to sources.files{listing}, or give its value: [interface.values] "{first}" = 0',
    )
    error.pattern = _pattern(obj)
    return error


def _pattern(obj: MemObject) -> str:
    """What fits all variables of an object."""
    mark = {ArrayType: "[*]", StructType: ".*"}.get(type(obj.ctype), "")
    return f"{obj.name}{mark}"


def _last(obj: MemObject) -> str:
    return obj.name.rsplit("_", 1)[-1]


def _is_constant(value: object) -> bool:
    return isinstance(value, Value) and isinstance(value.term, FNode) and value.term.is_constant()


def _holds(given: Value, stored: Value) -> bool:
    """Whether a constant is stored as it is given; a floating object may round it, but not to an infinity."""
    wanted, kept = _number(given), _number(stored)
    if isinstance(stored.ctype, FloatType):
        return math.isinf(kept) == math.isinf(wanted)
    return wanted == kept


def _number(value: Value) -> int | float:
    """The number that a constant of arithmetic type is."""
    raw = int(value.bits.constant_value())
    if isinstance(value.ctype, FloatType):
        return number(raw, value.ctype.format)
    assert isinstance(value.ctype, IntType)
    return value.ctype.value_type().value(raw)
