"""``memset``, ``memcpy`` and ``memmove`` of whole objects and of consecutive array elements."""

from __future__ import annotations

from typing import Any

from pysmt.shortcuts import TRUE

from bmc.c.execute import arithmetic
from bmc.c.execute.access import struct_scalars
from bmc.c.execute.expressions import Evaluator
from bmc.c.execute.initialise import zero
from bmc.c.execute.memory import Content, MemObject, Place, State, Target, Value, is_null, live
from bmc.c.source.program import Scope, unsupported, where
from bmc.c.source.types import ArrayType, CType, IntType, Path, PointerType, StructType, same_type, size_of, type_at
from bmc.errors import InputRefused
from bmc.formulas.terms import constant


class Blocks:
    """Moves and fills memory cell by cell; what is no run of whole cells is refused."""

    def __init__(self, executor: Evaluator) -> None:
        self.executor = executor

    def set(self, node: Any, scope: Scope, state: State) -> Value:
        """``memset(target, byte, size)``; the target."""
        target, byte, size = self._values(node, scope, state)
        number = arithmetic.constant_value(byte)
        if number is None:
            raise unsupported("memset with a byte that is not constant", node)
        for place in self._run(target, size, state, node):
            for path, ctype in struct_scalars(place.ctype, node):
                self.executor.put(place, path, _filled(ctype, number & 255, node), state, node)
        return target

    def copy(self, node: Any, scope: Scope, state: State) -> Value:
        """``memcpy(target, source, size)`` or ``memmove``; the target."""
        target, source, size = self._values(node, scope, state)
        to, from_ = self._run(target, size, state, node), self._run(source, size, state, node)
        if len(to) != len(from_):
            to, from_ = _elements(to), _elements(from_)
        if len(to) != len(from_) or not all(same_type(a.ctype, b.ctype) for a, b in zip(to, from_, strict=True)):
            raise unsupported(f"{node.name.name} between objects of different types", node)
        if node.name.name == "memcpy" and _overlap(to, from_):
            raise unsupported("memcpy between parts of one array that overlap", node, "memmove may overlap")
        contents = [
            (a, path, self.executor.content(b, path, state, node))
            for a, b in zip(to, from_, strict=True)
            for path, _ in struct_scalars(a.ctype, node)
        ]
        for place, path, content in contents:
            self.executor.put(place, path, content, state, node)
        return target

    def _values(self, node: Any, scope: Scope, state: State) -> list[Value]:
        if len(node.args.exprs if node.args else ()) != 3:
            raise InputRefused(f"{node.name.name} needs 3 arguments", where(node))
        values = self.executor.arguments(node, scope, state)
        if not all(isinstance(v, Value) for v in values):
            raise InputRefused(f"{node.name.name} needs scalar arguments", where(node))
        return values

    def _run(self, pointer: Value, size: Value, state: State, node: Any) -> list[Place]:
        """The objects that fill the ``size`` bytes from where a pointer points to: one whole, or array elements."""
        count = arithmetic.constant_value(size)
        if count is None:
            raise unsupported(f"{node.name.name} of a size that is not constant", node)
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused(f"{node.name.name} needs a pointer", where(node))
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), state, node)
        runs = [(guard, obj, self._paths(obj, path, count, node)) for guard, obj, path in live(pointer.targets)]
        if not runs or is_null(pointer.targets).is_true():
            raise InputRefused(f"{node.name.name} on a null or unset pointer", where(node))
        _, first, paths = runs[0]
        types = [type_at(first.ctype, path) for path in paths]
        for _, obj, others in runs[1:]:
            if len(others) != len(paths) or not same_type(type_at(obj.ctype, others[0]), types[0]):
                raise unsupported(f"{node.name.name} through a pointer to objects of different types", node)
        return [
            Place(tuple(Target(guard, obj, others[number]) for guard, obj, others in runs), ctype)
            for number, ctype in enumerate(types)
        ]

    def _paths(self, obj: MemObject, start: Path, count: int, node: Any) -> list[Path]:
        """What is ``count`` bytes long at ``start``: the target, what it is the first part of, or array elements."""
        model = self.executor.model
        path = start
        while True:
            size = size_of(type_at(obj.ctype, path), model)
            if size == count:
                return [path]
            around = type_at(obj.ctype, path[:-1]) if path else None
            if isinstance(around, ArrayType) and count and count % size == 0:
                first, number = int(path[-1]), count // size
                if first + number <= (around.length or 0):
                    return [(*path[:-1], first + step) for step in range(number)]
            if around is None or path[-1] not in (0, _first(around)):
                raise unsupported(f"{node.name.name} of {count} bytes, which is no whole object", node)
            path = path[:-1]


def _elements(places: list[Place]) -> list[Place]:
    """The elements of an array that stands alone; anything else as it is."""
    array = places[0].ctype
    if len(places) != 1 or not isinstance(array, ArrayType):
        return places
    targets = places[0].targets
    return [
        Place(tuple(Target(t.guard, t.object, (*t.path, step)) for t in targets), array.element)
        for step in range(array.length or 0)
    ]


def _overlap(to: list[Place], from_: list[Place]) -> bool:
    """Whether a part that is written is read for another part."""
    for number, place in enumerate(to):
        written = {(t.object, t.path) for t in place.targets}
        for other, source in enumerate(from_):
            if other != number and any((t.object, t.path) in written for t in source.targets):
                return True
    return False


def _filled(ctype: CType, byte: int, node: Any) -> Content:
    if byte == 0:
        return zero(ctype)
    if not isinstance(ctype, IntType) or ctype.is_bool:
        raise unsupported("memset with a byte other than 0 over pointers, floats or _Bool", node)
    return Content(constant(int.from_bytes(bytes([byte]) * (ctype.bits // 8), "little"), ctype.bits), TRUE())


def _first(ctype: CType) -> str | int | None:
    """The first member of an aggregate."""
    if isinstance(ctype, ArrayType):
        return 0
    if isinstance(ctype, StructType) and ctype.fields:
        return ctype.fields[0].name
    return None
