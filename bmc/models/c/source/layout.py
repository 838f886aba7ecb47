"""How gcc lays out structs and unions on x86 (System V): offsets in bits, with bit-fields, packing and alignment.

The rules are those of gcc's ``stor-layout.c`` with ``PCC_BITFIELD_TYPE_MATTERS``; ``benchmarks layouts`` compares them
with the compiler on drawn types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bmc.records import dataclass

BYTE = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One member, in bits: the ``size`` and the alignment of its type.

    ``own``: the alignment that the member itself is declared with, 0 for none. ``packed``: it has that attribute, or
    its struct has. ``width``: of a bit-field, else None. ``named``: only then does a bit-field align its struct.
    ``whole``: of a bit-field that is just an integer of its width.
    """

    size: int
    align: int
    own: int = 0
    packed: bool = False
    width: int | None = None
    named: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Packing:
    """What pragmas and attributes say of the layout of a struct.

    ``pack``: the greatest alignment of a member in bytes (``#pragma pack``), 0 for no limit. ``align``: the least
    alignment in bytes that ``aligned`` gives the type, 0 for none.
    """

    pack: int = 0
    packed: bool = False
    align: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """Size and alignment in bits, and the offset of each member in bits."""

    size: int
    align: int
    offsets: tuple[int, ...]


def lay_out(parts: Sequence[Part], is_union: bool, packing: Packing, most: int) -> Layout:
    """The layout of a struct or union; ``most`` is the greatest alignment in bytes that an integer member needs."""
    pack, most = packing.pack * BYTE, most * BYTE
    align, end = max(packing.align * BYTE, BYTE), 0
    offsets: list[int] = []
    for part in parts:
        if _is_integer(part, 0 if is_union else end):  # gcc takes it for a member without a width
            part = replace(part, own=max(part.own, min(part.size if part.own else most, part.width or 0)), whole=True)
        place = _alignment(part, pack)
        align = max(align, _required(part, place, pack))
        size = part.size if part.width is None else part.width
        start = 0 if is_union else round_up(end, place)
        if part.width and not (is_union or part.packed or part.whole or pack) and _straddles(start, part):
            start = round_up(start, part.align)
        offsets.append(start)
        end = max(end, start + (round_up(size, BYTE) if is_union else size))
    return Layout(round_up(end, align), align, tuple(offsets))


def _is_integer(part: Part, end: int) -> bool:
    """Whether a bit-field behind ``end`` bits is an aligned integer of 1, 2, 4 or 8 bytes."""
    if part.width not in (8, 16, 32, 64) or (part.packed and part.width > BYTE):
        return False
    return end % part.width == 0


def _alignment(part: Part, pack: int) -> int:
    """Where a member may start."""
    if part.width == 0:  # neither packed nor limited
        return max(part.own, part.align)
    if part.width is not None:
        place = part.own or 1
    elif part.packed:
        place = part.own or min(part.align, BYTE)
    else:
        place = max(part.own, part.align)
    return min(place, pack) if pack else place


def _required(part: Part, place: int, pack: int) -> int:
    """The alignment that a member gives the type that it is in."""
    if part.width is None:
        return place
    if not part.named:
        return 1
    if pack:
        return max(place, min(part.align, pack))
    return max(place, min(part.align, BYTE) if part.packed else part.align)


def _straddles(start: int, part: Part) -> bool:
    """Whether a bit-field at ``start`` would lie in more units of its type's alignment than its type does."""
    assert part.width is not None
    return (start % part.align + part.width + part.align - 1) // part.align > part.size // part.align


def round_up(number: int, unit: int) -> int:
    """The least multiple of ``unit`` that is not below ``number``."""
    return -(-number // unit) * unit
