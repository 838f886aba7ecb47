"""Where the cells of objects lie in bits, and the cells of unions, whose members share bits.

The cells of a union are its bits cut at every border of any member's cell. A cell that is just a member's own has that
member's path; another one is named as some bits of the narrowest member that it is a part of: ``u.word[10:31]``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from bmc.limits import ELEMENTS
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    DataModel,
    FloatType,
    IntType,
    Path,
    PointerType,
    StructType,
    bits_of,
    bits_of_part,
    bits_part,
    count_scalars,
    member_offsets,
    same_type,
    type_at,
)
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of an object: its path, its type, and its bits from ``start`` up to, not including, ``end``."""

    path: Path
    ctype: CType
    start: int
    end: int


def cells_of(ctype: CType, model: DataModel, bits: tuple[int, int], path: Path = (), at: int = 0) -> Iterator[Cell]:
    """The cells of an object of type ``ctype`` that share bits with those from the first of ``bits`` up to the second.

    They come in order. ``path`` and ``at`` are what leads to the object, and the bit at which it starts.
    """
    low, high = bits
    if isinstance(ctype, ArrayType):
        size = bits_of(ctype.element, model)
        first, last = max((low - at) // size, 0) if size else 0, -((at - high) // size) if size else 0
        for index in range(first, min(last, ctype.length or 0)):
            yield from cells_of(ctype.element, model, bits, (*path, index), at + index * size)
    elif isinstance(ctype, StructType):
        if ctype.is_union:
            yield from _pieces(ctype, bits, path, at)
            return
        for member, offset in zip(ctype.members(), member_offsets(ctype, model), strict=True):
            start = at + offset
            if member.has_cells and start < high and low < start + bits_of(member.type, model):
                yield from cells_of(member.type, model, bits, (*path, member.name), start)
    elif isinstance(ctype, IntType | FloatType | PointerType):
        end = at + bits_of(ctype, model)
        if at < high and low < end:
            yield Cell(path, ctype, at, end)


def _pieces(union: StructType, bits: tuple[int, int], path: Path, at: int) -> Iterator[Cell]:
    low, high = bits
    first = bisect_right(union.pieces, low - at, key=lambda piece: piece[2])
    for number in range(max(first - 1, 0), len(union.pieces)):
        inner, ctype, start = union.pieces[number]
        assert isinstance(ctype, IntType | FloatType)
        if at + start >= high:
            return
        if low < at + start + ctype.bits:
            yield Cell(path + inner, ctype, at + start, at + start + ctype.bits)


def is_shared(ctype: CType, path: Path) -> bool:
    """Whether a path leads into a union, or to bits of an object: then it need not be that of a cell."""
    for part in path:
        if bits_of_part(part) is not None or (isinstance(ctype, StructType) and ctype.is_union):
            return True
        ctype = type_at(ctype, (part,))
    return False


def outside_of_unions(ctype: CType, path: Path) -> Path:
    """The part of a path that leads to the outermost union on it, or to the object of which it names some bits."""
    for depth in range(len(path)):
        if is_shared(ctype, path[: depth + 1]):
            return path[:depth]
    return path


def pieces_of(union: StructType, model: DataModel) -> tuple[tuple[Path, CType, int], ...] | None:
    """The cells of a union; None if a member holds addresses or a ``long double``. TooLarge if there are too many."""
    members = [member for member in union.members() if member.has_cells]
    ELEMENTS.check(sum(count_scalars(member.type) for member in members))
    size = bits_of(union, model)
    columns = [list(cells_of(member.type, model, (0, size), (member.name,))) for member in members]
    every = [cell for column in columns for cell in column]
    if any(not _is_number(cell.ctype) for cell in every) or any(_is_opaque(member.type) for member in members):
        return None
    borders = sorted({border for cell in every for border in (cell.start, cell.end)})
    places = {border: number for number, border in enumerate(borders)}
    over: list[list[Cell]] = [[] for _ in borders]
    for cell in every:
        for number in range(places[cell.start], places[cell.end]):
            over[number].append(cell)
    parts = zip(over, pairwise(borders), strict=False)
    return tuple((*_piece(cells, start, end), start) for cells, (start, end) in parts if cells)


def _piece(cells: list[Cell], start: int, end: int) -> tuple[Path, CType]:
    """The cell for the bits from ``start`` up to ``end``, over which ``cells`` of members lie."""
    exact = [cell for cell in cells if (cell.start, cell.end) == (start, end)]
    plain = next((cell for cell in exact if holds_any(cell.ctype)), None)
    if plain is None and len(exact) == len(cells) and all(same_type(cell.ctype, exact[0].ctype) for cell in exact):
        plain = exact[0]
    if plain is not None:
        return plain.path, plain.ctype
    numbers = [cell for cell in cells if isinstance(cell.ctype, IntType)]
    first = min(numbers or cells, key=lambda cell: cell.end - cell.start)
    path = (*first.path, bits_part(start - first.start, end - 1 - first.start))
    return path, type_at(first.ctype, path[-1:])


def holds_any(ctype: CType) -> bool:
    """Whether every pattern of its bits is a value of the type: no ``_Bool`` of a byte, no NaN with a payload."""
    return isinstance(ctype, IntType) and not (ctype.is_bool and ctype.bits > 1)


def _is_number(ctype: CType) -> bool:
    return isinstance(ctype, IntType) or (isinstance(ctype, FloatType) and ctype.readable)


def _is_opaque(ctype: CType) -> bool:
    """Whether a union that has no cells is within."""
    while isinstance(ctype, ArrayType):
        ctype = ctype.element
    if not isinstance(ctype, StructType):
        return False
    return ctype.opaque or any(_is_opaque(member.type) for member in ctype.members())
