"""Object layout on the target: size, alignment and offsets in bytes."""

from __future__ import annotations

from bmc.c.source.types import ArrayType, CType, DataModel, FloatType, IntType, Member, Path, PointerType, StructType
from bmc.errors import InputRefused


def align_of(ctype: CType, model: DataModel) -> int:
    """Alignment in bytes (the psABI of the data model)."""
    if isinstance(ctype, FloatType) and ctype.bits > 64:
        return min(ctype.bits // 8, 16 if model.long == 64 else 4)
    if isinstance(ctype, IntType | FloatType):
        return min(ctype.bits // 8, model.long_long_align)
    if isinstance(ctype, PointerType):
        return model.pointer // 8
    if isinstance(ctype, ArrayType):
        return align_of(ctype.element, model)
    if isinstance(ctype, StructType):
        return max((_member_align(ctype, m, model) for m in ctype.members()), default=1)
    return 1


def _member_align(ctype: StructType, member: Member, model: DataModel) -> int:
    align = align_of(member.type, model)
    return min(align, ctype.pack) if ctype.pack else align


def size_of(ctype: CType, model: DataModel) -> int:
    """Size in bytes; InputRefused for incomplete types."""
    if isinstance(ctype, IntType | FloatType):
        return ctype.bits // 8
    if isinstance(ctype, PointerType):
        return model.pointer // 8
    if isinstance(ctype, ArrayType):
        if ctype.length is None:
            raise InputRefused("the size of an array of unknown length is needed")
        return size_of(ctype.element, model) * ctype.length
    if isinstance(ctype, StructType):
        members = ctype.members()
        if ctype.is_union:
            end = max((size_of(m.type, model) for m in members), default=0)
        else:
            end = 0
            for member in members:
                end = _round_up(end, _member_align(ctype, member, model)) + size_of(member.type, model)
        return _round_up(end, align_of(ctype, model))
    return 1


def offset_of(ctype: CType, path: Path, model: DataModel) -> int:
    """Offset in bytes of the sub-object at ``path`` inside an object of type ``ctype``."""
    offset = 0
    for part in path:
        if isinstance(ctype, ArrayType):
            offset += int(part) * size_of(ctype.element, model)
            ctype = ctype.element
        elif isinstance(ctype, StructType):
            for member in ctype.members():
                if ctype.is_union:
                    ctype = next(m.type for m in ctype.members() if m.name == part)
                    break
                offset = _round_up(offset, _member_align(ctype, member, model))
                if member.name == part:
                    ctype = member.type
                    break
                offset += size_of(member.type, model)
    return offset


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
