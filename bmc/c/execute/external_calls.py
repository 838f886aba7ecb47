"""Calls of functions that no source defines: values moved between the program and the objects behind the function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pysmt.shortcuts import TRUE

from bmc.c.controller.externals import External, Slot
from bmc.c.execute.access import struct_scalars
from bmc.c.execute.calls import Calls
from bmc.c.execute.lvalues import Result
from bmc.c.execute.memory import Aggregate, MemObject, Place, State, Target, Value
from bmc.c.source.program import Scope, where
from bmc.c.source.types import ArrayType, IntType, PointerType, StructType, show_type
from bmc.errors import InputRefused
from bmc.formulas.terms import constant


class ExternalCalls:
    """Runs calls of functions with known slots."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor

    def arguments(self, external: External, node: Any, scope: Scope, state: State) -> list[Value | Aggregate]:
        """The values of a call's arguments, converted to the types of the parameters."""
        parameters = external.function.ctype.parameters
        arguments = self.executor.arguments(node, scope, state)
        if len(arguments) != len(parameters):
            text = f"'{external.function.name}' takes {len(parameters)} argument(s), not {len(arguments)}"
            raise InputRefused(text, where(node))
        return [
            self.executor.as_type(value, ctype, node, state)
            for value, (_, ctype) in zip(arguments, parameters, strict=True)
        ]

    def run(self, external: External, values: list[Value | Aggregate], node: Any, state: State) -> Result:
        """Move what each slot moves; the result is that of the call."""
        for slot in external.slots:
            if slot.place:
                self._move(slot, values[slot.place - 1], state, node)
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

    def _result(self, external: External, slot: Slot, state: State, node: Any) -> Result:
        place = _whole(slot.object)
        if slot.way == "points":
            ctype = external.function.ctype.result
            assert isinstance(ctype, PointerType)
            return Value(place.targets, ctype)
        return None if node is self.executor.discarded else self.executor.load(place, state, node)

    def _move(self, slot: Slot, value: Value | Aggregate, state: State, node: Any) -> None:
        """One argument: what it points to is filled or taken, or its value is taken."""
        own = _whole(slot.object)
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
            if target.path and isinstance(target.path[-1], int) and not isinstance(own.ctype, StructType):
                raise InputRefused(
                    f"how many elements '{node.name.name}' moves is unknown",
                    where(node),
                    f"declare its parameter as an array: {show_type(own.ctype)} data[COUNT]",
                )
        self.executor.check_not_null(Place(pointer.targets, own.ctype), state, node)
        yield own, self.executor.dereference(pointer, node)

    def _copy(self, source: Place, target: Place, state: State, node: Any) -> None:
        paths = [path for path, _ in struct_scalars(source.ctype, node)]
        contents = [(path, self.executor.content(source, path, state, node)) for path in paths]
        if not isinstance(source.ctype, StructType | ArrayType):
            self.executor.load(source, state, node)  # an uninitialised value is suspected
        for path, content in contents:
            self.executor.put(target, path, content, state, node)


def _whole(obj: MemObject) -> Place:
    return Place((Target(TRUE(), obj),), obj.ctype)
