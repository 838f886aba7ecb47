"""How values of debug information are encoded (DWARF 2 to 5): the forms, and the abbreviations that list them."""

from __future__ import annotations

from bmc.native.elf import Contents

SIBLING = 0x01
"""The attribute (DW_AT_sibling) that refers to what follows an entry and all that it holds."""

_VARIABLE, _TEXT, _INDIRECT, BLOCK, _UNKNOWN = -1, -2, -3, -4, -100
"""Lengths of values that their first bytes tell; ``BLOCK`` - n is that of a block after its size in n bytes.

``_UNKNOWN`` - n stands for an unknown form n: entries of its abbreviation cannot be read, others can.
"""

ADDRESS, TEXT, INDIRECT, PRESENT, SIGNATURE, IMPLICIT = 0x01, 0x08, 0x16, 0x19, 0x20, 0x21
_FIXED = {0x02: 4, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x19: 0, 0x1C: 4}
_FIXED |= {0x1E: 16, 0x20: 8, 0x21: 0, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4}
_LEADING = dict.fromkeys((0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02), _VARIABLE)
_LEADING |= {0x08: _TEXT, 0x16: _INDIRECT, 0x0A: BLOCK - 1, 0x03: BLOCK - 2, 0x04: BLOCK - 4}
_LEADING |= {0x09: BLOCK, 0x18: BLOCK}
_OFFSETS = (0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21)
REFERENCE_ANYWHERE = 0x10
"""Forms (DW_FORM_...) by the length of their values: in bytes, told by the first bytes, that of an offset."""

SIGNED = 0x0D
NUMBERS = frozenset({0x05, 0x06, 0x07, 0x0B, 0x0C, 0x0F, 0x17})
REFERENCES = frozenset({0x02, 0x11, 0x12, 0x13, 0x14, 0x15})
TEXTS = {0x0E: ".debug_str", 0x1F: ".debug_line_str"}
INDEXED_TEXTS = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28})
INDEXED_ADDRESSES = frozenset({0x1B, 0x29, 0x2A, 0x2B, 0x2C})
"""Forms by what they mean."""


class Abbreviation:
    """What entries have in common: their kind, whether they have children, their attributes and their forms.

    ``steps`` are the lengths of the values in their order; those of known lengths are summed.
    """

    __slots__ = ("_attributes", "_lengths", "_places", "children", "sibling", "steps", "tag", "width")

    def __init__(self, tag: int, children: bool, attributes: list[tuple[int, int, int]], lengths: dict[int, int]):
        self.tag, self.children = tag, children
        self._attributes, self._lengths = attributes, lengths
        self._places: dict[int, tuple[int, int, list[int]] | None] = {}
        self.steps = _summed(attributes, lengths)
        self.width = sum(self.steps) if not self.steps or min(self.steps) >= 0 else -1
        self.sibling = children and any(name == SIBLING for name, _, _ in attributes)

    def place(self, name: int) -> tuple[int, int, list[int]] | None:
        """An attribute's form, its constant if it has that form, and the steps to its value; None if it is absent."""
        if name not in self._places:
            place = None
            for number, (each, form, constant) in enumerate(self._attributes):
                if each == name:
                    place = form, constant, _summed(self._attributes[:number], self._lengths)
            self._places[name] = place
        return self._places[name]


def _summed(attributes: list[tuple[int, int, int]], lengths: dict[int, int]) -> list[int]:
    """The lengths of values in their order, neighbours of known lengths in one sum."""
    steps: list[int] = []
    known = 0
    for _, form, _ in attributes:
        length = lengths.get(form, _UNKNOWN - form)
        if length >= 0:
            known += length
            continue
        if known:
            steps.append(known)
            known = 0
        steps.append(length)
    return [*steps, known] if known else steps


def lengths_of_forms(address: int, width: int, second: bool) -> dict[int, int]:
    """The lengths of values by their forms, for the sizes of addresses and of offsets; is it DWARF 2?"""
    lengths = {**_FIXED, **_LEADING, **dict.fromkeys(_OFFSETS, width), ADDRESS: address}
    lengths[REFERENCE_ANYWHERE] = address if second else width
    return lengths


def read_abbreviations(section: Contents, position: int, lengths: dict[int, int]) -> dict[int, Abbreviation]:
    data, variable = section.data, section.variable
    table: dict[int, Abbreviation] = {}
    try:
        while True:
            code, position = variable(position)
            if not code:
                return table
            tag, position = variable(position)
            children = data[position] == 1
            position += 1
            attributes = []
            while True:
                name, form = data[position], data[position + 1]
                position += 2
                if name >= 0x80 or form >= 0x80:
                    name, position = variable(position - 2)
                    form, position = variable(position)
                constant = 0
                if form == IMPLICIT:
                    constant, position = section.signed(position)
                elif not form and not name:
                    break
                attributes.append((name, form, constant))
            table[code] = Abbreviation(tag, children, attributes, lengths)
    except IndexError:
        raise section.malformed("ends within an abbreviation", position) from None


def after(section: Contents, position: int, steps: list[int], lengths: dict[int, int]) -> int:
    """The position behind values whose lengths are ``steps``."""
    data = section.data
    try:
        for step in steps:
            if step == _INDIRECT:
                form = INDIRECT
                while form == INDIRECT:
                    form, position = section.variable(position)
                if form not in lengths or form == IMPLICIT:
                    raise section.malformed(f"has a value in the form {form:#x}, which is not read,", position)
                step = lengths[form]
            if step >= 0:
                position += step
            elif step == _VARIABLE:
                while data[position] >= 0x80:
                    position += 1
                position += 1
            elif step == _TEXT:
                end = data.find(0, position)
                if end < 0:
                    raise section.malformed("has a text without an end", position)
                position = end + 1
            elif step <= _UNKNOWN:
                raise section.malformed(f"has a value in the form {_UNKNOWN - step:#x}, which is not read,", position)
            else:
                size = data[position]
                if step < BLOCK - 1 or size >= 0x80:
                    size, position = block_at(section, position, step)
                else:
                    position += 1
                position += size
    except IndexError:
        raise section.malformed("ends within an entry", position) from None
    return position


def block_at(section: Contents, position: int, step: int) -> tuple[int, int]:
    """The size of a block, and where it begins."""
    if step == BLOCK:
        return section.variable(position)
    return section.number(position, BLOCK - step), position + BLOCK - step
