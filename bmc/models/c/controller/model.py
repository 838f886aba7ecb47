"""A C controller as a model: its transition system, how to call the original, and its expressions at any step."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused, Location
from bmc.models.c.controller.ranges import FloatReader, is_boolean, only_named, read_constant, read_ranges
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.controller.registers import place_registers
from bmc.models.c.execute.decisions import decisions
from bmc.models.c.execute.memory import Cells, Content, Key, MemObject, Place, State, Target
from bmc.models.c.execute.recorder import Recorder
from bmc.models.c.execute.statements import Executor
from bmc.models.c.execute.variables import CVariable, symbol_content
from bmc.models.c.source.program import EnumConstant, Program, Scope, Unit, expression_of
from bmc.models.c.source.types import StructType, show_type, type_at
from bmc.models.model import Decision, Language, Model, NotAMember, Quantity, UnknownFunction
from bmc.models.undetermined import NOTHING, Undetermined
from bmc.native.original import compiled
from bmc.records import dataclass
from bmc.system.names import IN, find_variable, same_front, suggestion
from bmc.system.original import CallingText, NativeInterface, Opener
from bmc.system.transition import Condition, TransitionSystem


@dataclass(frozen=True)
class Memory:
    """The memory in which the step function runs.

    ``parameters`` maps the step's parameter names to their objects (a pointer parameter's is a constant pointer).
    ``shadowed`` are the variables that may be undefined. ``base`` holds the cells that never change (constants and
    pointers).
    """

    step_function: str
    parameters: dict[str, MemObject]
    variables: tuple[CVariable, ...]
    shadowed: frozenset[str]
    base: dict[Key, Content]
    _cells: dict[int | None, Cells[Key, Content]] = field(default_factory=dict, init=False)

    def at(self, step: int | None) -> State:
        """Memory in which every variable is its symbol: plain (None) or framed at ``step``."""
        if step not in self._cells:
            contents = {variable.key: self.content(variable, step) for variable in self.variables}
            self._cells[step] = Cells({**self.base, **contents})
        return State(self._cells[step].copied())

    def content(self, variable: CVariable, step: int | None) -> Content:
        """A variable's cell at a step."""
        return symbol_content(variable.key, variable.name in self.shadowed, step)


@dataclass(eq=False)
class CModel:
    """The result of reading a controller.

    ``notes`` are remarks for ``check``. ``config`` is what was read, ``recorder`` what the symbolic step recorded,
    ``range_texts`` the project's text of the allowed values by full name, ``exclusions`` what it excludes between
    inputs.
    """

    program: Program
    executor: Executor
    memory: Memory
    system: TransitionSystem
    config: SourceConfig
    native: NativeInterface
    notes: tuple[str, ...] = ()
    recorder: Recorder = field(default_factory=Recorder)
    range_texts: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    exclusions: tuple[Condition, ...] = ()
    undetermined: Undetermined = NOTHING

    @property
    def variables(self) -> tuple[CVariable, ...]:
        """The variables, in the order in which they are listed."""
        return self.memory.variables

    @property
    def names(self) -> list[str]:
        """Full names of all variables."""
        return [v.name for v in self.variables]

    @property
    def inputs(self) -> list[CVariable]:
        return [v for v in self.variables if v.role == "input"]

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions in the step function and in what it calls."""
        return decisions(self.program, self.recorder)

    original_is: ClassVar[str] = "the compiled original"

    @property
    def original(self) -> Opener:
        """The compiled program."""
        return partial(compiled, self.native)

    @property
    def calling(self) -> CallingText:
        """How C text calls the program. InputRefused for what it cannot name."""
        from bmc.models.c.controller.calling import calling_text  # which most runs do not need

        return calling_text(self)

    def parts(self, kind: str) -> Sequence[Condition]:
        """A program is not made of states and transitions."""
        return ()

    @property
    def assumed(self) -> Sequence[str]:
        """What every result rests on: inputs that could hold further values, and the environment may deliver them;
        stubs; inline assembly; ends of loops and of recursion that are not proved."""
        named = only_named(self)
        rests = [f"inputs given no values but those that the type names: {', '.join(named)}"] if named else []
        if self.executor.by_bases:
            names = ", ".join(sorted(self.executor.by_bases))
            rests.append(
                f"calls through pointers that name a struct which the function's begins with (functions.bases): {names}"
            )
        passed = sorted(self.executor.library.assembly.passed.items())
        if passed:
            texts = ", ".join(f"'{text}' ({', '.join(sorted(places))})" for text, places in passed)
            rests.append(f"inline assembly that changes nothing but its outputs (sources.assembly): {texts}")
        if self.config.dialect.long_double == 64:
            rests.append("long double is computed as double (-mlong-double-64)")
        rests += [f"the stub {name}, which was confirmed" for name, confirmed in self._stubs() if confirmed]
        return [*rests, *self.unproved_ends]

    @property
    def unproved_ends(self) -> Sequence[str]:
        """How far loops and recursion are followed of which it is not proved that they go no further."""
        excluded = self.recorder.rounds.excluded.values()
        places = [replace(each.where, file=Path(each.where.file).name) for each in excluded]  # wherever the files lie
        return [each.told.format(place) for each, place in zip(excluded, places, strict=True)]

    @property
    def unconfirmed(self) -> Sequence[str]:
        """The files that were guessed and that nobody has confirmed."""
        return [name for name, confirmed in self._stubs() if not confirmed]

    def _stubs(self) -> list[tuple[str, bool]]:
        return [*dict.fromkeys(stub for unit in self.program.units for stub in unit.source.stubs)]

    @property
    def described(self) -> Mapping[str, Any]:
        """What a result says of the program beside its sources and variables."""
        words = self.config.dialect.words
        return {
            **({"options": words} if words else {}),
            "defines": dict(self.config.defines),
            "target": self.config.target,
            "init": [call.function for call in self.native.init],
            "step": self.native.step.function,
        }

    def value_names(self, names: Iterable[str], texts: Iterable[str]) -> Mapping[str, Mapping[int, str]]:
        """What values are called of variables that code or ``texts`` set to named constants."""
        return value_names(self.program, names, texts)

    def language(self, where: Location, operators: Collection[str]) -> Language:
        """C expressions over the program's variables."""
        from bmc.models.c.controller.language import CLanguage

        return CLanguage(self, where, operators)

    def declared(self, quantity: Quantity) -> str | tuple[str, ...] | dict[int, str] | None:
        """The values that a variable is declared to have."""
        if quantity.name in self.range_texts:
            return self.range_texts[quantity.name]
        if quantity.type.labels:
            labels: dict[int, str] = {}
            for label, number in quantity.type.labels:
                labels.setdefault(number, label)
            return labels
        return {0: "0", 1: "1"} if is_boolean(quantity.type) else None

    def ranges(self, quantity: Quantity, values: str | tuple[str, ...], where: Location) -> tuple[tuple[int, int], ...]:
        """Values as the project writes them: see ``read_ranges``."""
        return read_ranges(self, quantity, values, where)

    def constant(self, quantity: Quantity, text: str, where: Location) -> int:
        """The value of a C constant; of a floating quantity its pattern."""
        if quantity.type.floating:
            return FloatReader(self, quantity.name, quantity.type, where).pattern(text)
        return read_constant(self, quantity, text, where)

    def scope(self) -> Scope:
        """The step's parameters above the file scopes of all units, the step's own first."""
        merged = Scope()
        step = self.program.function(self.memory.step_function)
        units = [u for u in self.program.units if step is None or u is not step.unit]
        for unit in [*units, *([step.unit] if step else [])]:
            merged.names.update(unit.scope.names)
            merged.tags.update(unit.scope.tags)
        inner = Scope(merged)
        inner.names.update(self.memory.parameters)
        return inner

    @property
    def _unit(self) -> Unit:
        step = self.program.function(self.memory.step_function)
        return step.unit if step else self.program.units[0]

    def expanded(self, text: str) -> str:
        """``text`` with the macros of the step's unit expanded."""
        return self._unit.source.expand(text)

    def expand_and_parse(self, text: str, where: Location) -> Any:
        """A C expression's syntax tree; macros of the step's unit are expanded. InputRefused for a syntax error."""
        unit, expanded = self._unit, self.expanded(text)
        try:
            tree = expression_of(expanded, unit.scope, where)
        except InputRefused as error:
            detail = error.message.removeprefix("C syntax error: ")
            raise InputRefused(f"cannot read the expression '{text.strip()}': {detail}", where) from None
        place_registers(expanded, tree, unit.scope, unit.source, self.executor)
        return tree

    def unknown_name(self, node: Any, where: Location) -> Place:
        """Resolve a short name: the last part of the path of one variable, array or struct, or a function's name."""
        found: dict[tuple[MemObject, tuple[str | int, ...]], None] = {}
        for variable in self.variables:
            obj, path = variable.key
            if obj.kind in ("local", "return") and node.name in (obj.symbol, obj.name, obj.function):
                found[obj, ()] = None
            for end, part in enumerate(path, 1):
                if part == node.name:
                    found[obj, path[:end]] = None
        if len(found) != 1:
            name = find_variable(node.name, self.names, where, self._known_words(), what="name")
            found = {next(v for v in self.variables if v.name == name).key: None}
        obj, path = next(iter(found))
        return Place((Target(TRUE(), obj, path),), type_at(obj.ctype, path))

    def _known_words(self) -> list[str]:
        """Enumeration constants and macros, for suggestions."""
        words = [n for u in self.program.units for n, b in u.scope.names.items() if isinstance(b, EnumConstant)]
        return words + [name for u in self.program.units for name in u.source.macro_names() if not name.startswith("_")]

    def with_names(self, recorder: Recorder, where: Location | None, work: Any, **hooks: Any) -> Any:
        """Run ``work``; the undefined behaviour that it may have goes to ``recorder``, calls of ``hooks`` go to these.

        With ``where`` (a property's place) short names are resolved, and refusals name that place.
        """
        executor = self.executor
        saved = executor.recorder, executor.unknown_name, executor.lenient_dot, executor.hooks
        executor.recorder, executor.hooks = recorder, hooks
        if where is not None:
            executor.unknown_name = lambda node, state: self.unknown_name(node, where)
            executor.lenient_dot = True
        try:
            return work()
        except InputRefused as error:
            if where is None:
                raise
            kept = isinstance(error, NotAMember | UnknownFunction)
            hint = self._member_meant(error.message) or error.hint
            raise (type(error) if kept else InputRefused)(error.message, where, hint) from None
        finally:
            executor.recorder, executor.unknown_name, executor.lenient_dot, executor.hooks = saved

    def _member_meant(self, message: str) -> str:
        """What to do next where a struct has no member of a name; '' for another message."""
        told = re.fullmatch(r"(.+) has no member '(\w+)'", message)
        if not told:
            return ""
        ways = {(var.key[0].ctype, var.key[1][:end]) for var in self.variables for end in range(len(var.key[1]))}
        types = {type_at(ctype, way) for ctype, way in ways}
        structs = [each for each in types if isinstance(each, StructType) and show_type(each) == told[1]]
        return suggestion(told[2], sorted({member.name for each in structs for member in each.members()}))

    def functions_matching(self, patterns: Sequence[str]) -> list[str]:
        """Names of defined functions that match shell patterns, in source order."""
        names = [f.name for f in self.program.defined_functions()]
        return [n for n in names if any(fnmatch.fnmatchcase(n, p) for p in patterns)]


def c_model(model: Model) -> CModel:
    """``model`` as the C program that it is. InputRefused if it is none."""
    if not isinstance(model, CModel):
        raise InputRefused(f"'{model.system.name}' is no C program", None, "name the project of a C program")
    return model


NUMBER = re.compile(r"(?:[\s(]|\(\s*[A-Za-z_][\w\s]*\))*(-?(?:0[xX][\da-fA-F]+|0|[1-9]\d*))[uUlL]*[\s)]*")
"""A whole number in C, with casts before it and in brackets."""

BLOCKS = re.compile(
    r"switch\s*\([^;{}]*?\b(?P<head>[A-Za-z_]\w*)[\s)]*\{|\bcase\s+\(?\s*(?P<case>[A-Za-z_]\w*)[\s)]*:|[{}]"
)
"""The head of a ``switch`` over a name, a case that is a word, or where a block begins or ends."""

NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.S)
"""Comments and texts."""


def value_names(program: Program, names: Iterable[str], texts: Iterable[str]) -> dict[str, dict[int, str]]:
    """What values are called of variables that code or ``texts`` set to, compare with or select by named constants.

    As generated code does with ``#define Chart_IN_Off ((uint8_T)1U)``, and much that is written by hand. A variable
    counts as a mode if the name of one such constant has ``_IN_`` in it, or two name two values; then constants whose
    names begin alike name further values.
    """
    found: dict[str, dict[int, str]] = {}
    of_last: dict[str, list[str]] = {}
    for name in names:
        of_last.setdefault(re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]$", "", name))[-1], []).append(name)
    for unit in program.units:
        text = "\n".join([Path(unit.source.file).read_text(encoding="utf-8", errors="replace"), *texts])
        compared = re.findall(r"(\w+)\s*[=!]?=\s*\(?([A-Za-z_]\w*)\b(?!\s*[(\[.]|->)", text)
        for last, word in dict.fromkeys([*compared, *_cases(text)]):
            number = _constant(unit, word) if last in of_last else None
            for name in of_last[last] if number is not None else ():
                found.setdefault(name, {}).setdefault(number or 0, word)
    chosen = {name: labels for name, labels in found.items() if len(labels) > 1 or any(map(IN.search, labels.values()))}
    for labels in chosen.values():
        front = same_front([*labels.values()])
        for unit in program.units if front and not IN.search(front) else ():
            for word in [word for word in unit.source.macro_names() if word.startswith(front)]:
                if (number := _constant(unit, word)) is not None:
                    labels.setdefault(number, word)
    return chosen


def _cases(text: str) -> list[tuple[str, str]]:
    """The last name in the head of each ``switch`` with each word that is one of its cases."""
    found, blocks = list[tuple[str, str]](), list[str]()
    for match in BLOCKS.finditer(NO_CODE.sub(" ", text)):
        if match[0].endswith("{"):
            blocks.append(match["head"] or "")
        elif match[0] == "}":
            blocks[-1:] = []
        else:
            head = next((block for block in reversed(blocks) if block), "")
            found.append((head, match["case"]))
    return found


def _constant(unit: Unit, word: str) -> int | None:
    """The whole number that a macro or an enumeration constant stands for."""
    binding = unit.scope.names.get(word)
    if isinstance(binding, EnumConstant):
        return binding.value
    if word not in unit.source.macros:
        return None
    number = NUMBER.fullmatch(unit.source.expand(word))
    return int(number[1], 0) if number else None
