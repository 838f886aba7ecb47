"""Functions that a program calls and no source defines: the role of each one, and what its calls move.

Roles (docs/reference/project-file.md): ``input`` (delivers values: its result, or what it fills through pointers),
``output`` (takes values), ``shared`` (reads or writes a variable that several functions share), ``memory`` (its result
points to memory that the program owns), ``constant`` (its result never changes), ``status`` (its result tells that all
went well), ``trace`` (it writes a text, as ``printf`` does: its calls are passed over). A *slot* is one value that a
call moves. The project gives the roles, or the name does: that of a function of the run-time environment of AUTOSAR
(Rte_..., SchM_...).
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from pycparser import c_ast
from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import constant
from bmc.models.c.controller.binding import reachable_functions
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.execute.access import refuse_opaque, struct_scalars
from bmc.models.c.execute.calls import Calls
from bmc.models.c.execute.first_members import is_character
from bmc.models.c.execute.lvalues import Result
from bmc.models.c.execute.memory import Aggregate, MemObject, Place, State, Target, Value, live, whole
from bmc.models.c.source.extensions import ASSEMBLY
from bmc.models.c.source.program import Function, Program, Scope, nodes, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
    VoidType,
    bits_of_part,
    same_type,
    show_type,
    size_of,
    type_at,
)
from bmc.records import dataclass

RESULT = 0
"""The place of a function's result; its parameters count from 1."""


RTE_ROLES = {
    "Rte_Read_": "input",
    "Rte_DRead_": "input",
    "Rte_IRead_": "input",
    "Rte_Mode_": "input",
    "Rte_IsUpdated_": "input",
    "Rte_IStatus_": "status",
    "Rte_Write_": "output",
    "Rte_IWrite_": "output",
    "Rte_IWriteRef_": "output",
    "Rte_Switch_": "output",
    "Rte_IrvRead_": "shared",
    "Rte_IrvIRead_": "shared",
    "Rte_IrvWrite_": "shared",
    "Rte_IrvIWrite_": "shared",
    "Rte_Pim_": "memory",
    "Rte_CData_": "constant",
    "Rte_Prm_": "constant",
    "Rte_Enter_": "output",
    "Rte_Exit_": "output",
    "SchM_Enter_": "output",
    "SchM_Exit_": "output",
}
"""The role of a function by the start of its name."""

RTE_REFUSED = {
    "Rte_Receive_": "it takes from a queue, so that two calls in one step may give two values",
    "Rte_Send_": "it puts into a queue, so that two calls in one step are two values",
    "Rte_Call_": "it runs a server, whose effects are unknown",
    "Rte_Result_": "it gives the result of a server, which is unknown",
    "Rte_Invalidate_": "it changes what the status of another call is",
    "Rte_IInvalidate_": "it changes what the status of another call is",
    "Rte_Feedback_": "its answer depends on what was sent before",
    "Rte_IFeedback_": "its answer depends on what was sent before",
    "Rte_SwitchAck_": "its answer depends on what was sent before",
    "Rte_Trigger_": "it runs other code",
    "Rte_IrTrigger_": "it runs other code",
}
"""Why a function has no role unless the project gives it one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """``way``: ``gives`` (the program gets the object's value), ``takes`` (the object gets the program's value),
    ``points`` (the program gets the object's address)."""

    place: int
    way: str
    object: MemObject


@dataclass(frozen=True, slots=True)
class External:
    """One undefined function with a role."""

    function: Function
    role: str
    slots: tuple[Slot, ...]

    @property
    def result(self) -> Slot | None:
        """What its result is; None for nothing that is known."""
        return next((slot for slot in self.slots if slot.place == RESULT), None)


@dataclass(frozen=True, slots=True)
class UndefinedFunction:
    """``role`` is the one that its name and type speak for ('' for none), ``why`` what speaks for or against one.

    ``call`` is the first place that calls it.
    """

    name: str
    role: str
    why: str
    call: Location


def undefined_functions(
    program: Program, roots: Sequence[Function], knows: Callable[[str], bool]
) -> tuple[UndefinedFunction, ...]:
    """What ``roots``, and all that they call, call and no source defines, in source order, with proposed roles.

    Library functions that need no definition (``memcpy``, ``printf`` and the like) are among them, without a role.
    """
    return tuple(_proposed(function, node) for function, node in undefined_calls(program, roots, knows))


def undefined_calls(
    program: Program, roots: Sequence[Function], knows: Callable[[str], bool]
) -> Iterator[tuple[Function, Any]]:
    """Each undefined function that is called, with the first call; one that nothing declares is one that yields int
    (C90 6.3.2.2), or nothing where nobody uses what it yields, unless the library ``knows`` it."""
    seen: set[Function] = set()
    for caller in reachable_functions(list(roots)):
        for call in _calls(caller.node):
            name = call.name.name
            found = caller.unit.scope.find(name)
            if found is None and name != ASSEMBLY and not knows(name) and _is_free(name, caller.node):
                found = _implicit(program, caller, call)
            if isinstance(found, Function) and found.node is None and found not in seen:
                seen.add(found)
                yield found, call


def _is_free(name: str, body: Any) -> bool:
    """Whether no parameter and no declaration in a function has this name."""
    return all(node.name != name for node in nodes(body) if isinstance(node, c_ast.Decl))


def _implicit(program: Program, caller: Function, call: Any) -> Function:
    """A function that nothing declares, as this call declares it."""
    name, result = call.name.name, program.model.int_type
    known = program.functions.get(name)
    if known is None:
        alone = any(call is each for node in nodes(caller.node) for each in _statements_of(node))
        parameters = tuple(("", result) for _ in (call.args.exprs if call.args else ()))
        known = Function(name, FunctionType(VoidType() if alone else result, parameters, prototype=False), caller.unit)
        program.functions[name] = known
    caller.unit.scope.names[name] = known
    return known


def _statements_of(node: Any) -> list[Any]:
    """What stands as a statement in a node."""
    if isinstance(node, c_ast.If):
        return [node.iftrue, node.iffalse]
    inner = getattr(node, "block_items", None) or getattr(node, "stmts", None) or []
    return [*inner, getattr(node, "stmt", None)]


def _calls(node: Any) -> list[Any]:
    """All calls by name in a function's body, in source order."""
    return [item for item in nodes(node) if isinstance(item, c_ast.FuncCall) and isinstance(item.name, c_ast.ID)]


def _proposed(function: Function, node: Any) -> UndefinedFunction:
    name, ctype = function.name, function.ctype
    known = rte_role(name)
    if known or rte_reason(name):
        return UndefinedFunction(name, known, rte_reason(name) or "a function of AUTOSAR's RTE", where(node))
    pointers = [p for _, p in ctype.parameters if isinstance(p, PointerType)]
    if not ctype.parameters:
        role = "output" if isinstance(ctype.result, VoidType) else "input"
        return UndefinedFunction(name, role, "it has no parameters", where(node))
    if len(pointers) == len(ctype.parameters) and not any(p.const for p in pointers):
        return UndefinedFunction(name, "input", "it can fill what its parameters point to", where(node))
    if isinstance(ctype.result, VoidType) and all(p.const for p in pointers):
        return UndefinedFunction(name, "output", "it has no result", where(node))
    return UndefinedFunction(name, "", "it has parameters and a result", where(node))


@dataclass(eq=False)
class ExternalReader:
    """Gives undefined functions their roles and objects; ``shared`` are the variables that functions share."""

    config: SourceConfig
    shared: dict[str, MemObject] = field(default_factory=dict)

    def role(self, name: str) -> str:
        """The role of an undefined function: as the project says, else by its AUTOSAR name; '' for none."""
        config = self.config
        if any(name in group for group in config.shared.values()):
            return "shared"
        if _fits(name, config.input_functions):
            return "input"
        if _fits(name, config.output_functions):
            return "output"
        known = rte_role(name)
        return known or ("constant" if self.has_value(name) else "")

    def has_value(self, name: str) -> bool:
        """Whether the project gives a value to the function's result, or to a part of it."""
        return any(key == name or key.startswith((f"{name}->", f"{name}.")) for key in self.config.values)

    def read(self, function: Function, node: Any) -> External | None:
        """The role and slots of ``function``, None if it has no role. InputRefused where its type does not fit."""
        role = self.role(function.name)
        if function.ctype.variadic and role in ("", "output"):
            return External(function, "trace", ()) if role or is_trace(function) else None
        if not role:
            return None
        slots = {
            "input": self._input,
            "output": self._output,
            "shared": self._shared,
            "memory": self._from_result,
            "constant": self._from_result,
            "status": self._from_result,
        }[role](function, role, node)
        return External(function, role, tuple(slots))

    def _input(self, function: Function, role: str, node: Any) -> Iterator[Slot]:
        ctype = function.ctype
        for number, parameter in _moving(function):
            if not isinstance(parameter, PointerType) or parameter.const:
                text = f"the input function '{function.name}' takes a value, on which its answer may depend"
                raise InputRefused(text, where(node), "write a stand-in with one input function for each value")
            yield self._slot(function, number, "gives", node)
        if not isinstance(ctype.result, VoidType):
            status = bool(_moving(function)) and is_rte(function.name)
            yield from self._status(function, node) if status else [self._result(function, "local", node)]

    def _output(self, function: Function, role: str, node: Any) -> Iterator[Slot]:
        for number, _ in _moving(function):
            yield self._slot(function, number, "takes", node)
        if isinstance(function.ctype.result, PointerType):
            yield self._result(function, "local", node)
        elif not isinstance(function.ctype.result, VoidType):
            yield from self._status(function, node)

    def _from_result(self, function: Function, role: str, node: Any) -> Iterator[Slot]:
        """A function whose result is all: memory, a constant, a status."""
        if _moving(function):
            raise InputRefused(f"'{function.name}' has parameters: what they do is unknown", where(node))
        if role == "status":
            yield from self._status(function, node)
        elif role == "constant" and not self.has_value(function.name):
            raise InputRefused(
                f"the value of the parameter '{function.name}' is unknown",
                where(node),
                f'give it in [interface.values], or list "{function.name}" in functions.input',
            )
        else:
            yield self._result(function, "constant" if role == "constant" else "local", node)

    def _shared(self, function: Function, role: str, node: Any) -> Iterator[Slot]:
        """A reader or writer of one variable."""
        ctype, given, moving = function.ctype, self.config.shared.items(), _moving(function)
        if len(moving) > 1 or ctype.variadic:
            raise InputRefused(f"'{function.name}' has several parameters: it must move one value", where(node))
        if moving:
            number, parameter = moving[0]
            way = "gives" if isinstance(parameter, PointerType) and not parameter.const else "takes"
            slot = self._slot(function, number, way, node)
        else:
            slot = self._result(function, "local", node)
        name = next((key for key, group in given if function.name in group), "")
        name = name or shared_name(function.name)
        kept = self.shared.setdefault(name, MemObject(name, slot.object.ctype, "local", f"chaincover_{name}"))
        if not same_type(kept.ctype, slot.object.ctype):
            text = f"'{function.name}' moves a {show_type(slot.object.ctype)}, others of '{name}' a "
            raise InputRefused(text + show_type(kept.ctype), where(node))
        yield Slot(slot.place, slot.way, kept)
        if moving and not isinstance(ctype.result, VoidType):
            yield from self._status(function, node)

    def _status(self, function: Function, node: Any) -> Iterator[Slot]:
        """A result that tells whether a call worked: an input if the project says so, else a constant."""
        if not isinstance(function.ctype.result, IntType):
            raise InputRefused(f"the result of '{function.name}' tells no status: it is no integer", where(node))
        if _fits(function.name, self.config.status_functions):
            yield self._result(function, "local", node)
        elif is_rte(function.name) or self.has_value(function.name):
            yield self._result(function, "constant", node)

    def _result(self, function: Function, kind: str, node: Any) -> Slot:
        ctype = function.ctype.result
        way = "points" if isinstance(ctype, PointerType) else "gives"
        target = ctype.target if isinstance(ctype, PointerType) else ctype
        _check_movable(target, f"the result of '{function.name}'", node)
        obj = MemObject(function.name, target, kind, function.name, function.name, "", kind == "constant")
        return Slot(RESULT, way, obj)

    @staticmethod
    def _slot(function: Function, number: int, way: str, node: Any) -> Slot:
        """What a parameter moves: its value, or what it points to."""
        name, ctype = function.ctype.parameters[number - 1]
        target: CType = ctype
        if isinstance(ctype, PointerType):
            target = ctype.target if ctype.length is None else ArrayType(ctype.target, ctype.length)
        _check_movable(target, f"parameter {number} of '{function.name}'", node)
        alone = len(_moving(function)) == 1 and isinstance(function.ctype.result, VoidType)
        symbol = function.name if alone else name or f"parameter_{number}"
        shown = function.name if alone else f"{function.name}::{name or number}"
        return Slot(number, way, MemObject(shown, target, "local", symbol, function.name))


def _moving(function: Function) -> list[tuple[int, CType]]:
    """The parameters that move values, by number: all but the handle of a component's instance (``Rte_Instance``)."""
    numbered = list(enumerate((ctype for _, ctype in function.ctype.parameters), 1))
    first = numbered[0][1] if numbered else None
    handle = isinstance(first, PointerType) and isinstance(first.target, VoidType)
    return numbered[1:] if handle and is_rte(function.name) else numbered


def _check_movable(ctype: CType, what: str, node: Any) -> None:
    """Refuse a value without known cells, or one that holds addresses."""
    inner = ctype
    while isinstance(inner, ArrayType):
        inner = inner.element
    if isinstance(inner, VoidType | FunctionType | PointerType):
        shown = "void" if isinstance(inner, VoidType) else "an address"
        raise InputRefused(f"{what} is {shown}: what a call moves is unknown", where(node), "write a stand-in for it")
    if isinstance(inner, StructType):
        refuse_opaque(inner, node)
        for member in inner.members():
            _check_movable(member.type, f"{what}, member '{member.name}',", node)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def is_trace(function: Function) -> bool:
    """Whether a function looks like ``printf``: a text, then any arguments."""
    ctype = function.ctype
    first = ctype.parameters[0][1] if ctype.parameters else None
    text = isinstance(first, PointerType) and first.const and is_character(first.target)
    return ctype.variadic and text and all(not isinstance(p, PointerType) or p.const for _, p in ctype.parameters)


class ExternalCalls:
    """Runs calls of functions with known slots; ``outputs`` are patterns of those that the project calls outputs."""

    def __init__(self, executor: Calls, outputs: Sequence[str]) -> None:
        self.executor = executor
        self.outputs = outputs

    def arguments(self, external: External, node: Any, scope: Scope, state: State) -> list[Value | Aggregate]:
        """The values of a call's arguments, converted to the types of the parameters."""
        parameters = external.function.ctype.parameters
        arguments = self.executor.arguments(node, scope, state)
        variadic = external.function.ctype.variadic
        if len(arguments) < len(parameters) or (len(arguments) > len(parameters) and not variadic):
            text = f"'{external.function.name}' takes {len(parameters)} argument(s), not {len(arguments)}"
            raise InputRefused(text, where(node))
        named = zip(arguments, parameters, strict=False)
        values = [self.executor.as_type(value, ctype, node, state) for value, (_, ctype) in named]
        return values + arguments[len(parameters) :]

    def run(self, external: External, values: list[Value | Aggregate], node: Any, state: State) -> Result:
        """Move what each slot moves; the result is that of the call."""
        for slot in external.slots:
            if slot.place:
                self._move(slot, values[slot.place - 1], state, node)
        if external.role == "trace":
            self._check_unchanged(external, values, node)
        if external.result is not None:
            return self._result(external, external.result, state, node)
        if isinstance(external.function.ctype.result, IntType) and node is not self.executor.discarded:
            name = external.function.name
            raise InputRefused(
                f"what '{name}' returns is unknown",
                where(node),
                f'list "{name}" in functions.status (an input), or give its value in [interface.values]',
            )
        return None

    def _check_unchanged(self, external: External, values: Sequence[Value | Aggregate], node: Any) -> None:
        """Refuse a trace that might fill an object, unless the project says that it takes values alone."""
        name = external.function.name
        for number, value in enumerate(values, 1):
            if not isinstance(value, Value) or not isinstance(value.ctype, PointerType) or value.ctype.const:
                continue
            if any(not obj.const for _, obj, _ in live(value.targets)) and not _fits(name, self.outputs):
                text = f"'{name}', which no source defines, might change what its argument {number} points to"
                raise InputRefused(text, where(node), f'if it only takes values, list "{name}" in functions.output')

    def _result(self, external: External, slot: Slot, state: State, node: Any) -> Result:
        place = whole(slot.object)
        if slot.way == "points":
            ctype = external.function.ctype.result
            assert isinstance(ctype, PointerType)
            return Value(place.targets, ctype)
        return None if node is self.executor.discarded else self.executor.load(place, state, node)

    def _move(self, slot: Slot, value: Value | Aggregate, state: State, node: Any) -> None:
        """One argument: what it points to is filled or taken, or its value is taken."""
        own = whole(slot.object)
        if isinstance(value, Aggregate) or not isinstance(value.ctype, PointerType):
            self.executor.store(own, value, state, node)
            return
        for here, there in self._pairs(own, value, state, node):
            source, target = (here, there) if slot.way == "gives" else (there, here)
            self._copy(source, target, state, node)

    def _pairs(self, own: Place, pointer: Value, state: State, node: Any) -> Iterable[tuple[Place, Place]]:
        """Our object and what a pointer points to; element by element for an array."""
        if isinstance(own.ctype, ArrayType):
            index = self.executor.model.int_type
            for number in range(own.ctype.length or 0):
                there = self.executor.subscript(pointer, Value(constant(number, index.bits), index), state, node)
                yield Place((Target(TRUE(), own.targets[0].object, (number,)),), own.ctype.element), there
            return
        for target in pointer.targets:
            if not isinstance(own.ctype, StructType) and self._is_one_of_several(target, own.ctype):
                raise InputRefused(
                    f"how many elements '{node.name.name}' moves is unknown",
                    where(node),
                    f"declare its parameter as an array: {show_type(own.ctype)} data[COUNT]",
                )
        self.executor.check_not_null(Place(pointer.targets, own.ctype), state, node)
        yield own, self.executor.dereference(pointer, state, node)

    def _is_one_of_several(self, target: Target, ctype: CType) -> bool:
        """Whether a pointer to a ``ctype`` points to an element of an array, or to a byte of what has more of them."""
        if target.object is None:
            return False
        last = target.path[-1] if target.path else ""
        if isinstance(last, int) or bits_of_part(last) is not None:
            return True
        return is_character(ctype) and size_of(type_at(target.object.ctype, target.path), self.executor.model) > 1

    def _copy(self, source: Place, target: Place, state: State, node: Any) -> None:
        paths = [path for path, _ in struct_scalars(source.ctype, node)]
        contents = [(path, self.executor.content(source, path, state, node)) for path in paths]
        if not isinstance(source.ctype, StructType | ArrayType):
            self.executor.load(source, state, node)  # the read of an uninitialised value is noted
        for path, content in contents:
            self.executor.put(target, path, content, state, node)


_SHARED = ("Rte_IrvIRead_", "Rte_IrvRead_", "Rte_IrvIWrite_", "Rte_IrvWrite_")


def rte_role(name: str) -> str:
    """The role of a function of the run-time environment, '' for any other."""
    return _by_start(name, RTE_ROLES)


def rte_reason(name: str) -> str:
    """Why a function of the run-time environment has no role by itself; '' for one that has, and for any other."""
    return _by_start(name, RTE_REFUSED)


def is_rte(name: str) -> bool:
    """Whether a function belongs to the run-time environment: its result tells whether it worked, 0 is RTE_E_OK."""
    return name.startswith(("Rte_", "SchM_"))


def shared_name(name: str) -> str:
    """The name of the inter-runnable variable that a function reads or writes: ``Rte_Irv_<runnable>_<variable>``."""
    start = next(start for start in _SHARED if name.startswith(start))
    return "Rte_Irv_" + name.removeprefix(start)


def _by_start(name: str, table: dict[str, str]) -> str:
    return next((value for start, value in table.items() if name.startswith(start)), "")
