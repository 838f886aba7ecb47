"""C text that calls a program: its objects, its calls, and expressions for its variables, for harnesses in C."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from pathlib import Path as Files
from typing import TYPE_CHECKING

from bmc.errors import InputRefused
from bmc.models.c.controller.environment import Environment
from bmc.models.c.execute.memory import MemObject
from bmc.models.c.source.program import Typedef, Unit
from bmc.models.c.source.types import (
    UNNAMED,
    ArrayType,
    CType,
    DataModel,
    FloatType,
    IntType,
    Path,
    PointerType,
    StructType,
    bit_offset_of,
    bits_of_part,
    show_type,
    type_at,
)
from bmc.system.original import Argument, Call, CallingText

if TYPE_CHECKING:
    from bmc.models.c.controller.model import CModel

NAMES = ("signed char", "short", "int", "long", "long long")
PREFIX = "chaincover_object_"


def calling_text(model: CModel) -> CallingText:
    """How C text calls the program. InputRefused, with the name and the place, for what it cannot name."""
    return _Writer(model).text()


class _Writer:
    """Writes the text for one program."""

    def __init__(self, model: CModel) -> None:
        self._model, self._data = model, model.program.model
        step = model.program.function(model.memory.step_function)
        assert step is not None
        self._units = model.program.units
        self._step: Unit = step.unit
        self._objects = {variable.key[0].name: variable.key[0] for variable in model.variables}
        for obj in model.memory.parameters.values():
            self._objects.setdefault(obj.name, obj)
        self._names: dict[str, str] = {}
        environment = model.executor.environment
        assert isinstance(environment, Environment)
        self._outside = environment
        inside = [obj for obj in environment.objects if obj.name in self._objects]
        self._reached = {obj: f"{PREFIX}{number}" for number, obj in enumerate(inside)}

    def text(self) -> CallingText:
        """All of it."""
        native = self._model.native
        places: dict[str, tuple[int, str]] = {}
        unreachable: dict[str, str] = {}
        for variable in self._model.variables:
            why, place = self._place(variable.key[0], variable.key[1])
            if variable.type.is_pointer:
                why = "it is a pointer"
            if why:
                unreachable[variable.name] = why
            else:
                places[variable.name] = place
        own = [obj for obj in self._owned() if obj.kind in ("pointee", "argument", "return")]
        return CallingText(
            self._units.index(self._step),
            tuple(f"static {self._declared(obj)};" for obj in own),
            tuple(self._links()),
            tuple(f"{self._call(call)};" for call in native.init),
            self._call(native.step) + ";",
            places,
            unreachable,
            _sizes(self._data),
            self._data.choices.char_signed,
            self._environment(),
            tuple(f"void *{name}(void);" for name in self._reached.values()),
            tuple((name, Files(place).read_text(encoding="utf-8")) for name, place in native.compilation.stand_ins),
        )

    def _environment(self) -> str:
        """What no source defines."""
        return self._outside.text(self._outside.start(self._step), self._reached)

    def _owned(self) -> list[MemObject]:
        """The objects of the interface, those behind parameters included that hold no variable."""
        base = {obj.name: obj for obj, _ in self._model.memory.base}
        for _, content in self._model.memory.base.items():
            if isinstance(content.term, tuple):
                base.update({t.object.name: t.object for t in content.term if t.object and t.object.kind == "pointee"})
        known = {obj.name: obj for obj in (*self._objects.values(), *base.values()) if obj.kind != "constant"}
        return [known[each.name] for each in self._model.native.objects if each.name in known]

    def _links(self) -> list[str]:
        """Pointers within the caller's objects to others of them."""
        owned = {obj.name: obj for obj in self._owned()}
        wanted = {(link.object, link.target) for link in self._model.native.links}
        found = []
        for (obj, path), content in self._model.memory.base.items():
            if isinstance(content.term, tuple) and len(content.term) == 1 and content.term[0].object is not None:
                target = content.term[0].object
                if (obj.name, target.name) in wanted and obj.name in owned:
                    found.append(f"{self._name(obj)}{_tail(path)} = &{self._name(target)};")
        if len(found) < len(wanted):
            missing = sorted(wanted)[0][1]
            raise InputRefused(f"a harness in C cannot make what '{missing}' is", self._model.config.where)
        return found

    def _name(self, obj: MemObject) -> str:
        """The identifier of an object that the caller owns."""
        if obj.name not in self._names:
            plain = PREFIX + re.sub(r"\W+", "_", obj.name, flags=re.ASCII).strip("_")
            name = plain if plain not in self._names.values() else f"{plain}_{len(self._names)}"
            self._names[obj.name] = name
        return self._names[obj.name]

    def _place(self, obj: MemObject, path: Path) -> tuple[str, tuple[int, str]]:
        """Why a variable cannot be reached, '' if it can; and where its expression is, and what it is."""
        nowhere = (0, "")
        if any(bits_of_part(part) is not None for part in path):
            return "only some bits of an object are meant", nowhere
        if obj in self._model.program.registers:
            return f"it is a register at {self._model.program.registers[obj]:#x}", nowhere
        if obj.kind in ("pointee", "argument", "return"):
            return "", (self._units.index(self._step), self._name(obj) + _tail(path))
        if obj in self._reached:
            expression = self._read_from(obj, path)
            why = "" if expression else "it is a bit-field of what no source file defines"
            return why, (self._units.index(self._step), expression) if expression else nowhere
        if obj.kind != "global" or obj.function:
            where = f"the function '{obj.function}'" if obj.function else "a function"
            return f"it lives within {where}", nowhere
        sighted = [unit for unit in (self._step, *self._units) if unit.scope.names.get(obj.symbol) is obj]
        if not sighted:
            return "no source file defines it", nowhere
        return "", (self._units.index(sighted[0]), obj.symbol + _tail(path))

    def _read_from(self, obj: MemObject, path: Path) -> str:
        """The part ``path`` of an object that a function gives the address of; '' for a bit-field."""
        ctype, offset = type_at(obj.ctype, path), bit_offset_of(obj.ctype, path, self._data)
        if offset % 8 or not isinstance(ctype, IntType | FloatType) or ctype.bits % 8:
            return ""
        name = _integer(ctype, self._data) if isinstance(ctype, IntType) else ctype.name
        start = f"(char *){self._reached[obj]}() + {offset // 8}" if offset else f"{self._reached[obj]}()"
        return f"*({name} *)({start})"

    def _declared(self, obj: MemObject) -> str:
        """The declaration of an object."""
        ctype, name = obj.ctype, self._name(obj)
        while isinstance(ctype, ArrayType | PointerType):
            if isinstance(ctype, PointerType):
                name, ctype = f"*{name}", ctype.target
            else:
                name, ctype = f"{f'({name})' if name.startswith('*') else name}[{ctype.length}]", ctype.element
        return f"{self._type(ctype, obj)} {name}"

    def _type(self, ctype: CType, obj: MemObject) -> str:
        if isinstance(ctype, IntType):
            return _integer(ctype, self._data)
        if isinstance(ctype, FloatType):
            return ctype.name
        if isinstance(ctype, StructType):
            scope = self._step.scope
            if isinstance(scope.names.get(ctype.tag), Typedef):
                return ctype.tag
            if ctype.tag in scope.tags:
                return show_type(ctype)
        text = f"a harness in C cannot make an object for '{obj.name}': the file of the step has no name for its type"
        hint = "give the type a name, in a header that this file includes"
        raise InputRefused(text, obj.declared or self._model.config.where, hint)

    def _call(self, call: Call) -> str:
        if self._step.scope.names.get(call.function) is None:
            text = f"the file of the step does not declare '{call.function}', which a harness in C calls there"
            raise InputRefused(text, self._model.config.where, "declare it in a header that this file includes")
        given = ", ".join(self._argument(argument) for argument in call.arguments)
        result = f"{self._name(self._objects[call.returns])} = " if call.returns else ""
        return f"{result}{call.function}({given})"

    def _argument(self, argument: Argument) -> str:
        if argument.kind == "constant":
            return _constant(argument)
        obj = next((each for each in self._owned() if each.name == argument.object), None)
        native = next((each for each in self._model.native.objects if each.name == argument.object), None)
        if obj is not None and obj.kind in ("pointee", "argument", "return"):
            name = self._name(obj)
        else:
            name = native.symbol if native is not None else argument.object
        if argument.kind == "value":
            return name
        return f"(void *)((char *)&{name} + {argument.offset})" if argument.offset else f"(void *)&{name}"


def _constant(argument: Argument) -> str:
    raw = argument.number % (1 << (8 * argument.size))
    if argument.floating:
        value = struct.unpack("<f" if argument.size == 4 else "<d", raw.to_bytes(argument.size, "little"))[0]
        return float(value).hex()
    if not argument.signed:
        return f"{raw}u"
    value = raw - (1 << (8 * argument.size)) if raw >> (8 * argument.size - 1) else raw
    return f"({value + 1} - 1)" if value < 0 else str(value)


def _integer(ctype: IntType, data: DataModel) -> str:
    """An integer type in basic types: an enumeration may have no name."""
    if ctype.is_bool:
        return "_Bool"
    if ctype.is_char:
        return "char"
    name = next(name for name in NAMES if data.basic[name].bits == ctype.bits)
    return name if ctype.signed else f"unsigned {name.removeprefix('signed ')}"


def _tail(path: Sequence[str | int]) -> str:
    shown = [part for part in path if not str(part).startswith(UNNAMED)]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown)


def _sizes(data: DataModel) -> dict[str, int]:
    """The bytes of basic types; those of an enumeration of two constants under ``enum``."""
    return {
        "short": data.short // 8,
        "int": data.int_ // 8,
        "long": data.long // 8,
        "long long": data.long_long // 8,
        "void *": data.pointer // 8,
        "double": data.double // 8,
        "enum": 1 if data.choices.short_enums else data.int_ // 8,
    }
