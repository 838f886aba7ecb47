"""Slots of aggregates: where the next initialiser of a braced list goes (C11 6.7.9p17 to p20)."""

from __future__ import annotations

from typing import Any

from bmc.c.source.program import unsupported, where
from bmc.c.source.types import UNNAMED, ArrayType, CType, Member, Path, StructType, scalars, type_at
from bmc.errors import InputRefused, UnsupportedConstruct


class Slots:
    """The scalar slots of an aggregate in order, and where the next initialiser goes."""

    def __init__(self, ctype: CType) -> None:
        self.ctype = ctype
        self.order = [path for path, _ in scalars(ctype)]
        self.position = 0
        self.depth = 1

    def jump(self, path: Path) -> None:
        """A designator: go on with the member at ``path``."""
        self.position = next((i for i, p in enumerate(self.order) if p[: len(path)] == path), len(self.order))
        self.depth = len(path)

    def next_member(self, item: Any) -> Path:
        """The outermost member that starts at the current slot; the slots move past it."""
        if self.position >= len(self.order):
            opaque = opaque_part(self.ctype)
            if opaque:
                raise no_slot(opaque, item)
            raise InputRefused("too many initialisers", where(item))
        slot = self.order[self.position]
        before = self.order[self.position - 1] if self.position else ()
        depth = self.depth
        while depth < len(slot) and before[:depth] == slot[:depth]:
            depth += 1
        path = slot[:depth]
        self.depth = 1
        while self.position < len(self.order) and self.order[self.position][:depth] == path:
            self.position += 1
        return path

    def check(self, path: Path, item: Any) -> None:
        """Refuse an initialiser without a designator that stands behind a union or bit-field: these have no slots."""
        for depth, name in enumerate(path):
            struct = type_at(self.ctype, path[:depth])
            for member in struct.members() if isinstance(struct, StructType) else ():
                if member.name == name:
                    break
                opaque = _opaque(member)
                if opaque and (member.bit_field or not any(True for _ in scalars(member.type))):
                    raise no_slot(opaque, item)

    def descend(self, path: Path) -> Path:
        """Braces are elided: only the first scalar of ``path`` is taken."""
        first = next(i for i, p in enumerate(self.order) if p[: len(path)] == path)
        self.position = first + 1
        return self.order[first]


def opaque_part(ctype: CType) -> str:
    """A union or bit-field somewhere in a type, '' if there is none."""
    if isinstance(ctype, ArrayType):
        return opaque_part(ctype.element)
    if not isinstance(ctype, StructType):
        return ""
    if ctype.is_union:
        return "union"
    return next((opaque for member in ctype.members() if (opaque := _opaque(member))), "")


def _opaque(member: Member) -> str:
    """``opaque_part`` of a member; an unnamed bit-field takes no initialiser."""
    if member.bit_field:
        return "" if member.name.startswith(UNNAMED) else f"bit-field '{member.name}'"
    return opaque_part(member.type)


def no_slot(opaque: str, item: Any) -> UnsupportedConstruct:
    """The refusal of an initialiser whose place in a type with an ``opaque`` part is not known."""
    return unsupported(f"initialiser of a {opaque}, or of what follows it", item)
