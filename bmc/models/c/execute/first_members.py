"""Pointers to a struct and to its first member (C11 6.7.2.1p15): each is converted to the other by a cast.

The same holds of a union and each of its members, and of an array and its first element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bmc.formulas.terms import TRUE
from bmc.models.c.execute.memory import Target, merge_targets
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    FunctionType,
    IntType,
    Path,
    PointerType,
    Step,
    StructType,
    VoidType,
    same_type,
    type_at,
)


def is_character(ctype: CType) -> bool:
    """Whether a type is one of the three character types, as which any object may be accessed."""
    return isinstance(ctype, IntType) and ctype.rank == 1


def converted(targets: tuple[Target, ...], ctype: CType) -> tuple[Target, ...]:
    """What a pointer points to after its conversion to a pointer to ``ctype``.

    A target stays as it is where no object of that type starts there, and for ``void`` and characters.
    """
    found = tuple(_converted(target, ctype) for target in targets)
    return targets if found == targets else merge_targets([(TRUE(), found)])


def passes_for(given: FunctionType, wanted: FunctionType) -> bool:
    """Whether two functions differ in nothing but pointers to structs of which one begins with the other."""
    alike = given.variadic == wanted.variadic and same_type(given.result, wanted.result)
    if not alike or len(given.parameters) != len(wanted.parameters):
        return False
    pairs = zip(given.parameters, wanted.parameters, strict=True)
    return all(same_type(a, b) or _one_begins_with_the_other(a, b) for (_, a), (_, b) in pairs)


def _one_begins_with_the_other(left: CType, right: CType) -> bool:
    if not isinstance(left, PointerType) or not isinstance(right, PointerType):
        return False
    a, b = left.target, right.target
    structs = isinstance(a, StructType) and isinstance(b, StructType)
    return structs and (_within(a, b) is not None or _within(b, a) is not None)


def begin_alike(left: CType, right: CType) -> bool:
    """Whether objects of two types begin with a struct or union of one type, so that a member of it may tell them."""
    return any(isinstance(each, StructType) and _within(right, each) is not None for each in _beginnings(left))


def _beginnings(ctype: CType) -> Iterator[CType]:
    """A type, and those of what may start where it starts."""
    yield ctype
    for _, inner in _first(ctype):
        yield from _beginnings(inner)


def _converted(target: Target, ctype: CType) -> Target:
    obj = target.object
    if obj is None or isinstance(ctype, VoidType | FunctionType) or is_character(ctype):
        return target
    path = _around(obj.ctype, target.path, ctype)
    if path is None:
        inner = _within(type_at(obj.ctype, target.path), ctype)
        path = target.path if inner is None else target.path + inner
    return target if path == target.path else Target(target.guard, obj, path)


def _around(ctype: CType, path: Path, wanted: CType) -> Path | None:
    """The object of the type ``wanted`` that is at ``path``, or of which that is the first part."""
    while not same_type(type_at(ctype, path), wanted):
        if not path or path[-1] not in (part for part, _ in _first(type_at(ctype, path[:-1]))):
            return None
        path = path[:-1]
    return path


def _within(ctype: CType, wanted: CType) -> Path | None:
    """The way from an object to a first part of it that has the type ``wanted``."""
    if same_type(ctype, wanted):
        return ()
    ways: Iterable[Path | None] = (
        None if inner is None else (part, *inner) for part, each in _first(ctype) for inner in [_within(each, wanted)]
    )
    return next((way for way in ways if way is not None), None)


def _first(ctype: CType) -> Iterator[tuple[Step, CType]]:
    """The parts that start where an object starts and to which a pointer may point."""
    if isinstance(ctype, ArrayType) and ctype.length != 0:
        yield 0, ctype.element
    elif isinstance(ctype, StructType) and ctype.fields and not ctype.opaque:
        for member in ctype.fields if ctype.is_union else ctype.fields[:1]:
            if not member.bit_field:
                yield member.name, member.type
