"""ELF files: their sections and symbols, for words of 32 and 64 bits and either byte order.

Only what the compiled original is asked for is read, section by section, when it is asked for.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, Literal

from bmc.records import dataclass

MAGIC = b"\x7fELF"

PROGRAM_BITS, RELOCATIONS_WITH_ADDENDS, NO_BITS, RELOCATIONS = 1, 4, 8, 9
"""Types of sections."""

WRITABLE, LOADED, THREAD_LOCAL, COMPRESSED = 0x1, 0x2, 0x400, 0x800
"""Flags of sections."""

UNDEFINED, GLOBAL, WEAK, OBJECT, FUNCTION = 0, 1, 2, 1, 2
"""Of symbols: the section of those that are defined elsewhere, bindings, types."""

NO_VERSIONS = frozenset({0x0, 0x1, 0xFF00, 0xFF01})
"""Versions of dynamic symbols that name none: local, global, and those that are reserved."""

LIBRARY_NEEDED = 1
ZLIB = 1
MIPS = 8

LONGEST_NUMBER = 20
"""Bytes that a number of variable length takes at most; longer ones are padding without end."""


class Malformed(Exception):
    """An object file or its debug information is cut off, contradicts itself, or holds what this reader does not know.

    The message tells what is wrong, and at which offset.
    """


@dataclass(frozen=True, slots=True)
class Section:
    """A section header; ``link`` is the number of the section that belongs to it, ``entry`` the size of its entries."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    entry: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol; ``section`` is the number of the section that defines it, or ``UNDEFINED``."""

    name: str
    value: int
    size: int
    kind: int
    binding: int
    section: int


class Contents:
    """The bytes of a section. To read beyond their end is ``Malformed``."""

    __slots__ = ("data", "name", "order")

    def __init__(self, name: str, data: bytes, order: Literal["little", "big"]) -> None:
        self.name, self.data, self.order = name, data, order

    def number(self, offset: int, size: int) -> int:
        """The unsigned number of ``size`` bytes."""
        if not 0 <= offset <= len(self.data) - size:
            raise self.malformed("ends within a number", offset)
        return int.from_bytes(self.data[offset : offset + size], self.order)

    def variable(self, offset: int) -> tuple[int, int]:
        """The unsigned number of variable length (LEB128), and the offset of what follows it."""
        value = 0
        for shift, byte in enumerate(self.data[offset : offset + LONGEST_NUMBER]):
            value |= (byte & 0x7F) << (7 * shift)
            if byte < 0x80:
                return value, offset + shift + 1
        raise self.malformed("has a number without an end", offset)

    def signed(self, offset: int) -> tuple[int, int]:
        """The signed number of variable length (LEB128), and the offset of what follows it."""
        value, after = self.variable(offset)
        bits = 7 * (after - offset)
        return value - ((value >> (bits - 1)) << bits), after

    def text(self, offset: int) -> bytes:
        """The bytes up to the next zero."""
        end = self.data.find(0, offset) if offset >= 0 else -1
        if end < 0:
            raise self.malformed("has a text without an end", offset)
        return self.data[offset:end]

    def malformed(self, what: str, offset: int) -> Malformed:
        return Malformed(f"{self.name} {what} at offset {offset:#x}")


class ElfFile:
    """An ELF file that is open for reading. ``sections`` are numbered as in the file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._size = stream.seek(0, os.SEEK_END)
        start = self._bytes(0, 16, "the header")
        if not start.startswith(MAGIC) or start[4] not in (1, 2) or start[5] not in (1, 2):
            raise Malformed(f"the file does not start like an ELF file, but with {start.hex(' ')}")
        self.bits = 32 * start[4]
        self.order: Literal["little", "big"] = "little" if start[5] == 1 else "big"
        self._mark = "<" if start[5] == 1 else ">"
        self.sections = self._sections()

    def find(self, name: str) -> Section | None:
        """The section called ``name``, the last one if there are several."""
        return next((section for section in reversed(self.sections) if section.name == name), None)

    def contents(self, section: Section) -> Contents:
        """What is in a section, decompressed."""
        if section.kind == NO_BITS:
            raise Malformed(f"the section {section.name} has no bytes in the file")
        data = self._bytes(section.offset, section.size, f"the section {section.name}")
        if section.flags & COMPRESSED:
            header = self._struct("III", "IIQQ")
            if len(data) < header.size:
                raise Malformed(f"the section {section.name} ends within its header of compression")
            fields = header.unpack_from(data)
            if fields[0] != ZLIB:
                raise Malformed(f"the section {section.name} has the compression {fields[0]}, which is not read")
            data = _decompressed(data[header.size :], fields[-2], section.name)
        elif section.name.startswith(".zdebug") and data.startswith(b"ZLIB"):
            data = _decompressed(data[12:], int.from_bytes(data[4:12], "big"), section.name)
        return Contents(section.name, data, self.order)

    def symbols(self, name: str) -> Iterator[Symbol]:
        """The symbols of the table that is the section ``name``."""
        section = self.find(name)
        if section is None:
            raise Malformed(f"the file has no section {name}")
        names = self._linked(section)
        entries = self._entries(section, "IIIBBH", "IBBHQQ")
        for entry in entries:
            if self.bits == 64:
                text, info, _, defined, value, size = entry
            else:
                text, value, size, info, _, defined = entry
            yield Symbol(_decoded(names, text), value, size, info & 0xF, info >> 4, defined)

    def symbol_info(self, table: Section, number: int) -> int:
        """Where in the file the binding and the type of a symbol are: four bits each."""
        return table.offset + number * table.entry + (4 if self.bits == 64 else 12)

    def versions(self) -> list[int] | None:
        """The number of the version of each dynamic symbol; None where symbols have no versions."""
        section = self.find(".gnu.version")
        return None if section is None else [number for (number,) in self._entries(section, "H", "H")]

    def relocated_symbols(self, name: str) -> set[int]:
        """The numbers of the symbols that the relocations of the section ``name`` name; of none where it is absent."""
        section = self.find(name)
        if section is None:
            return set()
        if section.kind == RELOCATIONS_WITH_ADDENDS:
            entries = self._entries(section, "III", "QQQ")
        elif section.kind == RELOCATIONS:
            entries = self._entries(section, "II", "QQ")
        else:
            raise Malformed(f"the section {name} has the type {section.kind}, which is none of relocations")
        if self.bits == 32:
            return {entry[1] >> 8 for entry in entries}
        if self._machine == MIPS and self.order == "little":  # two numbers, each in the byte order, and not one
            return {entry[1] & 0xFFFFFFFF for entry in entries}
        return {entry[1] >> 32 for entry in entries}

    def needed_libraries(self) -> list[str]:
        """The names of the libraries that the file asks for."""
        section = self.find(".dynamic")
        if section is None:
            return []
        names, needed = self._linked(section), []
        for tag, value in self._entries(section, "II", "QQ"):
            if not tag:
                break
            if tag == LIBRARY_NEEDED:
                needed.append(_decoded(names, value))
        return needed

    def _sections(self) -> tuple[Section, ...]:
        layout = self._struct("16xHHIIIIIHHHHHH", "16xHHIQQQIHHHHHH")
        fields = layout.unpack(self._bytes(0, layout.size, "the header"))
        self._machine, start, width, count, names = fields[1], fields[5], *fields[10:]
        header = self._struct("IIIIIIIIII", "IIQQQQIIQQ")
        if not start:
            return ()
        if width < header.size:
            raise Malformed(f"the section headers have {width} bytes each, at least {header.size} are needed")
        if not count or names == 0xFFFF:  # numbers that are too large are in the first header
            first = header.unpack_from(self._bytes(start, width, "the first section header"))
            count, names = count or first[5], first[6] if names == 0xFFFF else names
        table = self._bytes(start, count * width, "the table of sections")
        rows = [header.unpack_from(table, number * width) for number in range(count)]
        if names >= count:
            raise Malformed(f"the names of sections are said to be in section {names} of {count}")
        start, size = rows[names][4:6]
        texts = Contents("the names of sections", self._bytes(start, size, "the names of sections"), self.order)
        return tuple(
            Section(_decoded(texts, name), kind, flags, address, offset, size, link, entry)
            for name, kind, flags, address, offset, size, link, _, _, entry in rows
        )

    def _linked(self, section: Section) -> Contents:
        """The texts that a section's entries name."""
        if section.link >= len(self.sections):
            raise Malformed(f"the section {section.name} has its texts in section {section.link}, which does not exist")
        return self.contents(self.sections[section.link])

    def _entries(self, section: Section, small: str, large: str) -> Iterator[tuple[int, ...]]:
        layout, data = self._struct(small, large), self.contents(section).data
        if section.entry != layout.size or len(data) % layout.size:
            raise Malformed(
                f"the section {section.name} has {len(data)} bytes in entries of {section.entry}, "
                f"not in entries of {layout.size}"
            )
        return layout.iter_unpack(data)

    def _struct(self, small: str, large: str) -> struct.Struct:
        return struct.Struct(self._mark + (large if self.bits == 64 else small))

    def _bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > self._size:
            raise Malformed(f"{what} ends at offset {offset + size:#x}, but the file at {self._size:#x}")
        self._stream.seek(offset)
        return self._stream.read(size)


def _decoded(texts: Contents, offset: int) -> str:
    return texts.text(offset).decode("utf-8", "replace") if offset else ""


def _decompressed(data: bytes, size: int, name: str) -> bytes:
    import zlib

    try:
        unpacked = zlib.decompressobj().decompress(data, size + 1)
    except (zlib.error, OverflowError) as error:
        raise Malformed(f"the section {name} cannot be decompressed: {error}") from error
    if len(unpacked) != size:
        raise Malformed(f"the section {name} has not the {size} bytes that it is said to have when decompressed")
    return unpacked
