"""Where things lie in a compiled shared library: ELF symbols and DWARF locations, read by pyelftools.

pyelftools is imported where a library is new: with a kept build nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from bmc.records import dataclass
from bmc.system.original import MemoryObject, NativeInterface, PointedAt

P = ParamSpec("P")
R = TypeVar("R")

ANCHOR = "chaincover_anchor"
"""A function of ours, for libraries that export none that is called."""

GUARD_SECTION = ".chaincover_guard"
NAMELESS = "?"
"""Stands for a function without a name: there clang 14 puts the static locals of always_inline functions."""

_QUALIFIERS = {f"DW_TAG_{n}" for n in ("typedef", "const_type", "volatile_type", "restrict_type", "atomic_type")}
_DW_OP_ADDR, _DW_OP_ADDRX, _DW_ATE_FLOAT = 0x03, 0xA1, 0x04
_WRITABLE_AND_LOADED, _THREAD_LOCAL = 0x3, 0x400
_HOLDING_VARIABLES = ("SHT_PROGBITS", "SHT_NOBITS")


class Malformed(Exception):
    """An object file or its debug information is cut off, contradicts itself, or has a form that is not read."""


def _told_as_malformed(read: Callable[P, R]) -> Callable[P, R]:
    """A function that reads a file; whatever goes wrong in it is ``Malformed``."""

    @wraps(read)
    def reading(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return read(*arguments, **named)
        except (Malformed, OSError):
            raise
        except Exception as error:  # pyelftools fails at whatever place its parsing has come to
            raise Malformed(f"{type(error).__name__}: {error}") from error

    return reading


@dataclass(frozen=True, slots=True)
class TypeFacts:
    """A parameter's or result's type: its size in bytes, is it floating; ``target`` is a pointer's target's size.

    0 where it is not known.
    """

    size: int = 0
    floating: bool = False
    target: int = 0


@dataclass(frozen=True, slots=True)
class FunctionPlace:
    """A function's address (in the file), and its types as far as the debug information tells."""

    address: int
    parameters: tuple[TypeFacts, ...] | None = None
    result: TypeFacts = TypeFacts()


@dataclass(frozen=True, slots=True)
class VariablePlace:
    """One variable with static storage, or a function.

    ``unit`` is the compiled file, ``file`` and ``line`` declare it.
    """

    address: int
    unit: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class LibraryMap:
    """Addresses in the library's file. ``objects`` (by object name) lacks what was not found; ``sizes`` by address."""

    exported: dict[str, int]
    objects: dict[str, int]
    sizes: dict[int, int]
    functions: dict[str, list[FunctionPlace]]
    writable: tuple[tuple[int, int], ...]
    pointed: dict[str, int]
    """The functions that pointers may point to, by file and name."""

    @property
    def anchor(self) -> tuple[str, int] | None:
        """An exported function by which the loaded library is found, and its address; None where there is none."""
        names = (ANCHOR, *self.functions)
        return next(((name, self.exported[name]) for name in names if name in self.exported), None)

    def as_data(self) -> dict[str, Any]:
        """All of it as JSON can keep it."""
        return {**asdict(self), "sizes": [*self.sizes.items()]}

    @staticmethod
    def of(data: dict[str, Any]) -> LibraryMap:
        """What ``as_data`` made data of."""
        functions = {name: [_function_of(place) for place in places] for name, places in data["functions"].items()}
        writable = tuple((address, size) for address, size in data["writable"])
        return LibraryMap(data["exported"], data["objects"], dict(data["sizes"]), functions, writable, data["pointed"])


def _function_of(data: dict[str, Any]) -> FunctionPlace:
    types = data["parameters"]
    parameters = None if types is None else tuple(TypeFacts(**each) for each in types)
    return FunctionPlace(data["address"], parameters, TypeFacts(**data["result"]))


def is_elf(file: Path) -> bool:
    """Does the file start like an ELF file?"""
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _elf_in_memory(file: Path) -> Any:
    """The ELF file, read at once: the reader goes to and fro in it thousands of times."""
    from elftools.elf.elffile import ELFFile

    return ELFFile(BytesIO(file.read_bytes()))


@_told_as_malformed
def weaken(object_file: Path, name: str) -> None:
    """Make the global symbol ``name`` of an ELF object file weak, so that several files may define it."""
    from elftools.elf.elffile import ELFFile

    with object_file.open("r+b") as stream:
        elf: Any = ELFFile(stream)
        table = elf.get_section_by_name(".symtab")
        for index, symbol in enumerate(table.iter_symbols()):
            if symbol.name == name and symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol["st_shndx"] != "SHN_UNDEF":
                info = table["sh_offset"] + index * table["sh_entsize"] + (4 if elf.elfclass == 64 else 12)
                stream.seek(info)
                kind = stream.read(1)[0] & 0xF
                stream.seek(info)
                stream.write(bytes([(2 << 4) | kind]))  # STB_WEAK
                return


@_told_as_malformed
def undefined_symbols(library: Path) -> tuple[list[str], list[str]]:
    """What no source file and no system library defines: (functions that are called, all others)."""
    elf = _elf_in_memory(library)
    symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
    versions = elf.get_section_by_name(".gnu.version")
    called = _called_symbols(elf)
    missing = []
    for index, symbol in enumerate(symbols):
        if symbol["st_shndx"] == "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL" and symbol.name:
            versioned = versions is not None and isinstance(versions.get_symbol(index)["ndx"], int)
            if not versioned and (versions is not None or not _in_system(elf, symbol.name)):
                missing.append((symbol.name, index in called))
    return [name for name, call in missing if call], [name for name, call in missing if not call]


def _called_symbols(elf: Any) -> set[int]:
    """Indices in .dynsym of the symbols with an entry in the procedure linkage table."""
    sections = (elf.get_section_by_name(name) for name in (".rela.plt", ".rel.plt"))
    return {r["r_info_sym"] for section in sections if section is not None for r in section.iter_relocations()}


def _in_system(elf: Any, name: str) -> bool:
    """Does a library that ``elf`` needs export ``name``? For C libraries without symbol versions (musl)."""
    import ctypes

    needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_NEEDED"]
    for library in needed:
        try:
            if hasattr(ctypes.CDLL(library), name):
                return True
        except OSError:
            continue
    return False


@_told_as_malformed
def read_library(library: Path, interface: NativeInterface) -> LibraryMap:
    """Find the interface's objects and functions in the linked ELF library; Malformed where it cannot be read."""
    elf = _elf_in_memory(library)
    table = [s for s in elf.get_section_by_name(".symtab").iter_symbols() if s["st_shndx"] != "SHN_UNDEF"]
    exported = {s.name: s["st_value"] for s in elf.get_section_by_name(".dynsym").iter_symbols() if s["st_value"]}
    sizes = {s["st_value"]: s["st_size"] for s in table if s["st_info"]["type"] == "STT_OBJECT" and s["st_size"]}
    debug = _DebugReader(elf, interface)
    debug.read()
    functions: dict[str, list[FunctionPlace]] = {}
    for symbol in table:
        if symbol["st_info"]["type"] == "STT_FUNC" and symbol.name in debug.called:
            types = debug.types.get(symbol["st_value"], (None, TypeFacts()))
            functions.setdefault(symbol.name, []).append(FunctionPlace(symbol["st_value"], *types))
    pointed = {pointee_key(each): address for each in debug.pointed if (address := debug.function(each)) is not None}
    return LibraryMap(exported, _choose(interface, debug), sizes, functions, tuple(_writable(elf)), pointed)


def pointee_key(pointee: PointedAt) -> str:
    """By what ``LibraryMap.pointed`` knows a function."""
    return f"{pointee.file}:{pointee.function}"


def _writable(elf: Any) -> Iterator[tuple[int, int]]:
    """(address, size) of the sections that hold variables."""
    for section in elf.iter_sections():
        flags, kind, name = section["sh_flags"], section["sh_type"], section.name
        if flags & (_WRITABLE_AND_LOADED | _THREAD_LOCAL) != _WRITABLE_AND_LOADED or kind not in _HOLDING_VARIABLES:
            continue
        if name.startswith((".got", ".data.rel.ro", ".tm_clone", ".plt", GUARD_SECTION)) or not section["sh_size"]:
            continue
        yield section["sh_addr"], section["sh_size"]


def _choose(interface: NativeInterface, debug: _DebugReader) -> dict[str, int]:
    """The address of each object of kind global or local; those without a unique answer are left out."""
    groups: dict[tuple[str, str, str], list[MemoryObject]] = {}
    for obj in interface.objects:
        if obj.kind in ("global", "local"):
            groups.setdefault((obj.symbol, obj.function if obj.kind == "local" else "", obj.file), []).append(obj)
    found: dict[str, int] = {}
    for (symbol, function, file), objects in groups.items():
        known = debug.variables.get((symbol, function)) or (
            debug.variables.get((symbol, NAMELESS)) if function else None
        )
        places = _in_file(known or [], file)
        addresses = list(dict.fromkeys(place.address for place in sorted(places, key=lambda place: place.line)))
        if len(addresses) == len(objects):  # several: same name in several blocks of one function, in source order
            found.update((obj.name, address) for obj, address in zip(objects, addresses, strict=True))
    return found


def _in_file(places: list[VariablePlace], file: str) -> list[VariablePlace]:
    """Those compiled as part of ``file``, else those declared in it (a header), else all."""
    wanted = os.path.realpath(file) if file else ""
    compiled = [place for place in places if place.unit == wanted]
    return compiled or [place for place in places if place.file == wanted] or places


class _DebugReader:
    """Collects the variables and function types that an interface asks for."""

    def __init__(self, elf: Any, interface: NativeInterface) -> None:
        self.dwarf: Any = elf.get_dwarf_info(relocate_dwarf_sections=False) if elf.has_dwarf_info() else None
        self.called = {call.function for call in (*interface.init, interface.step)}
        self.symbols = {obj.symbol for obj in interface.objects if obj.kind in ("global", "local")}
        self.scopes = {obj.function for obj in interface.objects if obj.kind == "local"}
        self.variables: dict[tuple[str, str], list[VariablePlace]] = {}
        self.types: dict[int, tuple[tuple[TypeFacts, ...], TypeFacts]] = {}
        pointees = (each for pointer in interface.pointers for each in pointer.pointees if each.function)
        self.pointed = list(dict.fromkeys(pointees))
        self._places: dict[str, list[VariablePlace]] = {each.function: [] for each in self.pointed}

    def read(self) -> None:
        if self.dwarf is None:
            return
        for unit in self.dwarf.iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag == "DW_TAG_variable":
                    self._add(unit, die, "")
                elif die.tag == "DW_TAG_subprogram":
                    name = _text(die, "DW_AT_name") or NAMELESS
                    if name in self.scopes or name == NAMELESS:
                        self._descend(unit, die, name)
                    if name in self._places and "DW_AT_low_pc" in die.attributes:
                        self._places[name].append(self._place(unit, die, die.attributes["DW_AT_low_pc"].value))
                    if name in self.called and "DW_AT_low_pc" in die.attributes:
                        self.types[die.attributes["DW_AT_low_pc"].value] = _signature(die)

    def _descend(self, unit: Any, die: Any, function: str) -> None:
        for child in die.iter_children():
            if child.tag == "DW_TAG_variable":
                self._add(unit, child, function)
            elif child.tag == "DW_TAG_lexical_block":
                self._descend(unit, child, function)

    def _add(self, unit: Any, die: Any, function: str) -> None:
        name = _text(die, "DW_AT_name")
        address = self._address(unit, die) if name in self.symbols else None
        if address is not None:
            self.variables.setdefault((name, function), []).append(self._place(unit, die, address))

    def _place(self, unit: Any, die: Any, address: int) -> VariablePlace:
        line, file = _attribute(die, "DW_AT_decl_line"), self._file(unit, _attribute(die, "DW_AT_decl_file"))
        return VariablePlace(address, _unit_path(unit), file, line.value if line else 0)

    def function(self, pointee: PointedAt) -> int | None:
        """The address of a function that a pointer may point to; None where it is not the only one."""
        places = {place.address for place in _in_file(self._places[pointee.function], pointee.file)}
        return places.pop() if len(places) == 1 else None

    def _address(self, unit: Any, die: Any) -> int | None:
        """The fixed address of a variable; None for a declaration or an automatic variable."""
        location = _attribute(die, "DW_AT_location")
        expression = location.value if location is not None and isinstance(location.value, list) else []
        if len(expression) == 1 + unit["address_size"] and expression[0] == _DW_OP_ADDR:
            return int.from_bytes(bytes(expression[1:]), "little" if unit.structs.little_endian else "big")
        if len(expression) > 1 and expression[0] == _DW_OP_ADDRX and all(byte >= 0x80 for byte in expression[1:-1]):
            index = sum((byte & 0x7F) << (7 * n) for n, byte in enumerate(expression[1:]))
            return int(self.dwarf.get_addr(unit, index))
        return None

    def _file(self, unit: Any, index: Any) -> str:
        """The real path of a file of the unit's line table, '' if unknown."""
        program = self.dwarf.line_program_for_CU(unit) if index is not None else None
        if program is None:
            return ""
        first = 0 if program.header.version >= 5 else 1
        files, folders = program.header["file_entry"], program.header["include_directory"]
        if not 0 <= index.value - first < len(files):
            return ""
        entry = files[index.value - first]
        within = entry.dir_index - first
        folder = os.fsdecode(folders[within]) if 0 <= within < len(folders) else ""
        start = _text(unit.get_top_DIE(), "DW_AT_comp_dir")
        return os.path.realpath(os.path.join(start, folder, os.fsdecode(entry.name)))


def _unit_path(unit: Any) -> str:
    top = unit.get_top_DIE()
    return os.path.realpath(os.path.join(_text(top, "DW_AT_comp_dir"), _text(top, "DW_AT_name")))


def _attribute(die: Any, name: str) -> Any:
    """An attribute of a DIE, or of the one that it completes; None without one."""
    passed = set()
    while name not in die.attributes:
        link = next((n for n in ("DW_AT_specification", "DW_AT_abstract_origin") if n in die.attributes), "")
        if not link:
            return None
        if die.offset in passed:
            raise Malformed(f"entries complete each other at offset {die.offset:#x}")
        passed.add(die.offset)
        die = die.get_DIE_from_attribute(link)
    return die.attributes[name]


def _text(die: Any, name: str) -> str:
    attribute = _attribute(die, name)
    return os.fsdecode(attribute.value) if attribute is not None else ""


def _signature(die: Any) -> tuple[tuple[TypeFacts, ...], TypeFacts]:
    parameters = (child for child in die.iter_children() if child.tag == "DW_TAG_formal_parameter")
    return tuple(_facts(_type_of(parameter)) for parameter in parameters), _facts(_type_of(die))


def _type_of(die: Any) -> Any:
    """The DIE of a DIE's type without qualifiers and names; None for void."""
    passed = set()
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in _QUALIFIERS:
            return die
        if die.offset in passed:
            raise Malformed(f"a type is made of itself at offset {die.offset:#x}")
        passed.add(die.offset)
    return None


def _facts(die: Any) -> TypeFacts:
    if die is None:
        return TypeFacts()
    size, encoding = _attribute(die, "DW_AT_byte_size"), _attribute(die, "DW_AT_encoding")
    target = _facts(_type_of(die)).size if die.tag == "DW_TAG_pointer_type" else 0
    floating = encoding is not None and encoding.value == _DW_ATE_FLOAT
    return TypeFacts(size.value if size is not None else 0, floating, target)
