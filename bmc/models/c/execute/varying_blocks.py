"""``memcpy``, ``memmove``, ``memset`` and ``memcmp`` of a number of bytes that is not constant.

Each cell of the target is taken over as a whole where all of its bytes are moved. Where only some of them may be, its
bytes are put together: each is the new one where it is moved, else the old one.
"""

from __future__ import annotations

from collections.abc import Callable

from pysmt.fnode import FNode
from pysmt.shortcuts import BVURem

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, either, equals, folded, is_false, negate
from bmc.limits import ELEMENTS
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.byte_blocks import ByteBlocks, Run, bits_type
from bmc.models.c.execute.cases import impossible
from bmc.models.c.execute.memory import Content, Place, Value, live
from bmc.models.c.execute.representation import joined
from bmc.models.c.source.overlay import Cell
from bmc.models.c.source.program import unsupported, where
from bmc.models.c.source.types import CType, IntType, PointerType, bit_offset_of, bits_of, size_of

Source = Callable[[int, CType, FNode], Content]
"""What some bits, counted from where the bytes start, are as a value of a type; needed only under a condition."""


class VaryingBlocks:
    """A call for ``size`` bytes, a term; ``bytes_`` does the same for constant numbers."""

    def __init__(self, bytes_: ByteBlocks, size: Value) -> None:
        self.bytes, self.size = bytes_, size
        self.executor, self.state, self.node = bytes_.executor, bytes_.state, bytes_.node
        count = self.executor.as_type(size, self.executor.model.size_t, self.node, self.state)
        assert isinstance(count, Value)
        self.count = count

    def copy(self, target: Value, source: Value) -> None:
        """``memcpy`` or ``memmove``: all is read before anything is written."""
        to, from_ = (self._runs(pointer) for pointer in (target, source))
        if self.node.name.name.endswith("memcpy"):
            for a in to:
                for b in from_:
                    apart = abs(a.start - b.start) // 8
                    if a.object is b.object and apart:
                        overlap = both(both(a.guard, b.guard), self._more(apart))
                        self._note("memcpy between bytes that overlap", overlap)
        most = min(self._most(to), self._most(from_))

        def moved(at: int, ctype: CType, when: FNode) -> Content:
            width = bits_of(ctype, self.executor.model)
            there = [run for run in from_ if at + width <= 8 * self._room(run)]  # else it is undefined
            return self.bytes.read_runs(there, at, ctype, when)

        self._change(to, most, moved)

    def fill(self, target: Value, byte: Value) -> None:
        """``memset``."""
        value = self.executor.as_type(byte, self.executor.model.basic["unsigned char"], self.node, self.state)
        assert isinstance(value, Value)

        def filled(at: int, ctype: CType, when: FNode) -> Content:
            assert not isinstance(ctype, PointerType)
            return Content(joined([value.bits] * (bits_of(ctype, self.executor.model) // 8)), TRUE())

        to = self._runs(target)
        self._change(to, self._most(to), filled)

    def compare(self, left: Value, right: Value) -> FNode:
        """When ``memcmp`` is not 0."""
        runs = [self._runs(pointer) for pointer in (left, right)]
        differ = FALSE()
        for number in range(min(self._most(each) for each in runs)):
            within, sides = self._more(number), []
            for each in runs:
                there = [run for run in each if number < self._room(run)]
                content = self.bytes.read_runs(there, 8 * number, bits_type(8), within)
                if is_false(content.defined) or not isinstance(content.term, FNode):
                    raise unsupported("memcmp of bytes that nothing has set, such as padding", self.node)
                undefined = self.executor.undefined_at(self.state, self.node)
                undefined("uninitialised read", both(within, negate(content.defined)))
                sides.append(content.term)
            differ = either(differ, both(within, negate(equals(*sides))))
        return differ

    def _more(self, number: int) -> FNode:
        """When more than ``number`` bytes are meant."""
        assert isinstance(self.count.ctype, IntType)
        return arithmetic.compare(">", self.count.bits, constant(number, self.count.ctype.bits), self.count.ctype)

    def _runs(self, pointer: Value) -> list[Run]:
        """Where the bytes start; more than there are in the object are undefined behaviour."""
        if not isinstance(pointer.ctype, PointerType):
            raise InputRefused(f"{self.node.name.name} needs a pointer", where(self.node))
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), self.state, self.node)
        found = []
        for guard, obj, path in live(pointer.targets):
            self.executor.check_usable(obj, guard, self.state, self.node)
            run = Run(guard, obj, bit_offset_of(obj.ctype, path, self.executor.model))
            found.append(run)
            beyond = both(guard, self._more(self._room(run)))
            self._note(f"index out of range: {self.node.name.name}", beyond)
        return found

    def _note(self, kind: str, when: FNode) -> None:
        """Note undefined behaviour, unless the solver says that it cannot happen."""
        if not impossible(both(both(self.executor.recorder.base, self.state.pc), when)):
            self.executor.undefined_at(self.state, self.node)(kind, when)

    def _room(self, run: Run) -> int:
        return size_of(run.object.ctype, self.executor.model) - run.start // 8

    def _most(self, runs: list[Run]) -> int:
        """The most bytes that are meant where that is defined."""
        assert isinstance(self.size.ctype, IntType)
        room = max((self._room(run) for run in runs), default=0)
        low, high = arithmetic.interval(self.size.bits, self.size.ctype)
        return room if low < 0 else min(room, high)

    def _change(self, to: list[Run], most: int, source: Source) -> None:
        """Set the first ``count`` of at most ``most`` bytes."""
        ELEMENTS.check(most, where(self.node))
        found = []
        for run in to:
            self.bytes.check_writable(run)
            size = min(most, self._room(run))
            split: set[int] = set()
            for cell in self.bytes.cells(run, size):
                low, high = max(cell.start, run.start), min(cell.end, run.start + 8 * size)
                if low % 8 or high % 8:
                    split |= {*range((low - run.start) // 8, (high - run.start + 7) // 8)}
                else:
                    found += self._changed(run, cell, (low, high), source)
            for number in sorted(split):  # of bytes that cells have in common, or of which a cell has a part
                guard = both(run.guard, self._more(number))
                content = source(8 * number, bits_type(8), guard)
                found.append((run, run.start + 8 * number, bits_type(8), content, guard))
        for run, low, ctype, content, guard in found:
            self.executor.representation.write((run.object, low), ctype, content, guard, self.state, self.node)

    def _changed(
        self, run: Run, cell: Cell, bits: tuple[int, int], source: Source
    ) -> list[tuple[Run, int, CType, Content, FNode]]:
        """What is written to one cell: (run, bit, type, content, condition)."""
        low, high = bits
        first, last = (low - run.start) // 8, (high - run.start) // 8
        ctype = cell.ctype if (low, high) == (cell.start, cell.end) else bits_type(high - low)
        every = both(run.guard, self._more(last - 1))
        if last - first == 1 or self._whole(run, last - first, first):
            return [(run, low, ctype, source(low - run.start, ctype, every), every)]
        if isinstance(cell.ctype, PointerType):
            raise unsupported("the bytes of an address, of which some may be moved", self.node)
        parts, sets = [], []
        some = both(run.guard, self._more(first))
        for number in range(first, last):
            within = both(run.guard, self._more(number))
            new = source(8 * number, bits_type(8), within)
            old = self.executor.representation.read(
                (run.object, run.start + 8 * number), bits_type(8), some, self.state, self.node
            )
            sets += [new.defined, old.defined]
            if not isinstance(new.term, FNode) or not isinstance(old.term, FNode):
                raise unsupported(f"a change of some bytes of '{run.object.name}' that may not all be set", self.node)
            parts.append(choose(within, new.term, old.term))
        defined = self.executor.representation.set_together(sets)
        if defined is None:
            raise unsupported(f"a change of some bytes of '{run.object.name}' that may not all be set", self.node)
        content = Content(joined(parts), defined)
        return [(run, low, bits_type(high - low), content, some)]

    def _whole(self, run: Run, size: int, first: int) -> bool:
        """Whether all or none of the ``size`` bytes from number ``first`` on are among those that are meant."""
        if first % size:
            return False
        width = self.count.bits.bv_width()
        rest = folded(BVURem(self.count.bits, constant(size, width)))
        part = negate(equals(rest, constant(0, width)))
        return impossible(both(both(self.executor.recorder.base, self.state.pc), both(run.guard, part)))
