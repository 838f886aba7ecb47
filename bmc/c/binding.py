"""Which objects the parameters of the step, init and property functions stand for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pysmt.shortcuts import TRUE

from bmc.c.layout import offset_of
from bmc.c.memory import Content, MemObject, Target, Value
from bmc.c.program import Function, Program, where
from bmc.c.types import ArrayType, CType, DataModel, FunctionType, IntType, PointerType, StructType, same_type
from bmc.c.types import show_type as show
from bmc.errors import InputRefused
from bmc.interface import Argument


@dataclass(eq=False)
class Binding:
    """Objects that stand for parameters, by parameter name.

    ``objects``: what a pointer parameter points to, or the scalar argument itself. ``pointers``: for each pointer
    parameter a constant object that holds its address.
    """

    objects: dict[str, MemObject] = field(default_factory=dict)
    pointers: dict[str, MemObject] = field(default_factory=dict)
    const: set[str] = field(default_factory=set)

    def add(self, name: str, ctype: CType, function: Function) -> None:
        """Make the object of a step (or init) parameter."""
        if not name:
            raise InputRefused(f"a parameter of '{function.name}' has no name", where(function.node))
        if isinstance(ctype, IntType):
            self.objects[name] = MemObject(name, ctype, "argument", name)
            return
        if not isinstance(ctype, PointerType) or isinstance(ctype.target, FunctionType):
            hint = "pass a pointer, or a scalar" if isinstance(ctype, StructType) else ""
            text = f"parameter '{name}' of '{function.name}' has the unsupported type {show(ctype)}"
            raise InputRefused(text, where(function.node), hint)
        target = ctype.target if ctype.length is None else ArrayType(ctype.target, ctype.length)
        self.objects[name] = MemObject(name, target, "pointee", name)
        self.pointers[name] = MemObject(name, ctype, "constant", name, const=True)
        if ctype.const:
            self.const.add(name)

    def address(self, name: str) -> tuple[Target, ...]:
        """What the pointer parameter ``name`` points to."""
        obj = self.objects[name]
        pointer = self.pointers[name].ctype
        assert isinstance(pointer, PointerType)
        return (Target(TRUE(), obj, () if pointer.length is None else (0,)),)

    def pointer_cells(self) -> dict[tuple[MemObject, tuple[str | int, ...]], Content]:
        """The cells of the constant pointers."""
        return {(obj, ()): Content(self.address(name), TRUE()) for name, obj in self.pointers.items()}

    def names(self) -> dict[str, MemObject]:
        """What each parameter name means in an expression."""
        return {name: self.pointers.get(name, obj) for name, obj in self.objects.items()}

    def match(self, name: str, ctype: CType) -> str | None:
        """The parameter that one called ``name`` of another function stands for: by name and type, else by type."""
        known = self.objects.get(name)
        if known is not None and same_type(self._type(name), ctype):
            return name
        if isinstance(ctype, IntType):
            return None
        alike = [other for other in self.pointers if same_type(self._type(other), ctype)]
        return alike[0] if len(alike) == 1 else None

    def _type(self, name: str) -> CType:
        return self.pointers[name].ctype if name in self.pointers else self.objects[name].ctype


def as_argument(value: Any, model: DataModel, node: Any) -> Argument:
    """An evaluated argument of an init call as the compiled original needs it."""
    if isinstance(value, Value) and isinstance(value.ctype, IntType) and value.bits.is_constant():
        number = int(value.bits.bv_unsigned_value())
        return Argument("constant", size=value.ctype.bits // 8, signed=value.ctype.signed, number=number)
    if isinstance(value, Value) and isinstance(value.ctype, PointerType) and len(value.targets) == 1:
        target = value.targets[0]
        if target.object is None:
            return Argument("constant", size=model.pointer // 8)
        offset = offset_of(target.object.ctype, target.path, model)
        return Argument("address", target.object.name, offset)
    raise InputRefused("an argument of an init call must be a constant or the address of an object", where(node))


def reachable_functions(program: Program, roots: list[Function]) -> list[Function]:
    """``roots`` and all functions that they call, directly or not."""
    found = list(dict.fromkeys(roots))
    for function in found:
        for name in called_names(function.node):
            callee = function.unit.scope.find(name)
            if isinstance(callee, Function) and callee.node is not None and callee not in found:
                found.append(callee)
    return found


def called_names(node: Any) -> list[str]:
    """All identifiers that stand in a function's body, in source order."""
    names: dict[str, None] = {}
    todo = [node]
    while todo:
        item = todo.pop()
        if type(item).__name__ == "ID":
            names[item.name] = None
        todo.extend(child for _, child in reversed(item.children()))
    return list(names)
