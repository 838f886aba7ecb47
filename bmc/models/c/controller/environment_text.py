"""The environment of a program as C, for the compiled original: the functions and objects that no source defines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pysmt.fnode import FNode

from bmc.errors import InputRefused
from bmc.models.c.controller.externals import RESULT, External, Slot
from bmc.models.c.execute.memory import Content, MemObject
from bmc.models.c.source.program import Program
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    DataModel,
    FloatType,
    IntType,
    Member,
    Path,
    PointerType,
    StructType,
    align_of,
    bit_offset_of,
    size_of,
)
from bmc.records import dataclass

_NAMES = ("signed char", "short", "int", "long", "long long")
_HEAD = "/* What the program uses and no source file defines: one value per step of each input. */\n"

_PAGE = 4096
_PLACE = f"""\
extern void *mmap(void *, unsigned long, int, int, int, long);
extern long write(int, const void *, unsigned long);
extern void _exit(int);
static void chaincover_place(unsigned long page) {{
  static const char text[] = "its registers cannot have memory at their addresses\\n";
  if (mmap((void *)page, {_PAGE}, 3, 0x100022, -1, 0) == (void *)page) return;
  write(2, text, sizeof text - 1);
  _exit(1);
}}
"""
"""Readable and writable memory of its own at a place where nothing lies yet (mmap(2), Linux)."""


@dataclass(frozen=True)
class Definition:
    """An object and how its cells start."""

    object: MemObject
    start: Mapping[Path, Content]


def environment_text(
    functions: Sequence[External],
    objects: Sequence[Definition],
    program: Program,
    reached: Mapping[MemObject, str] | None = None,
) -> str:
    """C source of these functions and objects; '' if there are none. The objects ``reached`` are at file scope, each
    with a function of this name that returns its address."""
    if not functions and not objects:
        return ""
    definitions = {each.object: each for each in objects}
    return _Writer(program.model, definitions, program.registers, reached or {}).text(functions)


@dataclass
class _Writer:
    """Writes the environment as C text.

    The text needs no header of the program: objects are bytes, types of arguments and results are written out in basic
    types. Each function keeps its values in static locals (``T get_x(void) { static T get_x; ... }``), shared ones at
    file scope, so that they are found like any variable of the program.
    """

    model: DataModel
    objects: Mapping[MemObject, Definition]
    registers: Mapping[MemObject, int]
    reached: Mapping[MemObject, str]
    structs: dict[int, str] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)

    def text(self, functions: Sequence[External]) -> str:
        slots = {slot.object for f in functions for slot in f.slots if slot.object.function}
        inside = slots - self.reached.keys()
        outside = [self._object(obj) for obj in self.objects if obj not in inside and obj not in self.registers]
        bodies = [self._function(function) for function in functions]
        ways = [
            f"void *{name}(void);\nvoid *{name}(void) {{ return {self._symbol(obj)}; }}\n"
            for obj, name in self.reached.items()
        ]
        return "".join([_HEAD, *self.types, *outside, *bodies, *ways, self._placed_registers()])

    def _symbol(self, obj: MemObject) -> str:
        """The identifier of an object."""
        return f"{self.reached[obj]}_bytes" if obj in self.reached else obj.symbol

    def _placed_registers(self) -> str:
        """Memory for the registers, which is there before anything of the program runs; '' where there are none."""
        data = {self.registers[obj]: self._bytes(obj) for obj in self.objects if obj in self.registers}
        pages = {page for at, own in data.items() for page in range(at - at % _PAGE, at + len(own), _PAGE)}
        values = ((at + number, byte) for at, own in data.items() for number, byte in enumerate(own) if byte)
        lines = [f"  chaincover_place({page:#x}ul);\n" for page in sorted(pages)]
        lines += [f"  *(unsigned char *){at:#x}ul = {byte};\n" for at, byte in values]
        start = "__attribute__((constructor)) static void chaincover_registers(void)"
        return f"{_PLACE}{start} {{\n{''.join(lines)}}}\n" if data else ""

    def _object(self, obj: MemObject) -> str:
        """A definition as bytes; only what the program itself names is visible to it."""
        data = self._bytes(obj)
        static = "" if obj.kind in ("global", "constant") and not obj.function else "static "
        values = ", ".join(map(str, data)) if any(data) else "0"
        return f"{static}unsigned char {self._symbol(obj)}[{len(data)}] __attribute__((aligned(16))) = {{{values}}};\n"

    def _bytes(self, obj: MemObject) -> bytes:
        """What an object holds at the start."""
        number = 0
        for path, content in self.objects[obj].start.items():
            if isinstance(content.term, FNode):
                number |= content.term.constant_value() << bit_offset_of(obj.ctype, path, self.model)
        return number.to_bytes(max(size_of(obj.ctype, self.model), 1), "little")

    def _function(self, external: External) -> str:
        ctype = external.function.ctype
        parameters = [
            f"{self._type(parameter)} chaincover_{number}" for number, (_, parameter) in enumerate(ctype.parameters, 1)
        ]
        parameters += ["..."] if ctype.variadic else []
        result = self._type(ctype.result)
        lines = [
            self._object(obj)
            for obj in dict.fromkeys(s.object for s in external.slots)
            if obj.function and obj not in self.reached
        ]
        lines += [self._move(slot, ctype.parameters[slot.place - 1][1]) for slot in external.slots if slot.place]
        if external.result is not None:
            lines += self._return(external.result, result)
        elif result != "void":
            lines.append(f"{result} chaincover_0; __builtin_memset(&chaincover_0, 0, sizeof chaincover_0); "
                         "return chaincover_0;\n")  # fmt: skip
        body = "".join(f"  {line}" for line in lines)
        return f"{result} {external.function.name}({', '.join(parameters) or 'void'}) {{\n{body}}}\n"

    def _move(self, slot: Slot, parameter: CType) -> str:
        here, size = self._symbol(slot.object), size_of(slot.object.ctype, self.model)
        there = f"chaincover_{slot.place}" if isinstance(parameter, PointerType) else f"&chaincover_{slot.place}"
        to, source = (there, here) if slot.way == "gives" else (here, there)
        return f"__builtin_memcpy({to}, {source}, {size});\n"

    def _return(self, slot: Slot, result: str) -> list[str]:
        assert slot.place == RESULT
        if slot.way == "points":
            return [f"return {self._symbol(slot.object)};\n"]
        return [
            f"{result} chaincover_0;\n",
            f"__builtin_memcpy(&chaincover_0, {self._symbol(slot.object)}, sizeof chaincover_0);\n",
            "return chaincover_0;\n",
        ]

    def _type(self, ctype: CType) -> str:
        """A type that is passed like ``ctype``, in basic types."""
        if isinstance(ctype, PointerType):
            return "void *"
        if isinstance(ctype, FloatType):
            return {32: "float", 64: "double"}.get(ctype.bits, "long double")
        if isinstance(ctype, IntType):
            return self._integer(ctype)
        return self._struct(ctype) if isinstance(ctype, StructType) else "void"

    def _integer(self, ctype: IntType) -> str:
        if ctype.is_bool:
            return "_Bool"
        name = next(name for name in _NAMES if self.model.basic[name].bits == ctype.bits)
        return name if ctype.signed else f"unsigned {name.removeprefix('signed ')}"

    def _struct(self, ctype: StructType) -> str:
        """A struct or union of the same members, defined before its first use."""
        if id(ctype) not in self.structs:
            members = "".join(f" {self._member(f'm{number}', each)};" for number, each in enumerate(ctype.members()))
            kind = "union" if ctype.is_union else "struct"
            name = self.structs[id(ctype)] = f"{kind} chaincover_struct_{len(self.structs)}"
            rules = ctype.packing
            pack, unpack = (f"#pragma pack(push, {rules.pack})\n", "#pragma pack(pop)\n") if rules.pack else ("", "")
            marks = [*(["packed"] if rules.packed else []), *([f"aligned({rules.align})"] if rules.align else [])]
            after = f" __attribute__(({', '.join(marks)}))" if marks else ""
            self.types.append(f"{pack}{name} {{{members} }}{after};\n{unpack}")
        return self.structs[id(ctype)]

    def _member(self, name: str, member: Member) -> str:
        inner, lengths = member.type, ""
        while isinstance(inner, ArrayType):
            lengths += f"[{inner.length}]"
            inner = inner.element
        shown = name if member.has_cells else ""
        if member.unit is not None:
            inner = member.unit
            width = 0 if member.type is member.unit else _bits(member.type)
            shown += f" : {width}"
        align = max(member.align, member.type_align)
        marks = [*(["packed"] if member.packed else []), *([f"aligned({align})"] if align else [])]
        after = f" __attribute__(({', '.join(marks)}))" if marks else ""
        if 0 < member.type_align < align_of(member.unit or member.type, self.model):
            raise InputRefused(f"the member '{member.name}' of a struct of the environment has a reduced alignment")
        return f"{self._type(inner)} {shown}{lengths}{after}"


def _bits(ctype: CType) -> int:
    assert isinstance(ctype, IntType | FloatType)
    return ctype.bits
