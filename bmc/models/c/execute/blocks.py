"""``memcpy``, ``memmove``, ``memset``, ``memcmp``: cell by cell where runs of whole cells are alike, else by bytes."""

from __future__ import annotations

from typing import Any

from bmc.errors import InputRefused
from bmc.formulas.terms import TRUE, constant
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.access import struct_scalars
from bmc.models.c.execute.byte_blocks import ByteBlocks, constant_size, truth_value
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.initialise import zero
from bmc.models.c.execute.memory import Content, MemObject, Place, State, Target, Value, is_null, live
from bmc.models.c.execute.varying_blocks import VaryingBlocks
from bmc.models.c.source.overlay import is_shared
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    IntType,
    Path,
    PointerType,
    StructType,
    same_type,
    size_of,
    type_at,
)


class Blocks:
    """Moves and fills memory cell by cell; what is no run of whole cells of the same types goes byte by byte."""

    def __init__(self, executor: Evaluator) -> None:
        self.executor = executor

    def set(self, node: Any, scope: Scope, state: State) -> Value:
        """``memset(target, byte, size)``; the target."""
        target, byte, size = self._values(node, scope, state)
        if arithmetic.constant_value(size) is None:
            VaryingBlocks(ByteBlocks(self.executor, state, node), size).fill(target, byte)
            return target
        number = arithmetic.constant_value(byte)
        places = self._run(target, size, state, node)
        cells = [(a, path, ctype) for a in places or () for path, ctype in struct_scalars(a.ctype, node)]
        if places is None or number is None or (number & 255 and not all(_is_plain(ctype) for *_, ctype in cells)):
            ByteBlocks(self.executor, state, node).fill(target, byte, constant_size(size, node))
            return target
        for place, path, ctype in cells:
            self.executor.put(place, path, _filled(ctype, number & 255), state, node)
        return target

    def copy(self, node: Any, scope: Scope, state: State) -> Value:
        """``memcpy(target, source, size)`` or ``memmove``; the target."""
        target, source, size = self._values(node, scope, state)
        if arithmetic.constant_value(size) is None:
            VaryingBlocks(ByteBlocks(self.executor, state, node), size).copy(target, source)
            return target
        to, from_ = self._run(target, size, state, node), self._run(source, size, state, node)
        if to and from_ and len(to) != len(from_):
            to, from_ = _elements(to), _elements(from_)
        if not (to and from_ and _alike(to, from_)):
            ByteBlocks(self.executor, state, node).copy(target, source, constant_size(size, node))
            return target
        if node.name.name.endswith("memcpy") and _overlap(to, from_):
            raise unsupported("memcpy between parts of one array that overlap", node, "memmove may overlap")
        contents = [
            (a, path, self.executor.content(b, path, state, node))
            for a, b in zip(to, from_, strict=True)
            for path, _ in struct_scalars(a.ctype, node)
        ]
        for place, path, content in contents:
            self.executor.put(place, path, content, state, node)
        return target

    def compare(self, node: Any, scope: Scope, state: State) -> Value:
        """``memcmp(left, right, size)``, where only its truth matters: no more of it is fixed but the sign."""
        if node is not self.executor.asked:
            hint = "write memcmp(...) != 0, whose value is 0 or 1"
            raise unsupported("'memcmp' used as a number: only whether it is 0 is read", node, hint)
        left, right, size = self._values(node, scope, state)
        if arithmetic.constant_value(size) is None:
            differ = VaryingBlocks(ByteBlocks(self.executor, state, node), size).compare(left, right)
        else:
            differ = ByteBlocks(self.executor, state, node).compare(left, right, constant_size(size, node))
        return truth_value(differ, self.executor.model.int_type)

    def _values(self, node: Any, scope: Scope, state: State) -> list[Value]:
        if len(node.args.exprs if node.args else ()) != 3:
            raise InputRefused(f"{node.name.name} needs 3 arguments", where(node))
        values = self.executor.arguments(node, scope, state)
        if not all(isinstance(v, Value) for v in values):
            raise InputRefused(f"{node.name.name} needs scalar arguments", where(node))
        if arithmetic.constant_value(values[2]) is not None:  # a negative one is a large one
            values[2] = self.executor.as_type(values[2], self.executor.model.size_t, node, state)
        return values

    def _run(self, pointer: Value, size: Value, state: State, node: Any) -> list[Place] | None:
        """The objects that fill the ``size`` bytes from where a pointer points to: one whole, or array elements.

        None where other bytes lie there.
        """
        count = constant_size(size, node)
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused(f"{node.name.name} needs a pointer", where(node))
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), state, node)
        runs = [(guard, obj, self._paths(obj, path, count)) for guard, obj, path in live(pointer.targets)]
        if not runs or is_null(pointer.targets).is_true():
            raise InputRefused(f"{node.name.name} on a null or unset pointer", where(node))
        _, first, paths = runs[0]
        types = [type_at(first.ctype, path) for path in paths]
        for _, obj, others in runs:
            if not others or len(others) != len(paths) or not same_type(type_at(obj.ctype, others[0]), types[0]):
                return None
        return [
            Place(tuple(Target(guard, obj, others[number]) for guard, obj, others in runs), ctype)
            for number, ctype in enumerate(types)
        ]

    def _paths(self, obj: MemObject, start: Path, count: int) -> list[Path]:
        """What is ``count`` bytes long at ``start``: the target, what it is the first part of, or array elements.

        None of it, if that is no whole object, or lies in a union.
        """
        if is_shared(obj.ctype, start):
            return []
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
                return []
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


def _alike(to: list[Place], from_: list[Place]) -> bool:
    """Whether two runs consist of objects of the same types."""
    return len(to) == len(from_) and all(same_type(a.ctype, b.ctype) for a, b in zip(to, from_, strict=True))


def _is_plain(ctype: CType) -> bool:
    """Whether any bytes make a value of the type, which fills them."""
    return isinstance(ctype, IntType) and not ctype.is_bool and not ctype.partial


def _filled(ctype: CType, byte: int) -> Content:
    if byte == 0:
        return zero(ctype)
    assert isinstance(ctype, IntType)
    return Content(constant(int.from_bytes(bytes([byte]) * (ctype.bits // 8), "little"), ctype.bits), TRUE())


def _first(ctype: CType) -> str | int | None:
    """The first member of an aggregate."""
    if isinstance(ctype, ArrayType):
        return 0
    if isinstance(ctype, StructType) and ctype.fields:
        return ctype.fields[0].name
    return None
