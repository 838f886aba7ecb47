"""``memcpy``, ``memmove``, ``memset`` and ``memcmp`` by representation: bytes of objects, whatever types these have."""

from __future__ import annotations

from typing import Any

from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.formulas.terms import FALSE, TRUE, both, choose, constant, either, equals, is_false, negate
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.memory import UNDEFINED, Content, MemObject, Place, State, Value, live, merge_contents
from bmc.models.c.execute.representation import cut, joined
from bmc.models.c.source.overlay import Cell, cells_of
from bmc.models.c.source.program import unsupported, where
from bmc.models.c.source.types import CType, IntType, PointerType, bit_offset_of, size_of
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """Some bytes of an object, from the bit ``start`` on, if ``guard`` holds."""

    guard: FNode
    object: MemObject
    start: int


class ByteBlocks:
    """One call, ``node``, that moves, fills or compares bytes in ``state``."""

    def __init__(self, executor: Evaluator, state: State, node: Any) -> None:
        self.executor, self.state, self.node = executor, state, node

    def copy(self, target: Value, source: Value, count: int) -> None:
        """Copy ``count`` bytes; for ``memcpy`` they must not overlap."""
        to, from_ = self._runs(target, count), self._runs(source, count)
        if self.node.name.name == "memcpy":
            self._note_overlap(to, from_, 8 * count)
        found: list[tuple[Run, Cell, int, CType, Content]] = []
        for run in to:
            for cell in self.cells(run, count):
                low, high = max(cell.start, run.start), min(cell.end, run.start + 8 * count)
                ctype = cell.ctype if (low, high) == (cell.start, cell.end) else bits_type(high - low)
                content = self.read_runs(from_, low - run.start, ctype, run.guard)
                found.append((run, cell, low, ctype, content))
        for run, _, low, ctype, content in found:
            self.check_writable(run)
            self.executor.representation.write((run.object, low), ctype, content, run.guard, self.state, self.node)

    def read_runs(self, runs: list[Run], at: int, ctype: CType, when: FNode | None = None) -> Content:
        """The bits ``at`` (counted from where the runs start), over all of them; needed only ``when`` that holds."""
        result = UNDEFINED
        for number, run in enumerate(runs):
            place = (run.object, run.start + at)
            guard = run.guard if when is None else both(run.guard, when)
            content = self.executor.representation.read(place, ctype, guard, self.state, self.node, whole=True)
            result = content if number == 0 else merge_contents(run.guard, content, result)
        return result

    def fill(self, target: Value, byte: Value, count: int) -> None:
        """Set ``count`` bytes to the value ``byte``."""
        char = self.executor.model.basic["unsigned char"]
        value = self.executor.as_type(byte, char, self.node, self.state)
        assert isinstance(value, Value)
        for run in self._runs(target, count):
            self.check_writable(run)
            for cell in self.cells(run, count):
                low, high = max(cell.start, run.start), min(cell.end, run.start + 8 * count)
                if isinstance(cell.ctype, PointerType):
                    raise unsupported("memset over an address", self.node)
                pattern = joined([value.bits] * (high // 8 + 1 - low // 8))
                term = cut(pattern, low % 8, low % 8 + high - low)
                ctype, content = bits_type(high - low), Content(term, TRUE())
                self.executor.representation.write((run.object, low), ctype, content, run.guard, self.state, self.node)

    def compare(self, left: Value, right: Value, count: int) -> FNode:
        """When ``count`` bytes differ. Bytes of padding have no value that C fixes."""
        runs = [self._runs(pointer, count) for pointer in (left, right)]
        differ = FALSE()
        for at in range(0, 8 * count, 8):
            sides = []
            for each in runs:
                content = self.read_runs(each, at, bits_type(8))
                if is_false(content.defined) or not isinstance(content.term, FNode):
                    raise unsupported("memcmp of bytes that nothing has set, such as padding", self.node)
                undefined = self.executor.undefined_at(self.state, self.node)
                undefined("uninitialised read", negate(content.defined))
                sides.append(content.term)
            differ = either(differ, negate(equals(*sides)))
        return differ

    def cells(self, run: Run, count: int) -> list[Cell]:
        """The cells that share bits with the first ``count`` bytes."""
        return list(cells_of(run.object.ctype, self.executor.model, (run.start, run.start + 8 * count)))

    def _runs(self, pointer: Value, count: int) -> list[Run]:
        """The bytes from where a pointer points to; beyond the end of the object they are undefined behaviour."""
        assert isinstance(pointer.ctype, PointerType)
        model, found = self.executor.model, []
        self.executor.check_not_null(Place(pointer.targets, pointer.ctype.target), self.state, self.node)
        for guard, obj, path in live(pointer.targets):
            start = bit_offset_of(obj.ctype, path, model)
            self.executor.check_usable(obj, guard, self.state, self.node)
            if start + 8 * count > 8 * size_of(obj.ctype, model):
                name = self.node.name.name
                self.executor.undefined_at(self.state, self.node)(f"index out of range: {name} of {count} bytes", guard)
            else:
                found.append(Run(guard, obj, start))
        return found

    def check_writable(self, run: Run) -> None:
        """Refuse to change a const object."""
        if run.object.const:
            text = f"{self.node.name.name} changes the const object '{run.object.name}'"
            raise InputRefused(text, where(self.node))

    def _note_overlap(self, to: list[Run], from_: list[Run], size: int) -> None:
        for a in to:
            for b in from_:
                if a.object is b.object and 0 < abs(a.start - b.start) < size:
                    self.executor.undefined_at(self.state, self.node)(
                        "memcpy between bytes that overlap", both(a.guard, b.guard)
                    )


def truth_value(differ: FNode, ctype: IntType) -> Value:
    """The result of ``memcmp`` where only its truth matters."""
    return Value(choose(differ, constant(1, ctype.bits), constant(0, ctype.bits)), ctype)


def bits_type(width: int) -> IntType:
    """The type of some bits of an object."""
    return IntType("bits", width, False, 2, partial=True)


def constant_size(size: Value, node: Any) -> int:
    """The number of bytes that a call moves."""
    count = arithmetic.constant_value(size)
    if count is None:
        raise unsupported(f"{node.name.name} of a size that is not constant", node)
    return count
