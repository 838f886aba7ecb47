"""From a program's interface and its compiled library to what the worker needs: addresses, typed calls, records."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bmc.errors import InputRefused
from bmc.floats.format import FORMATS, canonical
from bmc.native.job import ActualArgument, ActualCall, ActualPointer, Image, Layout, Patch, Storage
from bmc.native.symbols import FunctionPlace, LibraryMap, TypeFacts, pointee_key
from bmc.records import dataclass
from bmc.system.original import Argument, Call, Cell, MemoryObject, NativeInterface, Pointer
from bmc.system.transition import Valuation

CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""``struct`` codes of unsigned patterns by size in bytes."""
LARGE = 1 << 20
"""Bytes of an object from which on it is only kept in mind where it is used."""
SAME_SOURCES = "the compiler must see the sources, macros and header folders that the project names"


@dataclass(frozen=True, slots=True)
class Plan:
    """``index`` numbers the objects that were found and that ``image`` places."""

    index: Mapping[str, int]
    image: Image

    @staticmethod
    def of(interface: NativeInterface, library: Path, known: LibraryMap | None) -> Plan:
        """``known``: what lies where in ``library``, None where it is not ELF.

        InputRefused where a function is missing, or sizes in the library are not those of the interface.
        """
        exported = set() if known else _exported(library)
        placed = {obj.name: _storage(obj, interface, known, exported) for obj in interface.objects}
        pointers = [each for each in interface.pointers if known and _is_known(each, placed, known)]
        for each in interface.pointers:
            if each not in pointers:
                placed[each.number] = None
        storage = {name: place for name, place in placed.items() if place is not None}
        index = {name: number for number, name in enumerate(storage)}
        calls = _Calls({obj.name: obj for obj in interface.objects}, index, known)
        image = Image(
            library=str(library),
            objects=tuple(storage.values()),
            anchor=known.anchor if known else None,
            writable=tuple(_changing(known)) if known else (),
            init=tuple(calls.prepare(call) for call in interface.init),
            step=calls.prepare(interface.step),
            links=tuple((index[link.object], link.offset, index[link.target]) for link in interface.links),
            pointers=tuple(_actual(each, index, known) for each in pointers if known),
        )
        return Plan(index, image)


def _is_known(pointer: Pointer, placed: Mapping[str, Storage | None], known: LibraryMap) -> bool:
    """Whether it can be told where a pointer, and all that it may point to, lies in the library."""
    functions = [pointee_key(each) for each in pointer.pointees if each.function]
    objects = [pointer.object, *(each.object for each in pointer.pointees if each.object)]
    return all(name in known.pointed for name in functions) and all(placed[name] is not None for name in objects)


def _actual(pointer: Pointer, index: Mapping[str, int], known: LibraryMap) -> ActualPointer:
    pointees = tuple(
        (None, known.pointed[pointee_key(each)])
        if each.function
        else (index[each.object], each.offset)
        if each.object
        else None
        for each in pointer.pointees
    )
    return ActualPointer(index[pointer.object], pointer.offset, index[pointer.number], pointees)


def _changing(known: LibraryMap) -> Iterator[tuple[int, int]]:
    """What is writable in the library, but for large objects that the model does without: a step uses none of them."""
    used = set(known.objects.values())
    unused = sorted((a, size) for a, size in known.sizes.items() if size >= LARGE and a not in used)
    for start, size in known.writable:
        end = start + size
        for address, length in unused:
            if start <= address < end:
                yield start, address - start
                start = address + length
        yield start, end - start


def _storage(
    obj: MemoryObject, interface: NativeInterface, known: LibraryMap | None, exported: set[str]
) -> Storage | None:
    """Where an object lies; None where that cannot be told."""
    if obj.kind == "register":
        return Storage(obj.size, obj.address, fixed=True)
    if obj.kind not in ("global", "local"):
        return Storage(obj.size)
    if known is None:
        alone = sum(other.symbol == obj.symbol for other in interface.objects) == 1
        found = obj.kind == "global" and alone and obj.symbol in exported
        return Storage(obj.size, symbol=obj.symbol) if found else None
    address = known.objects.get(obj.name)
    if address is None:
        return None
    size = known.sizes.get(address, obj.size)
    if size != obj.size:
        raise _sizes_differ(f"'{obj.name}'", size, obj.size)
    return Storage(obj.size, address)


def _exported(library: Path) -> set[str]:
    """Exported names of a library that is not ELF (macOS), by the system's nm."""
    try:
        done = subprocess.run(["nm", "-gU", str(library)], capture_output=True, text=True, check=False)
    except OSError:
        return set()
    return {line.split()[-1].removeprefix("_") for line in done.stdout.splitlines() if line.split()}


@dataclass(frozen=True, slots=True)
class _Calls:
    """Types the calls of an interface."""

    objects: Mapping[str, MemoryObject]
    index: Mapping[str, int]
    known: LibraryMap | None

    def prepare(self, call: Call) -> ActualCall:
        place = self._function(call.function)
        facts = place.parameters if place and place.parameters is not None else (TypeFacts(),) * len(call.arguments)
        if len(facts) != len(call.arguments):
            raise InputRefused(
                f"'{call.function}' has {len(facts)} parameters in the compiled original, "
                f"{len(call.arguments)} are given"
            )
        what = f"'{call.function}'"
        arguments = tuple(
            self._argument(argument, fact, f"argument {number} of {what}")
            for number, (argument, fact) in enumerate(zip(call.arguments, facts, strict=True), 1)
        )
        address = place.address if place else None
        if not call.returns:
            return ActualCall(call.function, address, arguments)
        size = self.objects[call.returns].size
        result = place.result if place else TypeFacts()
        code = _code(size, False, call.floating, result, f"the result of {what}")
        return ActualCall(call.function, address, arguments, self.index[call.returns], code)

    def _function(self, name: str) -> FunctionPlace | None:
        """The function called ``name``, the exported one before static ones; None where there are no addresses."""
        if self.known is None:
            return None
        places = self.known.functions.get(name, [])
        exported = [place for place in places if place.address == self.known.exported.get(name)] or places
        if not exported:
            raise InputRefused(f"the function '{name}' is in none of the source files", hint="check its name")
        if len(exported) > 1:
            raise InputRefused(f"several source files define a static function '{name}'", hint="list only one of them")
        return exported[0]

    def _argument(self, argument: Argument, fact: TypeFacts, what: str) -> ActualArgument:
        if argument.kind == "constant":
            code = _code(argument.size, argument.signed, argument.floating, fact, what)
            return ActualArgument("constant", code, constant=_number(argument, code))
        if argument.object not in self.index:
            raise InputRefused(f"{what} needs '{argument.object}', which is not in the compiled original's symbols")
        index = self.index[argument.object]
        if argument.kind == "value":
            code = _code(argument.size, argument.signed, argument.floating, fact, what)
            return ActualArgument("value", code, index, argument.offset)
        room = self.objects[argument.object].size - argument.offset
        if fact.target > room:
            raise _sizes_differ(f"what {what} points to", fact.target, room)
        return ActualArgument("address", "", index, argument.offset)


def _code(size: int, signed: bool, floating: bool, fact: TypeFacts, what: str) -> str:
    """The type code of a scalar of ``size`` bytes; what the compiled function says of it comes before ``floating``."""
    if fact.size not in (0, size):
        raise _sizes_differ(what, fact.size, size)
    if floating and fact.size and not fact.floating:
        raise InputRefused(f"{what} is floating in the model, but not in the compiled original", hint=SAME_SOURCES)
    floating = floating or fact.floating
    if size not in CODES or (floating and size < 4):
        raise InputRefused(f"{what}: a value of {size} bytes cannot be passed", hint="pass it by its address")
    if floating:
        return "f" if size == 4 else "d"
    return CODES[size].lower() if signed else CODES[size]


def _sizes_differ(what: str, original: int, model: int) -> InputRefused:
    return InputRefused(
        f"{what} has {original} bytes in the compiled original, {model} in the model",
        hint="a replay needs this machine's word sizes to be those of the project: check the project's data model",
    )


def _number(argument: Argument, code: str) -> int | float:
    """A constant as a Python number; a floating one is given by its bit pattern."""
    raw = (argument.number % (1 << (8 * argument.size))).to_bytes(argument.size, "little")
    value: int | float = struct.unpack("<" + code, raw)[0]
    return value


class Records:
    """How a set of cells is laid out in a record: sorted by place, adjacent ones in one piece, bits by themselves."""

    def __init__(self, plan: Plan, cells: Iterable[Cell]) -> None:
        placed = sorted(cells, key=lambda cell: (plan.index[cell.object], cell.offset, cell.first))
        self.names = [cell.variable for cell in placed]
        self.sizes = [cell.size for cell in placed]
        self.odd = [n for n, size in enumerate(self.sizes) if size not in CODES]
        self.bits = [(n, cell.first, cell.width) for n, cell in enumerate(placed) if cell.width]
        self.floating = [(cell.variable, FORMATS[8 * cell.size]) for cell in placed if cell.floating]
        self.format = struct.Struct("<" + "".join(CODES.get(size, f"{size}s") for size in self.sizes))
        pieces: list[tuple[int, int, int, int]] = []
        for cell in placed:
            index, offset = plan.index[cell.object], cell.offset
            last = pieces[-1] if pieces and not cell.width else (-1, 0, 0, 0)
            if last[0] == index and last[1] + last[2] == offset and not last[3]:
                pieces[-1] = (index, last[1], last[2] + cell.size, 0)
            else:
                pieces.append((index, offset, cell.size, ((1 << cell.width) - 1) << cell.first))
        self.layout: Layout = tuple(pieces)

    def encode(self, values: Valuation) -> bytes:
        """The record of these variables' values. ValueError where a value is no raw pattern of its cell's size."""
        numbers = [values[name] for name in self.names]
        for n, first, width in self.bits:
            if numbers[n] >> width:
                raise ValueError(f"no raw pattern of {width} bits of '{self.names[n]}': {numbers[n]}")
            numbers[n] <<= first
        row: list[int | bytes] = [*numbers]
        for n in self.odd:
            row[n] = numbers[n].to_bytes(self.sizes[n], "little")
        try:
            return self.format.pack(*row)
        except struct.error as error:
            raise ValueError(f"not the raw patterns of {self.names}: {row} ({error})") from None

    def decode(self, record: bytes) -> dict[str, int]:
        """The values in a record; every NaN of a floating cell as the canonical one."""
        row = list(self.format.unpack(record))
        for n in self.odd:
            row[n] = int.from_bytes(row[n], "little")
        for n, first, width in self.bits:
            row[n] = row[n] >> first & (1 << width) - 1
        values = dict(zip(self.names, row, strict=True))
        for name, form in self.floating:
            values[name] = canonical(values[name], form)
        return values


class Encoder:
    """Turns valuations into patches; one layout for each set of variables that occurs."""

    def __init__(self, plan: Plan, cells: Mapping[str, Cell]) -> None:
        self.plan = plan
        self.cells = cells
        self.layouts: list[Records] = []
        self.known: dict[tuple[str, ...], int] = {}

    def patches(self, values: Valuation, every: bool = False) -> tuple[Patch, ...]:
        """What to write for ``values``; with ``every``, InputRefused for a variable without a place."""
        names = tuple(values)
        if not names:
            return ()
        if names not in self.known:
            lost = [name for name in names if name not in self.cells]
            if lost and every:
                raise InputRefused(
                    f"the input '{lost[0]}' has no place in the memory of the compiled original",
                    hint="only inputs in arguments, structures and globals can be given to it; run the model instead",
                )
            self.known[names] = len(self.layouts)
            self.layouts.append(Records(self.plan, (self.cells[name] for name in names if name in self.cells)))
        number = self.known[names]
        return ((number, self.layouts[number].encode(values)),)
