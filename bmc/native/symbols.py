"""Where things lie in a compiled shared library: ELF symbols and DWARF locations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bmc.native import dwarf, elf
from bmc.native.dwarf import Die, Dwarf, Unit
from bmc.native.elf import Contents, ElfFile, Malformed
from bmc.records import dataclass
from bmc.system.original import MemoryObject, NativeInterface

ANCHOR = "chaincover_anchor"
"""A function of ours, for libraries that export none that is called."""

GUARD_SECTION = ".chaincover_guard"
NAMELESS = "?"
"""Stands for a function without a name: there clang 14 puts the static locals of always_inline functions."""

_PLACES = frozenset({dwarf.VARIABLE, dwarf.SUBPROGRAM})
_VARIABLES, _BLOCKS = frozenset({dwarf.VARIABLE}), frozenset({dwarf.LEXICAL_BLOCK})
_PARAMETERS = frozenset({dwarf.FORMAL_PARAMETER})


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
    """One variable with static storage; ``unit`` is the compiled file, ``file`` and ``line`` declare it."""

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
        return LibraryMap(data["exported"], data["objects"], dict(data["sizes"]), functions, writable)


def _function_of(data: dict[str, Any]) -> FunctionPlace:
    types = data["parameters"]
    parameters = None if types is None else tuple(TypeFacts(**each) for each in types)
    return FunctionPlace(data["address"], parameters, TypeFacts(**data["result"]))


def is_elf(file: Path) -> bool:
    """Does the file start like an ELF file?"""
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def weaken(object_file: Path, name: str) -> None:
    """Make the global symbol ``name`` of an ELF object file weak, so that several files may define it."""
    with object_file.open("r+b") as stream:
        file = ElfFile(stream)
        table = file.find(".symtab")
        for number, symbol in enumerate(file.symbols(".symtab")):
            if table and symbol.name == name and symbol.binding == elf.GLOBAL and symbol.section != elf.UNDEFINED:
                stream.seek(file.symbol_info(table, number))
                stream.write(bytes([(elf.WEAK << 4) | symbol.kind]))
                return


def undefined_symbols(library: Path) -> tuple[list[str], list[str]]:
    """What no source file and no system library defines: (functions that are called, all others)."""
    with library.open("rb") as stream:
        file = ElfFile(stream)
        versions = file.versions()
        called = file.relocated_symbols(".rela.plt") | file.relocated_symbols(".rel.plt")
        needed = file.needed_libraries() if versions is None else []
        missing = []
        for number, symbol in enumerate(file.symbols(".dynsym")):
            if symbol.section != elf.UNDEFINED or symbol.binding != elf.GLOBAL or not symbol.name:
                continue
            if versions is not None and number >= len(versions):
                raise Malformed(f"the dynamic symbol {number} has no version, there are {len(versions)}")
            if not _in_system(needed, symbol.name) if versions is None else versions[number] in elf.NO_VERSIONS:
                missing.append((symbol.name, number in called))
    return [name for name, call in missing if call], [name for name, call in missing if not call]


def _in_system(needed: list[str], name: str) -> bool:
    """Does one of the ``needed`` libraries export ``name``? For C libraries without symbol versions (musl)."""
    import ctypes

    for library in needed:
        try:
            if hasattr(ctypes.CDLL(library), name):
                return True
        except OSError:
            continue
    return False


def read_library(library: Path, interface: NativeInterface) -> LibraryMap:
    """Find the interface's objects and functions in the linked ELF library; Malformed where it cannot be read."""
    with library.open("rb") as stream:
        file = ElfFile(stream)
        table = [symbol for symbol in file.symbols(".symtab") if symbol.section != elf.UNDEFINED]
        exported = {symbol.name: symbol.value for symbol in file.symbols(".dynsym") if symbol.value}
        sizes = {symbol.value: symbol.size for symbol in table if symbol.kind == elf.OBJECT and symbol.size}
        debug = _DebugReader(Dwarf(file), interface)
        debug.read()
    functions: dict[str, list[FunctionPlace]] = {}
    for symbol in table:
        if symbol.kind == elf.FUNCTION and symbol.name in debug.called:
            types = debug.types.get(symbol.value, (None, TypeFacts()))
            functions.setdefault(symbol.name, []).append(FunctionPlace(symbol.value, *types))
    return LibraryMap(exported, _choose(interface, debug), sizes, functions, tuple(_writable(file)))


def _writable(file: ElfFile) -> Iterator[tuple[int, int]]:
    """(address, size) of the sections that hold variables."""
    needed = elf.WRITABLE | elf.LOADED
    for section in file.sections:
        if section.flags & (needed | elf.THREAD_LOCAL) != needed or section.kind not in (elf.PROGRAM_BITS, elf.NO_BITS):
            continue
        if section.name.startswith((".got", ".data.rel.ro", ".tm_clone", ".plt", GUARD_SECTION)) or not section.size:
            continue
        yield section.address, section.size


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

    def __init__(self, debug: Dwarf, interface: NativeInterface) -> None:
        self.debug = debug
        self.called = {call.function for call in (*interface.init, interface.step)}
        self.symbols = {obj.symbol for obj in interface.objects if obj.kind in ("global", "local")}
        self.scopes = {obj.function for obj in interface.objects if obj.kind == "local"}
        self.variables: dict[tuple[str, str], list[VariablePlace]] = {}
        self.types: dict[int, tuple[tuple[TypeFacts, ...], TypeFacts]] = {}

    def read(self) -> None:
        for unit in self.debug.units():
            top, paths = unit.top(), _Paths(self.debug, unit)
            for die in top.children(_PLACES) if top is not None else ():
                if die.tag == dwarf.VARIABLE:
                    self._add(die, "", paths)
                    continue
                name = _name(die) or NAMELESS
                if name in self.scopes or name == NAMELESS:
                    for variable in die.children(_VARIABLES, within=_BLOCKS):
                        self._add(variable, name, paths)
                if name in self.called:
                    address = die.number(dwarf.LOW_PC)
                    if address is not None:
                        self.types[address] = _signature(die)

    def _add(self, die: Die, function: str, paths: _Paths) -> None:
        name = _name(die)
        address = _address(die) if name in self.symbols else None
        if address is not None:
            line, file = _inherited(die, dwarf.DECLARED_LINE), _inherited(die, dwarf.DECLARED_FILE)
            place = VariablePlace(address, paths.unit, paths.file(file), line or 0)
            self.variables.setdefault((name, function), []).append(place)


class _Paths:
    """The real paths of a unit and of the files of its line table, each found once."""

    def __init__(self, debug: Dwarf, unit: Unit) -> None:
        self._debug, self._unit = debug, unit
        self._path: str | None = None
        self._names: dict[int, tuple[bytes, bytes]] | None = None
        self._files: dict[int | None, str] = {None: ""}

    @property
    def unit(self) -> str:
        if self._path is None:
            top = self._unit.top()
            self._path = self._real(_name(top) if top is not None else "")
        return self._path

    def file(self, number: int | None) -> str:
        """The path of a file by its number, '' if unknown."""
        if number not in self._files:
            if self._names is None:
                self._names = self._debug.files(self._unit)
            folder, name = self._names.get(number or 0, (b"", b""))
            self._files[number] = self._real(os.fsdecode(folder), os.fsdecode(name)) if name else ""
        return self._files[number]

    def _real(self, *parts: str) -> str:
        top = self._unit.top()
        start = os.fsdecode(top.text(dwarf.COMPILATION_FOLDER)) if top is not None else ""
        return os.path.realpath(os.path.join(start, *parts))


def _address(die: Die) -> int | None:
    """The fixed address of a variable; None for a declaration or an automatic variable."""
    bearer = die.bearer(dwarf.LOCATION)
    expression = bearer.block(dwarf.LOCATION) if bearer is not None else b""
    unit = die.unit
    if len(expression) == 1 + unit.address_size and expression[0] == dwarf.OP_ADDRESS:
        return int.from_bytes(expression[1:], unit.section.order)
    if len(expression) > 1 and expression[0] == dwarf.OP_ADDRESS_INDEX:
        index, end = Contents("an expression", expression, unit.section.order).variable(1)
        return unit.address(index) if end == len(expression) else None
    return None


def _name(die: Die) -> str:
    bearer = die.bearer(dwarf.NAME)
    return os.fsdecode(bearer.text(dwarf.NAME)) if bearer is not None else ""


def _inherited(die: Die, attribute: int) -> int | None:
    """A number that an entry has, or one that it completes."""
    bearer = die.bearer(attribute)
    return bearer.number(attribute) if bearer is not None else None


def _signature(die: Die) -> tuple[tuple[TypeFacts, ...], TypeFacts]:
    parameters = tuple(_facts(_type_of(parameter)) for parameter in die.children(_PARAMETERS))
    return parameters, _facts(_type_of(die))


def _type_of(die: Die) -> Die | None:
    """The entry of an entry's type without qualifiers and names; None for void."""
    passed = set()
    while die.has(dwarf.TYPE):
        die = die.target(dwarf.TYPE)
        if die.tag not in dwarf.QUALIFIERS:
            return die
        if die.start in passed:
            raise die.unit.section.malformed("has a type that is made of itself", die.start)
        passed.add(die.start)
    return None


def _facts(die: Die | None) -> TypeFacts:
    if die is None:
        return TypeFacts()
    target = _type_of(die) if die.tag == dwarf.POINTER_TYPE else None
    floating = _inherited(die, dwarf.ENCODING) == dwarf.FLOAT
    return TypeFacts(_size(die), floating, _size(target) if target is not None else 0)


def _size(die: Die) -> int:
    return _inherited(die, dwarf.BYTE_SIZE) or 0
