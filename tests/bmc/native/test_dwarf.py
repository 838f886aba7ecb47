"""Debug information of any form, put together by hand: as pyelftools reads it; and damaged, which is told or read."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import elftools_reader
import pytest
from assembled_dwarf import (
    BLOCKS,
    IMPLICIT,
    INDIRECT,
    OFFSETS,
    PRESENT,
    SIGNED,
    SIZES,
    STRING,
    VARIABLE,
    Assembler,
    Attribute,
    Entry,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc.native import symbols
from bmc.native.elf import Malformed
from bmc.native.symbols import LibraryMap
from bmc.system.original import Call, Compilation, MemoryObject, NativeInterface

FOLDER = "/nowhere/at all"
FILES = [f"{FOLDER}/unit.c", f"{FOLDER}/headers/shared.h", ""]
NAMES, FUNCTIONS = ["a", "b", "ä"], ["step", "init", "g"]
FORMS = {*SIZES, *OFFSETS, *VARIABLE, *BLOCKS, STRING, SIGNED, PRESENT, IMPLICIT, INDIRECT} - {0x28, 0x1F01, 0x1F02}
"""All but those that pyelftools reads wrongly (strx4) or not at all (of GNU, for split units)."""

NAME, LOCATION, LOW_PC, FILE, LINE, TYPE, SIZE, ENCODING = 0x03, 0x02, 0x11, 0x3A, 0x3B, 0x49, 0x0B, 0x3E
FORMAL_PARAMETER, LEXICAL_BLOCK, POINTER, SUBPROGRAM, VARIABLE_TAG, BASE_TYPE = 0x05, 0x0B, 0x0F, 0x2E, 0x34, 0x24
TEXT_FORMS, NUMBER_FORMS = (
    [STRING, 0x0E, 0x1F, 0x1A, 0x25, 0x26, 0x27],
    [0x0B, 0x05, 0x06, 0x07, 0x0F, SIGNED, IMPLICIT],
)
ADDRESS_FORMS, REFERENCE_FORMS = [0x01, 0x1B, 0x29, 0x2A, 0x2B, 0x2C], [0x12, 0x13, 0x14, 0x15, 0x10]
TYPES = ["number", "float", "pointer", "named", "qualified", "structure"]


def interfaces() -> list[NativeInterface]:
    """What asks for all variables, once or twice."""
    asked = []
    for times in (1, 2):
        objects = tuple(
            MemoryObject(f"{name} {where} {file} {number}", "local" if where else "global", 4, name, where, file)
            for file in FILES
            for where in ["", *FUNCTIONS]
            for name in NAMES
            for number in range(times)
        )
        asked.append(NativeInterface(Compilation((), (), ()), objects, (), (Call("init"),), Call("step")))
    return asked


def read(folder: Path, library: bytes, reader: Any = symbols) -> list[LibraryMap]:
    file = folder / "library.so"
    file.write_bytes(library)
    return [reader.read_library(file, interface) for interface in interfaces()]


@st.composite
def fillers(draw: st.DrawFn) -> list[Attribute]:
    """Attributes that nobody asks for, in any form."""
    attributes: list[Attribute] = []
    for number in range(draw(st.integers(0, 3))):
        form = draw(st.sampled_from(sorted(FORMS)))
        attributes.append((0x2000 + number, form, draw(values(form))))
    return attributes


def values(form: int) -> st.SearchStrategy[Any]:
    if form in BLOCKS:
        return st.binary(max_size=200)
    if form == STRING:
        return st.sampled_from([b"", b"text", b"x" * 130])
    if form == INDIRECT:
        simple = st.sampled_from([0x0B, 0x0F, STRING, 0x0A, 0x17])
        return simple.flatmap(lambda inner: st.tuples(st.just(inner), values(inner)))
    if form in (SIGNED, IMPLICIT):
        return st.integers(-(2**40), 2**40)
    if form in (0x0F, 0x15):
        return st.integers(0, 2**40)
    return st.integers(0, 0)  # offsets and indices have to be in their tables


@st.composite
def named(draw: st.DrawFn, tag: int, names: list[str], more: list[Attribute], children: Any = None) -> Entry:
    """An entry with a name, in any order of its attributes; with or without a reference to its sibling."""
    attributes = [(NAME, draw(st.sampled_from(TEXT_FORMS)), os.fsencode(draw(st.sampled_from(names)))), *more]
    if children is not None and draw(st.booleans()):
        attributes.append((0x01, draw(st.sampled_from([0x12, 0x13, 0x14])), 0))
    return Entry(tag, draw(st.permutations([*attributes, *draw(fillers())])), children)


@st.composite
def variables(draw: st.DrawFn, assembler: Assembler) -> Entry:
    address = draw(st.integers(1, 9)) * 16
    if draw(st.booleans()):
        expression = b"\x03" + assembler.number(address, assembler.address)
    else:
        expression = b"\xa1" + bytes([assembler.indexed_address(address)])
    more: list[Attribute] = [(FILE, draw(st.sampled_from(NUMBER_FORMS)), draw(st.integers(0, 3)))]
    more.append((LINE, draw(st.sampled_from(NUMBER_FORMS)), draw(st.integers(0, 99))))
    if draw(st.integers(0, 3)):
        more.append((LOCATION, draw(st.sampled_from(sorted(BLOCKS))), expression))
    return draw(named(VARIABLE_TAG, NAMES, more))


@st.composite
def bodies(draw: st.DrawFn, assembler: Assembler, depth: int = 2) -> list[Entry]:
    """What is in a function: variables, parameters, blocks, and what is stepped over with all that it holds."""
    entries = []
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["variable", "parameter", "block", "other"]))
        if kind == "variable":
            entries.append(draw(variables(assembler)))
        elif kind == "parameter":
            more: list[Attribute] = [(TYPE, draw(st.sampled_from(REFERENCE_FORMS)), draw(st.sampled_from(TYPES)))]
            entries.append(draw(named(FORMAL_PARAMETER, ["p"], more)))
        else:
            inside = draw(bodies(assembler, depth - 1)) if depth else []
            tag = LEXICAL_BLOCK if kind == "block" else 0x1D
            entries.append(draw(named(tag, ["x"], [], inside)))
    return entries


@st.composite
def functions(draw: st.DrawFn, assembler: Assembler) -> Entry:
    address, form = draw(st.integers(0, 3)) * 16, draw(st.sampled_from(ADDRESS_FORMS))
    more: list[Attribute] = [(LOW_PC, form, address if form == 0x01 else assembler.indexed_address(address))]
    if draw(st.booleans()):
        more.append((TYPE, draw(st.sampled_from(REFERENCE_FORMS)), draw(st.sampled_from(TYPES))))
    return draw(named(SUBPROGRAM, [*FUNCTIONS, ""], more, draw(bodies(assembler))))


@st.composite
def types(draw: st.DrawFn) -> list[Entry]:
    """The types that others refer to; each stands before those that refer to it."""
    size = st.sampled_from(NUMBER_FORMS)
    reference = st.sampled_from(REFERENCE_FORMS)
    return [
        Entry(BASE_TYPE, [(SIZE, draw(size), 4), (ENCODING, draw(size), 5), *draw(fillers())], None, "number"),
        Entry(BASE_TYPE, [(SIZE, draw(size), 8), (ENCODING, draw(size), 4), *draw(fillers())], None, "float"),
        Entry(0x13, [(SIZE, draw(size), 24)], [Entry(0x0D, draw(fillers()))], "structure"),
        Entry(
            POINTER, [*draw(fillers()), (SIZE, draw(size), 8), (TYPE, draw(reference), "structure")], None, "pointer"
        ),
        Entry(0x16, [(TYPE, draw(reference), draw(st.sampled_from(["number", "float", "pointer"])))], None, "named"),
        Entry(0x26, [(TYPE, draw(reference), "named"), *draw(fillers())], None, "qualified"),
    ]


@st.composite
def libraries(draw: st.DrawFn) -> bytes:
    assembler = Assembler(
        draw(st.integers(2, 5)),
        draw(st.sampled_from([32, 64])),
        draw(st.sampled_from([4, 8])),
        draw(st.sampled_from(["little", "big"])),
    )
    for name in ("addr", "str", "str_offsets", "line_str", "loclists", "rnglists"):
        assembler.part(f".debug_{name}")
    assembler.part(".debug_loclists").extend(bytes(16))
    assembler.part(".debug_rnglists").extend(bytes(16))
    for text in (b"first", b"second"):
        assembler.value(0x1A, text)
    assembler.indexed_address(0)
    for _ in range(draw(st.integers(1, 2))):
        form = draw(st.sampled_from([STRING, 0x0E, 0x1F]))
        number = 1 if assembler.version < 5 else 0
        folders = [b"headers"] if number else [FOLDER.encode(), b"headers"]
        lines = assembler.line_table(folders, [(b"unit.c", 0), (b"shared.h", 1)], form)
        offset = 0x17 if assembler.version > 3 else 0x06
        top: list[Attribute] = [(0x1B, draw(st.sampled_from(TEXT_FORMS)), FOLDER.encode()), (0x10, offset, lines)]
        top += [(base, 0x17, 0) for base in (0x72, 0x73, 0x8C, 0x74)]
        inside = draw(types())
        for _ in range(draw(st.integers(0, 4))):
            inside.append(draw(st.one_of(variables(assembler), functions(assembler))))
            if draw(st.booleans()):
                inside.append(Entry(0x13, draw(fillers()), draw(bodies(assembler, 1))))
        entry = draw(named(0x11, ["unit.c"], top))
        assembler.unit(Entry(0x11, entry.attributes, inside))
    kinds = [(name, 2, 16 * number, 8) for number, name in enumerate(["step", "init", "step", "g"])]
    return assembler.library([*kinds, ("a", 1, 16, 4), ("b", 1, 32, 8)])


@settings(max_examples=150, deadline=None)
@given(library=libraries())
def test_any_form_as_pyelftools_reads_it(tmp_path_factory: pytest.TempPathFactory, library: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert read(folder, library) == read(folder, library, elftools_reader)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), library=libraries())
def test_damage_is_told_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, library: bytes
) -> None:
    """The reader ends, with a result or with its one class of error."""
    damaged = bytearray(library)
    byte = st.sampled_from([0, 1, 0x10, 0x7F, 0x80, 0xFF])
    for _ in range(data.draw(st.integers(0, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(byte)
    del damaged[data.draw(st.integers(0, 2 * len(damaged))) :]
    with contextlib.suppress(Malformed):
        read(tmp_path_factory.getbasetemp(), bytes(damaged))


def small(tops: list[Entry], **layout: Any) -> tuple[Assembler, bytes]:
    """Units of the given entries, in a library that exports ``step``."""
    assembler = Assembler(**layout)
    for top in tops:
        assembler.unit(top)
    return assembler, assembler.library([("step", 2, 16, 8)])


def located(name: bytes, *more: Attribute) -> Entry:
    return Entry(VARIABLE_TAG, [(NAME, STRING, name), (LOCATION, 0x18, b"\x03" + bytes(8)), *more])


CYCLES = {
    "a type that is made of itself": Entry(
        SUBPROGRAM, [(NAME, STRING, b"step"), (LOW_PC, 0x01, 16), (TYPE, 0x14, "self")], None
    ),
    "entries that complete each other": Entry(VARIABLE_TAG, [(0x47, 0x14, "self")], None),
}


@pytest.mark.parametrize("message", CYCLES)
def test_cycles_are_told(tmp_path: Path, message: str) -> None:
    itself = Entry(0x16, [(TYPE, 0x14, "self"), (0x31, 0x14, "self")], None, "self")
    with pytest.raises(Malformed, match=message):
        read(tmp_path, small([Entry(0x11, [], [itself, CYCLES[message]])])[1])


@pytest.mark.parametrize("version", [4, 5])
def test_references_to_other_units_and_by_signature(tmp_path: Path, version: int) -> None:
    """A type in another unit, and one in a unit of its own; pyelftools finds the latter only in .debug_types."""
    assembler = Assembler(version)
    assembler.unit(Entry(0x41, [], [Entry(BASE_TYPE, [(SIZE, 0x0B, 6)], None, "type")]), signature=77)
    assembler.unit(Entry(0x11, [], [Entry(BASE_TYPE, [(SIZE, 0x0B, 2)], None, "number")]))
    parameters = [Entry(FORMAL_PARAMETER, [(TYPE, 0x10, "number")]), Entry(FORMAL_PARAMETER, [(TYPE, 0x20, 77)])]
    assembler.unit(Entry(0x11, [], [Entry(SUBPROGRAM, [(NAME, STRING, b"step"), (LOW_PC, 0x01, 16)], parameters)]))
    library = assembler.library([("step", 2, 16, 8)])
    maps = read(tmp_path, library)
    assert [facts.size for facts in maps[0].functions["step"][0].parameters or ()] == [2, 6]
    if version < 5:
        assert maps == read(tmp_path, library, elftools_reader)


def test_a_sibling_is_never_before(tmp_path: Path) -> None:
    """Such a reference would send the reader round and round."""
    assembler, _ = small([Entry(0x11, [], [Entry(0x17, [(LOCATION, 0x13, 5)], [])])])
    abbreviations = assembler.part(".debug_abbrev")
    abbreviations[:] = abbreviations.replace(b"\x02\x13", b"\x01\x13")
    with pytest.raises(Malformed, match="sibling at 0x5 of the entry at offset 0xc"):
        read(tmp_path, assembler.library([]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({".debug_info": b"\0\0\0\0\0\0"}, "unit"),
        ({".debug_info": b"\0" * 64}, r"DWARF version 0.* at offset 0x0"),
        ({".debug_abbrev": b""}, r"\.debug_abbrev has a number without an end at offset 0x0"),
        ({".debug_abbrev": b"\1\x11\1\0\x7f\0\0\0"}, "form 0x7f"),
        ({".debug_abbrev": b"\2\x11\1\0\0\0"}, "unknown kind 1"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, change: dict[str, bytes], message: str) -> None:
    assembler, _ = small([Entry(0x11, [], [located(b"a")])])
    assembler.sections |= {name: bytearray(data) for name, data in change.items()}
    with pytest.raises(Malformed, match=message):
        read(tmp_path, assembler.library([("step", 2, 16, 8)]))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"", "the file at 0x0"),
        (b"no ELF file at all", "does not start like an ELF file"),
        (b"\x7fELF\2\1" + bytes(20), "the header ends at offset 0x40"),
        (b"\x7fELF\2\1" + bytes(60), r"no section \.symtab"),
    ],
)
def test_files_that_are_no_libraries(tmp_path: Path, start: bytes, message: str) -> None:
    with pytest.raises(Malformed, match=message):
        read(tmp_path, start)


def test_unknown_forms_of_what_is_not_there_do_no_harm(tmp_path: Path) -> None:
    assembler, _ = small([Entry(0x11, [], [located(b"a")])])
    assembler.part(".debug_abbrev")[-1:] = b"\7\x13\0\x7f\x7f\0\0\0"
    library = assembler.library([])
    maps = read(tmp_path, library)
    assert maps == read(tmp_path, library, elftools_reader)
    assert "a   0" in maps[0].objects


def test_a_text_of_four_bytes_of_index(tmp_path: Path) -> None:
    """DW_FORM_strx4, which pyelftools takes for eight bytes."""
    assembler = Assembler(5)
    variable = Entry(VARIABLE_TAG, [(NAME, 0x28, b"a"), (LOCATION, 0x18, b"\x03" + bytes(7) + b"\1")])
    assembler.unit(Entry(0x11, [(0x72, 0x17, 0)], [variable]))
    assert read(tmp_path, assembler.library([]))[0].objects["a   0"] == 1 << 56


def test_many_blocks_within_each_other(tmp_path: Path) -> None:
    """Each is looked at once, and none costs a level of recursion."""
    inside = [located(b"a")]
    for _ in range(600):
        inside = [Entry(LEXICAL_BLOCK, [], inside)]
    step = Entry(SUBPROGRAM, [(NAME, STRING, b"step")], inside)
    assert "a step  0" in read(tmp_path, small([Entry(0x11, [], [step])])[1])[0].objects
