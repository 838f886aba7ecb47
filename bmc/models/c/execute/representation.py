"""Objects as bits: reading and writing any run of bits, whatever cells it is made of (C11 6.2.6), least bits first.

Members of unions, bytes of objects and what ``memcpy`` moves between types go this one way. All NaNs are one value in
the model: a look at the bits of one is undefined behaviour, and so is a ``_Bool`` with another value than 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pysmt.fnode import FNode
from pysmt.shortcuts import BVConcat, BVExtract

from bmc.floats.compare import is_nan
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, equals, folded, is_constant_choice, is_false, negate
from bmc.models.c.execute.memory import UNDEFINED, Content, Key, MemObject, Place, State, live
from bmc.models.c.source.overlay import Cell, cells_of, holds_any, is_shared
from bmc.models.c.source.program import unsupported
from bmc.models.c.source.types import (
    CType,
    FloatType,
    IntType,
    Path,
    PointerType,
    bit_offset_of,
    bits_of,
    same_type,
)

if TYPE_CHECKING:
    from bmc.models.c.execute.access import MemoryAccess


class Representation:
    """The bits of objects; cells are read and written through ``access``, which notes that."""

    def __init__(self, access: MemoryAccess) -> None:
        self.access = access
        self._changed: set[MemObject] = set()
        self._zero: set[MemObject] = set()
        """The objects whose padding has been read as 0 since ``begin``."""
        self.stale = False
        """Whether one of them has been changed after that: in a later step its padding is not 0."""
        self.inputs_known = True
        """Whether it is known which variables are inputs, and so always set."""
        self.assumed = False
        """Whether bytes have been taken to be set together because that is not known."""

    def keys(self, obj: MemObject, path: Path, ctype: CType) -> list[Key]:
        """The cells that an object of type ``ctype`` at ``path`` shares bits with."""
        start = bit_offset_of(obj.ctype, path, self.access.model)
        return [(obj, cell.path) for cell in self._cells(obj, start, bits_of(ctype, self.access.model))]

    def _cells(self, obj: MemObject, start: int, width: int) -> Iterable[Cell]:
        return cells_of(obj.ctype, self.access.model, (start, start + width))

    def read(
        self, where: tuple[MemObject, int], ctype: CType, guard: FNode, state: State, node: Any, whole: bool = False
    ) -> Content:
        """What the bits from ``where`` (an object and a bit) are as a ``ctype``; set where all of them are.

        ``whole``: refuse bits of which only some may be set.
        """
        obj, start = where
        width = bits_of(ctype, self.access.model)
        cells = list(self._cells(obj, start, width))
        exact = len(cells) == 1 and (cells[0].start, cells[0].end) == (start, start + width)
        if exact and same_type(cells[0].ctype, ctype):
            return self.access.cell((obj, cells[0].path), guard, state, node)
        if isinstance(ctype, PointerType) or any(isinstance(cell.ctype, PointerType) for cell in cells):
            if not exact or not isinstance(ctype, PointerType) or not isinstance(cells[0].ctype, PointerType):
                raise unsupported(f"the bytes of an address (in '{obj.name}')", node)
            return self.access.cell((obj, cells[0].path), guard, state, node)
        parts, sets, at = [], [], start
        for cell in cells:
            low, high = max(cell.start, start), min(cell.end, start + width)
            found = self.access.cell((obj, cell.path), guard, state, node)
            if at < low:  # padding
                parts.append(constant(0, low - at))
                sets.append(self._padding(obj))
            parts.append(cut(self._pattern(found, cell.ctype, guard, state, node), low - cell.start, high - cell.start))
            sets.append(found.defined)
            at = high
        if at < start + width:
            parts.append(constant(0, start + width - at))
            sets.append(self._padding(obj))
        if whole and self.set_together(sets) is None:
            raise unsupported(f"a copy of bytes of '{obj.name}' of which only some are set", node)
        defined = TRUE()
        for each in sets:
            defined = both(defined, each)
        return Content(self._value(joined(parts), ctype, both(guard, defined), state, node), defined)

    def _padding(self, obj: MemObject) -> FNode:
        """Whether padding is set: to 0 in a static object (C11 6.7.9p10), until that is changed (C11 6.2.6.1p6)."""
        if obj.kind not in ("global", "local", "constant") or not obj.file or obj in self._changed:
            return FALSE()
        self._zero.add(obj)
        return TRUE()

    def begin(self, changed: Iterable[MemObject]) -> None:
        """A step is run, before which the environment may have changed some objects."""
        self._changed |= set(changed)
        self._zero, self.stale = set(), False

    def note_change(self, obj: MemObject) -> None:
        """Note that an object is changed."""
        self.stale = self.stale or obj in self._zero
        self._changed.add(obj)

    def note_start(self, obj: MemObject) -> None:
        """What has been written to an object are its start values."""
        self._changed.discard(obj)

    def write(
        self, where: tuple[MemObject, int], ctype: CType, content: Content, guard: FNode, state: State, node: Any
    ) -> None:
        """Set the bits from ``where`` on to a value of type ``ctype``; padding takes none of it."""
        obj, start = where
        width = bits_of(ctype, self.access.model)
        for cell in list(self._cells(obj, start, width)):
            low, high = max(cell.start, start), min(cell.end, start + width)
            key = (obj, cell.path)
            if (low, high) == (cell.start, cell.end) == (start, start + width) and same_type(cell.ctype, ctype):
                self.access.set_cell(key, content, guard, state, node)
                continue
            if isinstance(ctype, PointerType) or isinstance(cell.ctype, PointerType):
                if (cell.start, cell.end) != (start, start + width) or type(cell.ctype) is not type(ctype):
                    raise unsupported(f"the bytes of an address (in '{obj.name}')", node)
                self.access.set_cell(key, content, guard, state, node)
                continue
            if not isinstance(content.term, FNode):
                bits = constant(0, high - low)
            else:
                bits = cut(self._pattern(content, ctype, guard, state, node), low - start, high - start)
            defined = content.defined
            if (low, high) != (cell.start, cell.end):
                bits, defined = self._within(key, cell, (low, bits, defined), state, node)
            term = self._value(bits, cell.ctype, both(guard, defined), state, node)
            self.access.set_cell(key, UNDEFINED if is_false(defined) else Content(term, defined), guard, state, node)

    def _within(
        self, key: Key, cell: Cell, change: tuple[int, FNode, FNode], state: State, node: Any
    ) -> tuple[FNode, FNode]:
        """The bits of a cell of which some are replaced, and when they are set."""
        low, bits, defined = change
        old = state.cells.get(key, UNDEFINED)
        together = self.set_together([old.defined, defined])
        if together is None:
            raise unsupported(f"a change of some bytes of '{key[0].name}' that may not all be set", node)
        if not isinstance(old.term, FNode):
            return constant(0, cell.end - cell.start), together
        term = self._pattern(old, cell.ctype, TRUE(), state, node)
        first, size = low - cell.start, cell.end - cell.start
        last = first + bits.bv_width()
        parts = [cut(term, 0, first)] if first else []
        parts += [bits, *([cut(term, last, size)] if last < size else [])]
        return joined(parts), together

    def set_together(self, sets: Sequence[FNode]) -> FNode | None:
        """When all of some bytes are set; None where it may be that only some of them are.

        As long as it is not known which variables are inputs, those that may be unset count as set together.
        """
        first, *others = dict.fromkeys(sets)
        if others and (self.inputs_known or any(is_false(each) for each in sets)):
            return None
        self.assumed = self.assumed or bool(others)
        for each in others:
            first = both(first, each)
        return first

    def _pattern(self, content: Content, ctype: CType, guard: FNode, state: State, node: Any) -> FNode:
        """The bits of a value; those of a NaN are not known."""
        assert isinstance(ctype, IntType | FloatType)
        if not isinstance(content.term, FNode):
            return constant(0, ctype.bits)
        if isinstance(ctype, FloatType):
            nan = is_nan(content.term, ctype.format)
            self.access.undefined_at(state, node)("the bits of a NaN", both(both(guard, content.defined), nan))
        return content.term

    def _value(self, bits: FNode, ctype: CType, guard: FNode, state: State, node: Any) -> FNode:
        """The value of a type whose bits are these."""
        if isinstance(ctype, FloatType):
            return choose(is_nan(bits, ctype.format), constant(ctype.format.nan, ctype.bits), bits)
        if not holds_any(ctype):
            size = bits.bv_width()
            other = negate(equals(cut(bits, 1, size), constant(0, size - 1)))
            self.access.undefined_at(state, node)("a _Bool that is neither 0 nor 1", both(guard, other))
        return bits

    def refuse_overlap(self, target: Place, source: Place, node: Any) -> None:
        """Refuse to assign a struct to one that overlaps it without being the same (C11 6.5.16.1p3)."""
        model = self.access.model
        for _, obj, path in live(target.targets):
            for _, other, way in live(source.targets):
                apart = bit_offset_of(obj.ctype, path, model) - bit_offset_of(other.ctype, way, model)
                if obj is other and 0 < abs(apart) < bits_of(target.ctype, model):
                    raise unsupported(f"assignment between members of '{obj.name}' that overlap", node)

    def leave_padding(self, place: Place, state: State, node: Any) -> None:
        """A struct has been stored as a whole in a union: what lies in its padding is no longer set."""
        model = self.access.model
        for guard, obj, base in live(place.targets):
            if not is_shared(obj.ctype, base):
                continue
            start, width = bit_offset_of(obj.ctype, base, model), bits_of(place.ctype, model)
            taken = {bit for cell in cells_of(place.ctype, model, (0, width)) for bit in range(cell.start, cell.end)}
            for cell in list(self._cells(obj, start, width)):
                if max(cell.start - start, 0) not in taken:
                    self.access.set_cell((obj, cell.path), UNDEFINED, guard, state, node)


def cut(term: FNode, first: int, end: int) -> FNode:
    """The bits of a term from ``first`` up to, not including, ``end``."""
    while True:
        if first == 0 and end == term.bv_width():
            return term
        if term.is_bv_extract():
            first, end = first + term.bv_extract_start(), end + term.bv_extract_start()
            term = term.arg(0)
        elif term.is_bv_concat():
            low = term.arg(1).bv_width()
            if first < low < end:
                return joined([cut(term.arg(1), first, low), cut(term.arg(0), 0, end - low)])
            first, end, term = (first, end, term.arg(1)) if end <= low else (first - low, end - low, term.arg(0))
        elif term.is_bv_zext() and first >= term.arg(0).bv_width():
            return constant(0, end - first)
        elif (term.is_bv_zext() or term.is_bv_sext()) and end <= term.arg(0).bv_width():
            term = term.arg(0)
        elif is_constant_choice(term):
            return choose(term.arg(0), cut(term.arg(1), first, end), cut(term.arg(2), first, end))
        else:
            return folded(BVExtract(term, first, end - 1))


def joined(parts: list[FNode]) -> FNode:
    """The term whose bits are those of ``parts``, least first; neighbouring bits of one term are taken together."""
    found = [parts[0]]
    for part in parts[1:]:
        last = found[-1]
        adjacent = (
            last.is_bv_extract()
            and part.is_bv_extract()
            and last.arg(0) == part.arg(0)
            and part.bv_extract_start() == last.bv_extract_end() + 1
        )
        if adjacent:
            found[-1] = cut(last.arg(0), last.bv_extract_start(), part.bv_extract_end() + 1)
        else:
            found.append(part)
    term = found[0]
    for part in found[1:]:
        term = folded(BVConcat(part, term))
    return term
