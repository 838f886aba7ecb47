"""The environment as C text: definitions of the functions and objects that a program uses and no source defines.

The text needs no header of the program: objects are bytes, types of arguments and results are written out in basic
types. Each function keeps its values in static locals (``T get_x(void) { static T get_x; ... }``), shared ones at file
scope, so that they are found like any variable of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pysmt.fnode import FNode

from bmc.c.controller.externals import RESULT, External, Slot
from bmc.c.execute.memory import Content, MemObject
from bmc.c.source.layout import offset_of, size_of
from bmc.c.source.types import ArrayType, CType, DataModel, FloatType, IntType, Path, PointerType, StructType, type_at

_NAMES = ("signed char", "short", "int", "long", "long long")
_HEAD = "/* What the program uses and no source file defines: one value per step of each input. */\n"


@dataclass(frozen=True)
class Definition:
    """An object and how its cells start."""

    object: MemObject
    start: Mapping[Path, Content]


def environment_text(functions: Sequence[External], objects: Sequence[Definition], model: DataModel) -> str:
    """C source of these functions and objects; '' if there are none."""
    if not functions and not objects:
        return ""
    return _Writer(model, {each.object: each for each in objects}).text(functions)


@dataclass
class _Writer:
    model: DataModel
    objects: Mapping[MemObject, Definition]
    structs: dict[int, str] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)

    def text(self, functions: Sequence[External]) -> str:
        inside = {slot.object for f in functions for slot in f.slots if slot.object.function}
        outside = [self._object(obj) for obj in self.objects if obj not in inside]
        bodies = [self._function(function) for function in functions]
        return "".join([_HEAD, *self.types, *outside, *bodies])

    def _object(self, obj: MemObject) -> str:
        """A definition as bytes; only what the program itself names is visible to it."""
        size = max(size_of(obj.ctype, self.model), 1)
        data = bytearray(size)
        for path, content in self.objects[obj].start.items():
            if isinstance(content.term, FNode):
                offset, bits = offset_of(obj.ctype, path, self.model), _bits(type_at(obj.ctype, path))
                data[offset : offset + bits // 8] = content.term.constant_value().to_bytes(bits // 8, "little")
        static = "" if obj.kind in ("global", "constant") and not obj.function else "static "
        values = ", ".join(map(str, data)) if any(data) else "0"
        return f"{static}unsigned char {obj.symbol}[{size}] __attribute__((aligned(16))) = {{{values}}};\n"

    def _function(self, external: External) -> str:
        ctype = external.function.ctype
        parameters = [
            f"{self._type(parameter)} chaincover_{number}" for number, (_, parameter) in enumerate(ctype.parameters, 1)
        ]
        result = self._type(ctype.result)
        lines = [self._object(obj) for obj in dict.fromkeys(s.object for s in external.slots) if obj.function]
        lines += [self._move(slot, ctype.parameters[slot.place - 1][1]) for slot in external.slots if slot.place]
        if external.result is not None:
            lines += self._return(external.result, result)
        elif result != "void":
            lines.append(f"{result} chaincover_0; __builtin_memset(&chaincover_0, 0, sizeof chaincover_0); "
                         "return chaincover_0;\n")  # fmt: skip
        body = "".join(f"  {line}" for line in lines)
        return f"{result} {external.function.name}({', '.join(parameters) or 'void'}) {{\n{body}}}\n"

    def _move(self, slot: Slot, parameter: CType) -> str:
        here, size = slot.object.symbol, size_of(slot.object.ctype, self.model)
        there = f"chaincover_{slot.place}" if isinstance(parameter, PointerType) else f"&chaincover_{slot.place}"
        to, source = (there, here) if slot.way == "gives" else (here, there)
        return f"__builtin_memcpy({to}, {source}, {size});\n"

    @staticmethod
    def _return(slot: Slot, result: str) -> list[str]:
        assert slot.place == RESULT
        if slot.way == "points":
            return [f"return {slot.object.symbol};\n"]
        return [
            f"{result} chaincover_0;\n",
            f"__builtin_memcpy(&chaincover_0, {slot.object.symbol}, sizeof chaincover_0);\n",
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
        """A struct of the same members, defined before its first use."""
        if id(ctype) not in self.structs:
            members = []
            for number, member in enumerate(ctype.members()):
                inner: CType = member.type
                lengths = ""
                while isinstance(inner, ArrayType):
                    lengths += f"[{inner.length}]"
                    inner = inner.element
                members.append(f"{self._type(inner)} m{number}{lengths};")
            name = self.structs[id(ctype)] = f"struct chaincover_struct_{len(self.structs)}"
            pack, unpack = (f"#pragma pack(push, {ctype.pack})\n", "#pragma pack(pop)\n") if ctype.pack else ("", "")
            self.types.append(f"{pack}{name} {{ {' '.join(members)} }};\n{unpack}")
        return self.structs[id(ctype)]


def _bits(ctype: CType) -> int:
    assert isinstance(ctype, IntType | FloatType)
    return ctype.bits
