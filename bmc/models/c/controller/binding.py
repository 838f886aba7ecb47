"""Which objects the parameters of the step, init and property functions stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any
from weakref import WeakKeyDictionary

from pysmt.shortcuts import TRUE

from bmc.errors import InputRefused
from bmc.models.c.execute.access import refuse_long_double
from bmc.models.c.execute.memory import Content, Key, MemObject, Target, Value
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.source.program import Function, Typedef, is_old_style, nodes, unsupported, where
from bmc.models.c.source.types import (
    Arithmetic,
    ArrayType,
    CType,
    DataModel,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    StructType,
    offset_of,
    same_type,
    scalars,
)
from bmc.models.c.source.types import show_type as show
from bmc.records import dataclass
from bmc.system.original import Argument


@dataclass(eq=False)
class Binding:
    """Objects that stand for parameters, by parameter name.

    ``objects``: what a pointer parameter points to, or the scalar argument itself. ``pointers``: for each pointer
    parameter a constant object that holds its address. ``members``: what pointers inside of those objects point to.
    ``bound``: by init function and parameter, what the init's pointers stand for.
    """

    objects: dict[str, MemObject] = field(default_factory=dict)
    pointers: dict[str, MemObject] = field(default_factory=dict)
    const: set[str] = field(default_factory=set)
    members: dict[Key, MemObject] = field(default_factory=dict)
    bound: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, name: str, ctype: CType, function: Function) -> None:
        """Make the object of a step (or init) parameter."""
        if not name:
            raise InputRefused(f"a parameter of '{function.name}' has no name", where(function.node))
        if isinstance(ctype, IntType | FloatType):
            refuse_long_double(ctype, function.node)
            if isinstance(ctype, FloatType) and ctype.bits == 32 and is_old_style(function.node):
                text = f"float parameter '{name}' of the old-style definition of '{function.name}', which nothing calls"
                raise unsupported(text, function.node, "write the types of the parameters into its brackets")
            self.objects[name] = MemObject(name, ctype, "argument", name)
            return
        if not isinstance(ctype, PointerType) or isinstance(ctype.target, FunctionType):
            hint = step_with_objects(function) if isinstance(ctype, StructType) else ""
            text = f"parameter '{name}' of '{function.name}' has the unsupported type {show(ctype)}"
            raise InputRefused(text, where(function.node), hint)
        target = ctype.target if ctype.length is None else ArrayType(ctype.target, ctype.length)
        obj = self.objects[name] = MemObject(name, target, "pointee", name, volatile=ctype.volatile)
        obj.declared = where(function.node)
        self.pointers[name] = MemObject(name, ctype, "constant", name, const=True)
        if ctype.const:
            self.const.add(name)

    def connect(self) -> None:
        """Make the structs that pointer members of the parameters' objects point to: each one an object of its own."""
        for obj in [self.objects[name] for name in self.pointers]:
            self._connect(obj, [obj.ctype])

    def _connect(self, obj: MemObject, above: list[CType]) -> None:
        for path, ctype in scalars(obj.ctype):
            if not isinstance(ctype, PointerType) or not _is_whole_struct(ctype.target):
                continue
            if not any(same_type(ctype.target, outer) for outer in above):
                name = variable_name(obj, path)
                made = MemObject(name, ctype.target, "pointee", name, volatile=ctype.volatile, declared=obj.declared)
                self.members[obj, path] = self.objects[name] = made
                if ctype.const:
                    self.const.add(name)
                self._connect(made, [*above, ctype.target])

    def forget(self, objects: set[MemObject]) -> None:
        """Leave out some of the objects behind pointer members."""
        self.members = {key: obj for key, obj in self.members.items() if not {obj, key[0]} & objects}
        self.objects = {name: obj for name, obj in self.objects.items() if obj not in objects}

    def address(self, name: str) -> tuple[Target, ...]:
        """What the pointer parameter ``name`` points to."""
        obj = self.objects[name]
        pointer = self.pointers[name].ctype
        assert isinstance(pointer, PointerType)
        return (Target(TRUE(), obj, () if pointer.length is None else (0,)),)

    def pointer_cells(self) -> dict[Key, Content]:
        """The cells of the constant pointers, and of the pointer members that point somewhere."""
        cells: dict[Key, Content] = {
            (obj, ()): Content(self.address(name), TRUE()) for name, obj in self.pointers.items()
        }
        cells.update({key: Content((Target(TRUE(), obj),), TRUE()) for key, obj in self.members.items()})
        return cells

    def names(self) -> dict[str, MemObject]:
        """What each parameter name means in an expression."""
        inner = set(self.members.values())
        return {name: self.pointers.get(name, obj) for name, obj in self.objects.items() if obj not in inner}

    def bind(self, function: Function) -> None:
        """Decide what each pointer that an init function takes stands for; no two of them the same object.

        An object of its own where nothing is alike: an init may take the address of what the step takes by value.
        """
        pointers = [(name, ctype) for name, ctype in function.ctype.parameters if isinstance(ctype, PointerType)]
        taken = {name for name, ctype in pointers if name in self.pointers and same_type(self._type(name), ctype)}
        for name, ctype in pointers:
            known = name if name in taken else self.match(name, ctype)
            if known is None or (known in taken and known != name):
                known = f"{function.name}::{name}" if name in self.objects else name
                self.add(known, ctype, function)
            taken.add(known)
            self.bound[function.name, name] = known

    def match(self, name: str, ctype: CType) -> str | None:
        """The parameter that one called ``name`` of another function stands for: by name and type, else by type."""
        known = self.objects.get(name)
        if known is not None and same_type(self._type(name), ctype):
            return name
        if isinstance(ctype, IntType | FloatType):
            return None
        alike = [other for other in self.pointers if same_type(self._type(other), ctype)]
        return alike[0] if len(alike) == 1 else None

    def _type(self, name: str) -> CType:
        return self.pointers[name].ctype if name in self.pointers else self.objects[name].ctype


def _is_whole_struct(ctype: CType) -> bool:
    return isinstance(ctype, StructType) and any(True for _ in scalars(ctype))


def as_argument(value: Any, model: DataModel, node: Any) -> Argument:
    """An evaluated argument of an init call as the compiled original needs it."""
    if isinstance(value, Value) and not isinstance(value.ctype, PointerType) and value.bits.is_constant():
        return replace(as_scalar(value.ctype), kind="constant", number=int(value.bits.bv_unsigned_value()))
    if isinstance(value, Value) and isinstance(value.ctype, PointerType) and len(value.targets) == 1:
        target = value.targets[0]
        if target.object is None:
            return Argument("constant", size=model.pointer // 8)
        offset = offset_of(target.object.ctype, target.path, model)
        return Argument("address", target.object.name, offset)
    raise InputRefused("an argument of an init call must be a constant or the address of an object", where(node))


def as_scalar(ctype: Arithmetic, obj: str = "") -> Argument:
    """The value of the scalar object called ``obj`` as an argument."""
    signed, floating = isinstance(ctype, IntType) and ctype.signed, isinstance(ctype, FloatType)
    return Argument("value", obj, size=ctype.bits // 8, signed=signed, floating=floating)


def reachable_functions(roots: list[Function]) -> list[Function]:
    """``roots`` and all functions that they call, directly or not."""
    found = dict.fromkeys(roots)
    todo = list(found)
    for function in todo:
        for name in called_names(function.node):
            callee = function.unit.function(name)
            if isinstance(callee, Function) and callee.node is not None and callee not in found:
                found[callee] = None
                todo.append(callee)
    return todo


def step_with_objects(function: Function) -> str:
    """What to do about structs that a step takes or returns by value."""
    ctype, names = function.ctype, [name for name, _ in function.ctype.parameters]
    objects = [f"{_declared(each, function)} {name};" for name, each in ctype.parameters]
    call = f"{function.name}({', '.join(names)})"
    if isinstance(ctype.result, StructType):
        objects.append(f"{_declared(ctype.result, function)} result;")
        call = f"result = {call}"
    code = f"{' '.join(objects)} void tick(void) {{ {call}; }}"
    inputs = ", ".join(
        f'"{name}.*"' if isinstance(each, StructType) else f'"{name}"' for name, each in ctype.parameters
    )
    keys = f'functions.step = "tick"{f" and interface.input = [{inputs}]" if inputs else ""}'
    return f"make objects of them, in a file of your own in sources.files, with {keys}: {code}"


def _declared(ctype: CType, function: Function) -> str:
    """A type as a declaration has it: a struct that has no tag goes by the name of its typedef."""
    text = show(ctype)
    _, _, name = text.partition(" ")
    return name if isinstance(function.unit.scope.names.get(name), Typedef) else text


_NAMES: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


def called_names(node: Any) -> list[str]:
    """All identifiers that stand in a function's body, in source order."""
    known = _NAMES.get(node)
    if known is None:
        names = dict.fromkeys(item.name for item in nodes(node) if type(item).__name__ == "ID")
        known = _NAMES[node] = list(names)
    return known


def with_targets(objects: Iterable[MemObject], cells: Mapping[Key, Content]) -> list[MemObject]:
    """``objects``, and all that their pointers point to, directly or not."""
    targets: dict[MemObject, list[MemObject]] = {}
    for (obj, _), content in cells.items():
        if isinstance(content.term, tuple):
            targets.setdefault(obj, []).extend(t.object for t in content.term if t.object is not None)
    found = list(dict.fromkeys(objects))
    known = set(found)
    for obj in found:
        for other in targets.get(obj, ()):
            if other not in known:
                known.add(other)
                found.append(other)
    return found
