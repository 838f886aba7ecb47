"""Debug information in DWARF, versions 2 to 5: entries and their attributes, and the files of line tables.

An entry (DIE) is read where it lies and when it is asked for: a walk steps over all entries of other kinds without
looking at their attributes, and over all that they hold by DW_AT_sibling where the compiler wrote it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from bmc.native import dwarf_forms as forms
from bmc.native.dwarf_forms import Abbreviation
from bmc.native.elf import Contents, ElfFile, Malformed

FORMAL_PARAMETER, LEXICAL_BLOCK, POINTER_TYPE, SUBPROGRAM, VARIABLE = 0x05, 0x0B, 0x0F, 0x2E, 0x34
"""Kinds of entries (DW_TAG_...)."""

QUALIFIERS = frozenset({0x16, 0x26, 0x35, 0x37, 0x47})
"""Kinds of entries that name or qualify a type: typedef, const, volatile, restrict, atomic."""

LOCATION, NAME, BYTE_SIZE, STATEMENTS, LOW_PC, COMPILATION_FOLDER = 0x02, 0x03, 0x0B, 0x10, 0x11, 0x1B
ORIGIN, DECLARED_FILE, DECLARED_LINE, ENCODING, SPECIFICATION, TYPE = 0x31, 0x3A, 0x3B, 0x3E, 0x47, 0x49
STRINGS_BASE, ADDRESSES_BASE = 0x72, 0x73
"""Attributes (DW_AT_...)."""

OP_ADDRESS, OP_ADDRESS_INDEX = 0x03, 0xA1
FLOAT = 0x04
_PATH, _FOLDER = 1, 2
_TYPE_UNITS, _SPLIT_UNITS = (0x02, 0x06), (0x04, 0x05)

_TABLES = 64
"""So many tables of abbreviations are kept: most belong to one unit alone."""


class Unit:
    """The entries of one compiled file, or of one type: the part of a section from ``offset`` to ``end``."""

    __slots__ = ("_key", "_top", "dwarf", "end", "first", "lengths", "offset", "section", "signature", "type", "width")

    def __init__(self, dwarf: Dwarf, section: Contents, offset: int) -> None:
        size, start, width = _initial_length(section, offset)
        self.dwarf, self.section, self.offset, self.end = dwarf, section, offset, start + size
        if self.end > len(section.data):
            raise section.malformed("ends within the unit", offset)
        version = section.number(start, 2)
        if not 2 <= version <= 5:
            raise section.malformed(f"has a unit of DWARF version {version}, which is not read,", offset)
        kind, position = 0, start + 2
        if version == 5:
            kind, address = section.number(position, 1), section.number(position + 1, 1)
            if not 1 <= kind <= 6:
                raise section.malformed(f"has a unit of type {kind}, which is not read,", offset)
            abbreviations, position = section.number(position + 2, width), position + 2 + width
        else:
            abbreviations, address = section.number(position, width), section.number(position + width, 1)
            position += width + 1
        if address not in (4, 8):
            raise section.malformed(f"has a unit with addresses of {address} bytes", offset)
        self.signature = self.type = -1
        if kind in _TYPE_UNITS or section.name.endswith("_types"):
            self.signature, self.type = section.number(position, 8), section.number(position + 8, width)
            position += 8 + width
        elif kind in _SPLIT_UNITS:
            position += 8
        self.first, self.width = position, width
        self.lengths = dwarf.lengths(address, width, version)
        self._key = (abbreviations, address, width, version == 2)
        self._top: Die | None = None
        if position > self.end:
            raise section.malformed("has a unit that ends within its header", offset)

    @property
    def address_size(self) -> int:
        return self._key[1]

    def abbreviations(self) -> dict[int, Abbreviation]:
        return self.dwarf.abbreviations(self._key, self.lengths)

    def top(self) -> Die | None:
        """The entry that holds all others; None in a unit without entries."""
        if self._top is None and self.first < self.end and self.section.data[self.first]:
            self._top = self.die(self.first)
        return self._top

    def die(self, offset: int) -> Die:
        """The entry at ``offset`` in the section."""
        if not self.first <= offset < self.end:
            raise self.section.malformed(f"refers to an entry outside of the unit at {self.offset:#x},", offset)
        code, start = self.section.variable(offset)
        abbreviation = self.abbreviations().get(code)
        if abbreviation is None:
            raise self.section.malformed(f"has an entry of the unknown kind {code}", offset)
        return Die(self, abbreviation, start)

    def base(self, name: int) -> int:
        """Where the part of a table that belongs to the unit begins."""
        top = self.top()
        base = top.number(name) if top else None
        if base is None:
            raise self.section.malformed("has indices, but does not tell of which table, in the unit", self.offset)
        return base

    def address(self, index: int) -> int:
        """An address in the table of addresses."""
        offset = self.base(ADDRESSES_BASE) + index * self.address_size
        return self.dwarf.section(".debug_addr").number(offset, self.address_size)

    def text(self, section: Contents, form: int, position: int, length: int, width: int) -> bytes:
        """The text of which a value of ``length`` is at ``position``; offsets are numbers of ``width`` bytes."""
        if form == forms.TEXT:
            return section.text(position)
        if form in forms.TEXTS:
            return self.dwarf.section(forms.TEXTS[form]).text(section.number(position, width))
        if form not in forms.INDEXED_TEXTS:
            raise section.malformed(f"has a name in the form {form:#x}, which is not read,", position)
        index = section.number(position, length) if length > 0 else section.variable(position)[0]
        offsets = self.dwarf.section(".debug_str_offsets")
        offset = offsets.number(self.base(STRINGS_BASE) + index * self.width, self.width)
        return self.dwarf.section(".debug_str").text(offset)


class Die:
    """An entry: its attributes are read from ``start`` on when they are asked for."""

    __slots__ = ("abbreviation", "start", "unit")

    def __init__(self, unit: Unit, abbreviation: Abbreviation, start: int) -> None:
        self.unit, self.abbreviation, self.start = unit, abbreviation, start

    @property
    def tag(self) -> int:
        return self.abbreviation.tag

    def has(self, name: int) -> bool:
        return self.abbreviation.place(name) is not None

    def bearer(self, name: int) -> Die | None:
        """The entry that has the attribute: this one, or one that it completes; None without one."""
        die, passed = self, {self.start}
        while not die.has(name):
            link = next((each for each in (SPECIFICATION, ORIGIN) if die.has(each)), 0)
            if not link:
                return None
            die = die.target(link)
            if die.start in passed:
                raise die.unit.section.malformed("has entries that complete each other", die.start)
            passed.add(die.start)
        return die

    def number(self, name: int) -> int | None:
        """A constant, flag, offset or address; None where the attribute is absent or has another form."""
        form, position, constant = self._value(name)
        if form == forms.IMPLICIT:
            return constant
        if form == forms.PRESENT:
            return 1
        section, length = self.unit.section, self.unit.lengths.get(form, 0)
        if form == forms.SIGNED:
            return section.signed(position)[0]
        if form in forms.NUMBERS or form == forms.ADDRESS:
            return section.number(position, length) if length > 0 else section.variable(position)[0]
        if form in forms.INDEXED_ADDRESSES:
            index = section.number(position, length) if length > 0 else section.variable(position)[0]
            return self.unit.address(index)
        return None

    def text(self, name: int) -> bytes:
        """A text; empty where the attribute is absent."""
        form, position, _ = self._value(name)
        unit = self.unit
        return unit.text(unit.section, form, position, unit.lengths.get(form, 0), unit.width) if form else b""

    def block(self, name: int) -> bytes:
        """A block of bytes, as expressions are; empty where the attribute is absent or has another form."""
        form, position, _ = self._value(name)
        length = self.unit.lengths.get(form, 0)
        if length > forms.BLOCK:
            return b""
        section = self.unit.section
        size, start = forms.block_at(section, position, length)
        if start + size > self.unit.end:
            raise section.malformed("has a block that goes beyond the unit's end", position)
        return section.data[start : start + size]

    def target(self, name: int) -> Die:
        """The entry that an attribute refers to."""
        form, position, _ = self._value(name)
        unit, section = self.unit, self.unit.section
        length = unit.lengths.get(form, 0)
        if form in forms.REFERENCES:
            distance = section.number(position, length) if length > 0 else section.variable(position)[0]
            return unit.die(unit.offset + distance)
        if form == forms.REFERENCE_ANYWHERE:
            offset = section.number(position, length)
            return unit.dwarf.unit_with(offset).die(offset)
        if form == forms.SIGNATURE:
            return unit.dwarf.type_of_signature(section.number(position, length))
        raise section.malformed(f"has a reference in the form {form:#x}, which is not read,", position)

    def children(self, tags: frozenset[int], within: frozenset[int] = frozenset()) -> Iterator[Die]:
        """The children of kinds ``tags``, and those of children of kinds ``within``, in their order."""
        if not self.abbreviation.children:
            return
        unit, abbreviations = self.unit, self.unit.abbreviations()
        section, data, end = unit.section, unit.section.data, unit.end
        position = forms.after(section, self.start, self.abbreviation.steps, unit.lengths)
        hidden = shown = 0  # how many entries are open that are stepped over, and that are looked into
        while position < end:
            offset, code = position, data[position]
            position += 1
            if code >= 0x80:
                code, position = section.variable(offset)
            if not code:
                if hidden:
                    hidden -= 1
                elif shown:
                    shown -= 1
                else:
                    return
                continue
            abbreviation = abbreviations.get(code)
            if abbreviation is None:
                raise section.malformed(f"has an entry of the unknown kind {code}", offset)
            start = position
            if not hidden:
                if abbreviation.tag in tags:
                    yield Die(unit, abbreviation, start)
                if abbreviation.children and abbreviation.tag in within:
                    shown += 1
                    position = forms.after(section, start, abbreviation.steps, unit.lengths)
                    continue
            if abbreviation.sibling:
                position = Die(unit, abbreviation, start)._sibling(offset)
                continue
            if abbreviation.children:
                hidden += 1
            if abbreviation.width >= 0:
                position += abbreviation.width
            else:
                position = forms.after(section, start, abbreviation.steps, unit.lengths)
        raise section.malformed("has a unit that ends before its entries do,", unit.offset)

    def _sibling(self, offset: int) -> int:
        """Where the entry's next sibling is: always behind it, else a walk would not end."""
        form, position, _ = self._value(forms.SIBLING)
        section, length = self.unit.section, self.unit.lengths.get(form, 0)
        if form not in forms.REFERENCES and form != forms.REFERENCE_ANYWHERE:
            raise section.malformed(f"has a reference to a sibling in the form {form:#x},", position)
        sibling = section.number(position, length) if length > 0 else section.variable(position)[0]
        sibling += 0 if form == forms.REFERENCE_ANYWHERE else self.unit.offset
        if not offset < sibling <= self.unit.end:
            raise section.malformed(f"has a sibling at {sibling:#x} of the entry", offset)
        return sibling

    def _value(self, name: int) -> tuple[int, int, int]:
        """An attribute's form, the position of its value, and its constant; form 0 where it is absent."""
        place = self.abbreviation.place(name)
        if place is None:
            return 0, 0, 0
        form, constant, steps = place
        section = self.unit.section
        position = forms.after(section, self.start, steps, self.unit.lengths)
        while form == forms.INDIRECT:
            form, position = section.variable(position)
        if position > self.unit.end:
            raise section.malformed("has an entry that goes beyond its unit's end", self.start)
        return form, position, constant


class Dwarf:
    """The debug information of an ELF file."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self._sections: dict[str, Contents] = {}
        self._lengths: dict[tuple[int, int, bool], dict[int, int]] = {}
        self._abbreviations: dict[tuple[int, int, int, bool], dict[int, Abbreviation]] = {}
        self._units: dict[int, Unit] = {}
        self._offsets: list[int] = []
        self._types: dict[int, Unit] | None = None

    def section(self, name: str) -> Contents:
        """The contents of a section, whose name may be that of a compressed one in the old way (.zdebug_...)."""
        contents = self._sections.get(name)
        if contents is None:
            section = self._elf.find(name) or self._elf.find(f".z{name[1:]}")
            if section is None:
                raise Malformed(f"the file has no section {name}")
            contents = self._sections[name] = self._elf.contents(section)
        return contents

    def has(self, name: str) -> bool:
        return bool(self._elf.find(name) or self._elf.find(f".z{name[1:]}"))

    def units(self) -> Iterator[Unit]:
        """The units of .debug_info, in their order."""
        if not self.has(".debug_info"):
            return
        section, offset = self.section(".debug_info"), 0
        while offset < len(section.data):
            unit = self._units.get(offset)
            if unit is None:
                unit = self._units[offset] = Unit(self, section, offset)
                self._offsets.append(offset)
            yield unit
            offset = unit.end

    def unit_with(self, offset: int) -> Unit:
        """The unit that has an offset in .debug_info."""
        if not self._offsets or offset >= self._units[self._offsets[-1]].end:
            for unit in self.units():
                if offset < unit.end:
                    break
        number = bisect_right(self._offsets, offset) - 1
        if number < 0:
            raise Malformed(f"no unit of .debug_info has the offset {offset:#x}")
        return self._units[self._offsets[number]]

    def type_of_signature(self, signature: int) -> Die:
        """The entry of a type that has a unit of its own."""
        if self._types is None:
            units = [unit for unit in self.units() if unit.signature >= 0]
            if self.has(".debug_types"):
                section, offset = self.section(".debug_types"), 0
                while offset < len(section.data):
                    units.append(Unit(self, section, offset))
                    offset = units[-1].end
            self._types = {unit.signature: unit for unit in units}
        if signature not in self._types:
            raise Malformed(f"no unit has the type with the signature {signature:#x}")
        found = self._types[signature]
        return found.die(found.offset + found.type)

    def lengths(self, address: int, width: int, version: int) -> dict[int, int]:
        """The lengths of values by their forms, for the sizes of addresses and of offsets."""
        key = address, width, version == 2
        lengths = self._lengths.get(key)
        if lengths is None:
            lengths = self._lengths[key] = forms.lengths_of_forms(*key)
        return lengths

    def abbreviations(self, key: tuple[int, int, int, bool], lengths: dict[int, int]) -> dict[int, Abbreviation]:
        """The abbreviations from an offset on, by their codes."""
        table = self._abbreviations.get(key)
        if table is None:
            if len(self._abbreviations) >= _TABLES:
                self._abbreviations.clear()
            table = self._abbreviations[key] = forms.read_abbreviations(self.section(".debug_abbrev"), key[0], lengths)
        return table

    def files(self, unit: Unit) -> dict[int, tuple[bytes, bytes]]:
        """Folder and name of the files of a unit's line table, by their numbers; none where it has no line table."""
        top = unit.top()
        offset = top.number(STATEMENTS) if top is not None else None
        if offset is None:
            return {}
        section = self.section(".debug_line")
        _, position, width = _initial_length(section, offset)
        version = section.number(position, 2)
        if not 2 <= version <= 5:
            raise section.malformed(f"has a line table of version {version}, which is not read,", offset)
        position += (4 if version == 5 else 2) + width + (5 if version < 4 else 6)
        position += section.number(position - 1, 1) - 1  # opcode_base: the lengths of opcodes 1 to opcode_base - 1
        if version == 5:
            lengths = self.lengths(unit.address_size, width, version)
            rows, position = _described(section, position, unit, lengths, width)
            folders = [path for path, _ in rows]
            rows, position = _described(section, position, unit, lengths, width)
            return {number: (_folder(folders, index), path) for number, (path, index) in enumerate(rows)}
        folders = []
        while text := section.text(position):
            folders.append(text)
            position += len(text) + 1
        position += 1
        files: dict[int, tuple[bytes, bytes]] = {}
        while text := section.text(position):
            index, position = section.variable(position + len(text) + 1)
            for _ in ("time of the last change", "size"):
                _, position = section.variable(position)
            files[len(files) + 1] = _folder(folders, index - 1), text
        return files


def _folder(folders: list[bytes], index: int) -> bytes:
    return folders[index] if 0 <= index < len(folders) else b""


def _initial_length(section: Contents, offset: int) -> tuple[int, int, int]:
    """The length at the start of a unit or table, where it counts from, and the size of offsets within."""
    length = section.number(offset, 4)
    if length == 0xFFFFFFFF:
        return section.number(offset + 4, 8), offset + 12, 8
    if length >= 0xFFFFFFF0:
        raise section.malformed(f"has the length {length:#x}, which is reserved,", offset)
    return length, offset + 4, 4


def _described(
    section: Contents, position: int, unit: Unit, lengths: dict[int, int], width: int
) -> tuple[list[tuple[bytes, int]], int]:
    """Rows of a line table that tells their form before (version 5): paths and numbers of folders, and what follows."""
    fields = []
    count, position = section.number(position, 1), position + 1
    for _ in range(count):
        content, position = section.variable(position)
        form, position = section.variable(position)
        if form not in lengths or form == forms.INDIRECT:
            raise section.malformed(f"has a value in the form {form:#x}, which is not read,", position)
        fields.append((content, form, lengths[form]))
    count, position = section.variable(position)
    if count > len(section.data) - position:
        raise section.malformed(f"ends before its {count} files do,", position)
    rows = []
    for _ in range(count):
        path, folder = b"", 0
        for content, form, length in fields:
            if content == _PATH:
                path = unit.text(section, form, position, length, width)
            elif content == _FOLDER:
                folder = section.number(position, length) if length > 0 else section.variable(position)[0]
            position = forms.after(section, position, [length], lengths)
        rows.append((path, folder))
    return rows, position
