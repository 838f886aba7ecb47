"""From C sources to a program: every file is parsed, and its external declarations are entered into the program."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pycparser import c_ast

from bmc.errors import InputRefused, Location, UnsupportedConstruct
from bmc.limits import ELEMENTS, NUMBERS
from bmc.models.c.controller.registers import place_registers
from bmc.models.c.execute.initialise import Initialiser
from bmc.models.c.execute.memory import Content, Key, MemObject
from bmc.models.c.execute.statements import Executor
from bmc.models.c.source.declarations import TypeReader, is_const, is_volatile, refuse_thread_local, type_alignment
from bmc.models.c.source.options import Dialect
from bmc.models.c.source.pieces import OwnNodes, shared_body
from bmc.models.c.source.preprocess import Given
from bmc.models.c.source.program import (
    Function,
    Program,
    Typedef,
    Unit,
    Unreadable,
    is_old_style,
    nodes,
    parse_file,
    where,
)
from bmc.models.c.source.types import (
    DATA_MODELS,
    ArrayType,
    CType,
    FunctionType,
    StructType,
    count_scalars,
    same_type,
    show_type,
)
from bmc.native.assembly import instructions
from bmc.records import dataclass
from bmc.system.original import FileOptions

if TYPE_CHECKING:
    from bmc.models.c.source.survey import Survey


@dataclass(frozen=True)
class SourceConfig:
    """Sources, functions and interface of one controller (docs/reference/project-file.md names every key).

    ``init`` and ``step`` are function names or, for ``init``, calls; the empty ``step`` stands for the paper's
    convention (``compute``). Patterns are shell patterns over full variable names, or unambiguous tails.
    ``ranges`` maps a variable to the text of its allowed values: ``"0..9"`` or a tuple of constants.
    ``input_functions``, ``output_functions`` and ``status_functions`` are patterns of functions that no source defines,
    ``bases``: pointers to functions may name a struct that the function's begins with. ``shared`` names the variables
    that several of them share. ``bounds``: the range of values of functions of the C library, each with its place in
    the project. ``values`` maps what no source defines (an object, a function's result) to the text of its start value.
    ``zeroed`` are patterns of variables behind the step's pointers that hold 0 before init runs. ``initial`` are
    conditions on the inputs of the first step; ``dwell`` maps inputs to the number of steps for which they keep each
    value.
    ``where`` is the project file, for messages.
    """

    name: str
    files: tuple[str, ...]
    include: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    target: str = "lp64"
    init: tuple[str, ...] | None = None
    step: str = ""
    input: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    zeroed: tuple[str, ...] = ()
    ranges: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    at_most_one: tuple[tuple[str, ...], ...] = ()
    exactly_one: tuple[tuple[str, ...], ...] = ()
    assume: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    dwell: Mapping[str, int] = field(default_factory=dict)
    assumption: str = ""
    invariant: tuple[str, ...] = ()
    input_functions: tuple[str, ...] = ()
    output_functions: tuple[str, ...] = ()
    status_functions: tuple[str, ...] = ()
    bases: bool = False
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, Location]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    where: Location | None = None
    assembly: tuple[str, ...] = ()
    """The texts of inline assembly that changes nothing but its outputs."""
    options: Mapping[str, FileOptions] = field(default_factory=dict)
    """What the compiler is given for single files, by their names in ``files``."""
    dialect: Dialect = Dialect()
    """What its options say of the language that all files are written in."""
    pass_errors: bool = False
    """Whether ``#error`` directives are passed over."""


def read_program(config: SourceConfig, survey: Survey | None = None) -> tuple[Program, Executor, dict[Key, Content]]:
    """Parse all sources; the cells hold every file-scope object's start value. With a ``survey`` it gathers what is
    refused, and the rest is read."""
    if config.target not in DATA_MODELS:
        known = ", ".join(DATA_MODELS)
        raise InputRefused(f"unknown target '{config.target}'", config.where, f"known targets are {known}")
    if not config.files:
        raise InputRefused("no source file is named", config.where, "list the files in sources.files")
    model = config.dialect.model(config.target)
    program = Program([], model)
    executor = Executor(program, survey)
    executor.bases = config.bases
    executor.library.assembly.listed = frozenset(map(instructions, config.assembly))
    reader, nodes_of = UnitReader(program, executor.types, executor.initialiser), OwnNodes()
    for file in config.files:
        own = config.options.get(file, FileOptions())
        given = Given.of(own, config.include, config.defines, config.pass_errors)
        source, shared = parse_file(file, given, model, survey)
        tree = nodes_of.unit(shared)
        unit = Unit(source, tree, linked=program.functions)
        program.units.append(unit)
        reader.read(unit, survey)
        place_registers(source.text, tree, unit.scope, source, executor)
    return program, executor, _file_scope_cells(program, executor, reader)


class UnitReader:
    """Enters the file-scope declarations of a unit into its scope and into the program."""

    def __init__(self, program: Program, types: TypeReader, initialiser: Initialiser) -> None:
        self.program = program
        self.types = types
        self.initialiser = initialiser
        self.objects: dict[str, MemObject] = {}
        self.initialisers: dict[MemObject, tuple[Any, Unit]] = {}
        self.number = 0
        """That of the declaration which is read, in its unit."""

    def read(self, unit: Unit, survey: Survey | None = None) -> None:
        """Enter every external declaration of ``unit``; what cannot be read is refused where it is used. With a
        ``survey`` nothing ends that."""
        self.types.pack = self.types.model.choices.struct_pack
        packs: list[int] = []
        for self.number, node in enumerate(unit.tree.ext):
            if isinstance(node, c_ast.Pragma):
                self.types.pack = _pack(node, self.types.pack, packs, self.types.model.choices.struct_pack)
                continue
            name = node.decl.name if isinstance(node, c_ast.FuncDef) else getattr(node, "name", None)
            try:
                self._external(node, unit)
            except InputRefused as error:
                error.where = error.where or where(node)
                if name is not None and (survey is not None or isinstance(error, UnsupportedConstruct)):
                    unit.scope.names[name] = Unreadable(error)
                elif survey is None:
                    raise
                else:
                    survey.note(error, node)

    def _external(self, node: Any, unit: Unit) -> None:
        if isinstance(node, c_ast.FuncDef):
            self._function(node.decl, unit, node)
            self._linked_within(shared_body(node), unit)
        elif isinstance(node, c_ast.Typedef):
            ctype = self._named(node, unit)
            unit.scope.names[node.name] = Typedef(
                ctype, is_const(node, unit.scope), is_volatile(node, unit.scope), type_alignment(node, unit.scope)
            )
        elif isinstance(node, c_ast.StaticAssert):
            self.types.check_static_assert(node, unit.scope)
        elif isinstance(node, c_ast.Decl):
            self._declaration(node, unit)

    def _named(self, node: Any, unit: Unit) -> CType:
        ctype = self.types.read(node, unit.scope)
        if isinstance(ctype, StructType) and not ctype.tag:
            ctype.tag = node.name
        return ctype

    def _declaration(self, node: Any, unit: Unit) -> None:
        ctype = self.types.read(node, unit.scope)
        if node.name is None:
            return
        if isinstance(ctype, FunctionType):
            self._function(node, unit, None)
        else:
            self._variable(node, ctype, unit)

    def _linked_within(self, body: Any, unit: Unit) -> None:
        """Enter the objects that a block declares extern; what is wrong with one is told where the block is run."""
        if body not in _externs:
            found = (node for node in nodes(body) if isinstance(node, c_ast.Decl) and "extern" in node.storage)
            _externs[body] = tuple(node for node in found if not isinstance(node.type, c_ast.FuncDecl))
        for node in _externs[body]:
            with suppress(InputRefused):
                self._declaration(node, unit)

    def _function(self, decl: Any, unit: Unit, definition: Any) -> None:
        ctype = self.types.read(decl, unit.scope)
        if not isinstance(ctype, FunctionType):
            text = f"C syntax error: '{decl.name}' has a body, and is declared as {show_type(ctype)}"
            raise InputRefused(text, where(decl), "write its parameters in brackets, or leave the body out")
        static = "static" in decl.storage
        known = unit.scope.names.get(decl.name)
        if not static and not (isinstance(known, Function) and known.static):
            known = self.program.functions.get(decl.name)
        if not isinstance(known, Function):
            known = Function(decl.name, ctype, unit, None, static)
            if not static:
                self.program.functions[decl.name] = known
        unit.scope.names[decl.name] = known
        if definition is not None and is_old_style(definition):
            ctype = replace(ctype, prototype=False)
        known.declared.setdefault(unit, self.number)
        if ctype.prototype:
            known.prototyped.setdefault(unit, self.number)
        if definition is not None:
            if known.node is not None:
                text = f"function '{decl.name}' is defined twice, here and in {where(known.node)}"
                raise InputRefused(
                    text, where(definition), "leave one of the two out of sources.files, or make it static"
                )
            known.node, known.unit, known.ctype, known.number = definition, unit, ctype, self.number

    def _variable(self, node: Any, ctype: CType, unit: Unit) -> None:
        refuse_thread_local(node)
        if isinstance(ctype, ArrayType) and ctype.length is None and node.init is not None:
            ctype = self.initialiser.completed(ctype, node.init, unit.scope)
        static = "static" in node.storage
        const = is_const(node, unit.scope)
        known = unit.scope.names.get(node.name)
        if not isinstance(known, MemObject):
            known = None if static else self.objects.get(node.name)
        if known is None:
            known = MemObject(node.name, ctype, "constant" if const else "global", node.name, "", "", const)
            known.declared = where(node)
            if not static:
                self.objects[node.name] = known
        else:
            self._redeclare(known, ctype, node)
        known.volatile = known.volatile or is_volatile(node, unit.scope)
        unit.scope.names[node.name] = known
        if node.init is not None:
            if known in self.initialisers:
                raise InputRefused(f"'{node.name}' is initialised twice", where(node))
            self.initialisers[known] = (node.init, unit)
        if node.init is not None or "extern" not in node.storage:
            known.file = known.file or unit.source.file

    @staticmethod
    def _redeclare(known: MemObject, ctype: CType, node: Any) -> None:
        """A further declaration of an object: it must agree, and may complete an array's length."""
        old = known.ctype
        if isinstance(old, ArrayType) and isinstance(ctype, ArrayType) and None in (old.length, ctype.length):
            agree = same_type(old.element, ctype.element)
            known.ctype = ctype if old.length is None else old
        else:
            agree = same_type(old, ctype)
            if isinstance(old, StructType) and old.fields is None:
                known.ctype = ctype
        if not agree:
            text = f"'{node.name}' is declared as {show_type(ctype)} here and as {show_type(old)} elsewhere"
            raise InputRefused(text, where(node), f"the other declaration: {known.declared}")


_externs: WeakKeyDictionary[Any, tuple[Any, ...]] = WeakKeyDictionary()
"""By the body of a function, the objects that it declares extern; a tree is read several times."""


def _pack(node: Any, current: int, saved: list[int], default: int) -> int:
    """The packing after a ``#pragma pack``; 0 for none, ``default`` where none is set."""
    text = node.string if isinstance(node.string, str) else node.string.value
    words = re.findall(r"\w+", text)
    numbers = [int(word) for word in words if word.isdigit()]
    if words[:1] != ["pack"] or any(number not in (0, 1, 2, 4, 8, 16) for number in numbers):  # gcc passes these over
        return current
    if "push" in words:
        saved.append(current)
    if numbers:
        return numbers[-1]
    if "pop" in words:
        return saved.pop() if saved else default
    return current if "push" in words else default


def _file_scope_cells(program: Program, executor: Executor, reader: UnitReader) -> dict[Key, Content]:
    """The start values of all objects; where these are too many together, the largest may not be used."""
    names: dict[str, list[MemObject]] = {}
    units: dict[MemObject, Unit] = {}
    for unit in program.units:
        for obj in unit.scope.names.values():
            if isinstance(obj, MemObject) and obj not in units:
                names.setdefault(obj.symbol, []).append(obj)
                units[obj] = unit
    rising = sorted(units, key=lambda obj: count_scalars(obj.ctype))
    sums = itertools.accumulate(count_scalars(obj.ctype) for obj in rising)
    beyond = {obj for obj, total in zip(rising, sums, strict=True) if total > NUMBERS.most}
    cells: dict[Key, Content] = {}
    for obj, unit in units.items():
        init, home = reader.initialisers.get(obj, (None, unit))
        if obj in beyond and count_scalars(obj.ctype) <= ELEMENTS.most:
            obj.refusal = NUMBERS.refusal(obj.declared)
        else:
            cells.update(executor.initialiser.static(obj, init, home.scope))
    for same in names.values():
        for obj in same if len(same) > 1 else ():
            obj.name = f"{obj.file.rsplit('/', 1)[-1]}::{obj.symbol}"
    return cells
