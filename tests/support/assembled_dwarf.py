"""Libraries whose debug information is put together by hand: any form, version, width and byte order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Attribute = tuple[int, int, Any]
"""Its name and its form, and its value; for DW_FORM_indirect the value is a pair of form and value."""

SIZES = {0x02: 4, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x1C: 4, 0x1E: 16}
SIZES |= {0x20: 8, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4}
OFFSETS = frozenset({0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21})
VARIABLE = frozenset({0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02})
BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4, 0x09: 0, 0x18: 0}
STRING, SIGNED, PRESENT, IMPLICIT, INDIRECT, ADDRESS, ANYWHERE = 0x08, 0x0D, 0x19, 0x21, 0x16, 0x01, 0x10
TEXTS = {0x0E: ".debug_str", 0x1F: ".debug_line_str"}
SIBLING = 0x01


def variable(value: int) -> bytes:
    """Unsigned LEB128."""
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def signed(value: int) -> bytes:
    """Signed LEB128."""
    data = bytearray()
    while not -64 <= value < 64:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value & 0x7F])


@dataclass
class Entry:
    """An entry; ``label`` names it for references, ``children`` is None where it has none."""

    tag: int
    attributes: list[Attribute]
    children: list[Entry] | None = None
    label: str = ""


@dataclass
class Assembler:
    """Debug sections that grow unit by unit. Texts are values as bytes, whatever their form; so are references."""

    version: int = 4
    bits: int = 64
    width: int = 4
    order: Literal["little", "big"] = "little"
    sections: dict[str, bytearray] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)

    def part(self, name: str) -> bytearray:
        return self.sections.setdefault(name, bytearray())

    def number(self, value: int, size: int) -> bytes:
        return (value & ((1 << (8 * size)) - 1)).to_bytes(size, self.order)

    @property
    def address(self) -> int:
        return self.bits // 8

    def unit(self, top: Entry, signature: int | None = None) -> None:
        """Add a unit, and a table of abbreviations for it. With a signature: that of the type labelled "type"."""
        self.place = ".debug_types" if signature is not None and self.version < 5 else ".debug_info"
        info, abbreviations = self.part(self.place), self.part(".debug_abbrev")
        start, table = len(info), len(abbreviations)
        size, where = self.number(self.address, 1), self.number(table, self.width)
        kind = b"\1" if signature is None else b"\2"
        header = self.number(self.version, 2) + (kind + size + where if self.version == 5 else where + size)
        initial = 4 if self.width == 4 else 12
        info += bytes(initial) + header
        if signature is not None:
            info += self.number(signature, 8) + bytes(self.width)
        entries = len(info)
        self.codes: dict[Any, int] = {}
        self._entry(top, start)
        abbreviations += b"\0"
        mark = b"" if self.width == 4 else b"\xff\xff\xff\xff"
        info[start : start + initial] = mark + self.number(len(info) - start - initial, self.width)
        if signature is not None:
            info[entries - self.width : entries] = self.number(self.labels["type"] - start, self.width)

    def _entry(self, entry: Entry, unit: int) -> None:
        info = self.part(self.place)
        shape = [(name, form, value if form == IMPLICIT else 0) for name, form, value in entry.attributes]
        key = (entry.tag, entry.children is not None, *shape)
        if key not in self.codes:
            self.codes[key] = len(self.codes) + 1
            table = self.part(".debug_abbrev")
            table += variable(self.codes[key]) + variable(entry.tag) + bytes([entry.children is not None])
            for name, form, constant in shape:
                table += variable(name) + variable(form) + (signed(constant) if form == IMPLICIT else b"")
            table += b"\0\0"
        self.labels[entry.label] = len(info)
        info += variable(self.codes[key])
        sibling = None
        for name, form, value in entry.attributes:
            if name == SIBLING:
                sibling = len(info), SIZES[form]
            info += self.value(form, value, unit)
        if entry.children is not None:
            for child in entry.children:
                self._entry(child, unit)
            info += b"\0"
        if sibling:
            place, size = sibling
            info[place : place + size] = self.number(len(info) - unit, size)

    def value(self, form: int, value: Any, unit: int = 0) -> bytes:
        """A value in its form."""
        if form == INDIRECT:
            return variable(value[0]) + self.value(value[0], value[1], unit)
        if form == STRING:
            return bytes(value) + b"\0"
        if form in (PRESENT, IMPLICIT):
            return b""
        if form == SIGNED:
            return signed(value)
        if form in BLOCKS:
            count = len(value)
            return (self.number(count, BLOCKS[form]) if BLOCKS[form] else variable(count)) + bytes(value)
        if isinstance(value, bytes):
            value = self._text(TEXTS[form], value) if form in TEXTS else self._index(value)
        if isinstance(value, str):
            value = self.labels[value] - (0 if form == ANYWHERE else unit)
        if form in VARIABLE:
            return variable(value)
        if form in OFFSETS:
            return self.number(value, self.width)
        if form == ANYWHERE:
            return self.number(value, self.address if self.version == 2 else self.width)
        return self.number(value, self.address if form == ADDRESS else SIZES[form])

    def _text(self, section: str, text: bytes) -> int:
        part = self.part(section)
        part += text + b"\0"
        return len(part) - len(text) - 1

    def _index(self, text: bytes) -> int:
        offsets = self.part(".debug_str_offsets")
        offsets += self.number(self._text(".debug_str", text), self.width)
        return len(offsets) // self.width - 1

    def indexed_address(self, address: int) -> int:
        """The index of an address in the table of addresses."""
        part = self.part(".debug_addr")
        part += self.number(address, self.address)
        return len(part) // self.address - 1

    def line_table(self, folders: list[bytes], files: list[tuple[bytes, int]], form: int = STRING) -> int:
        """Add a line table without lines; where it begins. ``form`` is that of texts in version 5."""
        if self.version == 5:
            text, index = variable(1) + variable(form), variable(2) + variable(0x0F)
            tables = b"\1" + text + variable(len(folders))
            tables += b"".join(self.value(form, folder) for folder in folders)
            tables += b"\2" + text + index + variable(len(files))
            tables += b"".join(self.value(form, name) + variable(folder) for name, folder in files)
        else:
            tables = b"".join(folder + b"\0" for folder in folders) + b"\0"
            tables += b"".join(name + b"\0" + variable(folder) + variable(200) + b"\0" for name, folder in files)
            tables += b"\0"
        rest = b"\1" + (b"\1" if self.version >= 4 else b"") + b"\1\xfb\x0e\x0d" + bytes(12) + tables
        body = self.number(self.version, 2) + (bytes([self.address, 0]) if self.version == 5 else b"")
        body += self.number(len(rest), self.width) + rest
        mark = b"" if self.width == 4 else b"\xff\xff\xff\xff"
        part = self.part(".debug_line")
        start = len(part)
        part += mark + self.number(len(body), self.width) + body
        return start

    def library(self, symbols: list[tuple[str, int, int, int]]) -> bytes:
        """An ELF file with the debug sections, and ``symbols``: name, type, address, size; they are exported, too."""
        texts, table = bytearray(b"\0"), bytearray(24 if self.bits == 64 else 16)
        for name, kind, address, size in symbols:
            place, info = self.number(len(texts), 4), bytes([0x10 | kind, 0]) + self.number(5, 2)
            texts += name.encode() + b"\0"
            if self.bits == 64:
                table += place + info + self.number(address, 8) + self.number(size, 8)
            else:
                table += place + self.number(address, 4) + self.number(size, 4) + info
        rows: list[tuple[str, int, int, bytes]] = [("", 0, 0, b""), (".strtab", 3, 0, bytes(texts))]
        rows += [(name, kind, 1, bytes(table)) for name, kind in ((".symtab", 2), (".dynsym", 11))]
        rows += [(name, 1, 0, bytes(data)) for name, data in self.sections.items()]
        names = bytearray()
        places = []
        for name in [*(row[0] for row in rows), ".shstrtab"]:
            places.append(len(names))
            names += name.encode() + b"\0"
        rows.append((".shstrtab", 3, 0, bytes(names)))
        word, entry = self.address, 24 if self.bits == 64 else 16
        start = 64 if self.bits == 64 else 52
        body, headers = bytearray(), bytearray()
        for (_, kind, link, data), place in zip(rows, places, strict=True):
            headers += self.number(place, 4) + self.number(kind, 4)
            for value in (0, 0, start + len(body), len(data)):
                headers += self.number(value, word)
            headers += self.number(link, 4) + bytes(4)
            headers += self.number(1, word) + self.number(entry if kind in (2, 11) else 0, word)
            body += data
        ident = b"\x7fELF" + bytes([self.bits // 32, 1 if self.order == "little" else 2, 1]) + bytes(9)
        header = ident + self.number(3, 2) + self.number(62, 2) + self.number(1, 4) + bytes(2 * word)
        header += self.number(start + len(body), word) + bytes(4) + self.number(start, 2) + bytes(4)
        header += self.number(64 if self.bits == 64 else 40, 2) + self.number(len(rows), 2)
        return bytes(header + self.number(len(rows) - 1, 2) + body + headers)
