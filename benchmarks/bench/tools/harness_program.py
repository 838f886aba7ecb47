"""The program of a harness: its sources in one translation unit, its objects, and how its variables are called in C.

A static local that a goal reads is moved to file scope, in a copy of its source: its declaration there says ``extern``.
What no source defines is a file of its own; what of it the harness sets or reads stands at file scope too.
"""

from __future__ import annotations

import copy
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pycparser import c_ast, c_generator
from pysmt.fnode import FNode

from benchmarks.bench.tools.conditions import UNSIGNED
from bmc.errors import InputRefused
from bmc.models.c.controller.model import c_model
from bmc.models.c.execute.memory import MemObject
from bmc.models.c.execute.variables import CVariable
from bmc.models.c.source.types import IntType, bits_of_part
from bmc.native.kernel import bits_of
from bmc.system.original import Call, MemoryObject
from chaincover.subject import Subject

REAL = {32: "float", 64: "double"}

COPY = """\
/* CBMC has no body for the functions of the compiler. */
static void cc_copy(void *to, const void *from, unsigned long size) {
  if (size == 1) *(unsigned char *)to = *(const unsigned char *)from;
  else if (size == 2) *(unsigned short *)to = *(const unsigned short *)from;
  else if (size == 4) *(unsigned int *)to = *(const unsigned int *)from;
  else if (size == 8) *(unsigned long long *)to = *(const unsigned long long *)from;
  else for (unsigned long k = 0; k < size; k++) ((char *)to)[k] = ((const char *)from)[k];
}
static void cc_fill(void *to, int value, unsigned long size) {
  for (unsigned long k = 0; k < size; k++) ((char *)to)[k] = value;
}
#define __builtin_memcpy cc_copy
#define __builtin_memset cc_fill
"""


class ProgramText:
    """The program of ``controller`` as C. What a harness reads or sets has to be asked for, by ``value`` and ``set``,
    before the ``sources`` and the ``environment`` are written."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._c = c_model(subject.model)
        self._kinds = {obj.name: obj for obj in c_model(subject.model).native.objects}
        self._outside: dict[tuple[str, str], str] = {}
        self._scalars: dict[str, str] = {}
        self._moved: dict[str, MemObject] = {}
        self.variables = {variable.name: variable for variable in c_model(subject.model).variables}

    def object(self, name: str) -> str:
        """The C name of an object."""
        obj = self._kinds[name]
        if obj.kind == "global" or (obj.kind == "local" and obj.file):
            return obj.symbol
        if obj.kind == "local":
            return self._outside.setdefault((obj.function, obj.symbol), f"cc_outside_{word(name)}")
        return f"cc_the_{word(name)}"

    def value(self, name: str) -> str:
        """The C expression of a variable."""
        variable = self.variables[name]
        obj, path = variable.key
        native = self._kinds[obj.name]
        partial = isinstance(variable.ctype, IntType) and variable.ctype.partial
        if partial and (variable.type.signed or any(bits_of_part(part) is not None for part in path)):
            raise InputRefused(f"a harness cannot read '{name}', a signed bit-field or no member", obj.declared)
        if native.kind == "local" and native.file:
            self._moved[obj.name] = obj
        if native.kind == "local" and not native.file:
            cell = next(cell for cell in self._c.native.cells if cell.variable == name)
            if cell.width:
                raise InputRefused(
                    f"a harness cannot see the bit-field '{name}' of the environment", obj.declared, SEEN
                )
            if cell.size == native.size:
                self._scalars[self.object(obj.name)] = self.kind(name)
                return self.object(obj.name)
            return f"*({self.kind(name)} *)({self.object(obj.name)} + {cell.offset})"  # in bytes
        tail = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path if "(" not in str(part))
        return f"{self.object(obj.name)}{tail}"

    def kind(self, name: str) -> str:
        """The C type that holds any value of a variable."""
        variable = self.variables[name]
        kinds = REAL if _floating(variable) else UNSIGNED
        return next(kinds[bits] for bits in kinds if variable.ctype.bits <= bits)

    def leaf(self, symbol: FNode, name: str, text: str) -> str:
        """The C of ``symbol``, the variable ``name``, whose value is ``text``."""
        if name not in self.variables:
            return text
        if symbol.get_type().is_bool_type():
            return f"({text} != 0)"
        return f"p{bits_of(symbol)}({text})" if _floating(self.variables[name]) else text

    def set(self, name: str, number: str, values: Sequence[tuple[int, int]]) -> list[str]:
        """C that chooses one of the ``values`` (ranges; () for any) of the variable ``name``, and tells it as
        ``number``: as it is then, for a ``_Bool`` that is set to any number is 1."""
        variable, kind = self.variables[name], self.kind(name)
        drawn = kind
        if not _floating(variable) and values and min(values)[0] >= 0:
            most = max(high for _, high in values)
            drawn = next(UNSIGNED[bits] for bits in UNSIGNED if most < 1 << bits)
        chosen = [f"{drawn} {number} = cc_nondet_{drawn.replace(' ', '_')}();", f"{self.value(name)} = {number};"]
        return [*chosen, f'__CPROVER_input("{number}", ({kind}){self.value(name)});']

    def sources(self) -> Iterator[tuple[str, str, list[str]]]:
        """A file for each source, by its name: it includes the original, or is a copy of it, without the static locals
        whose definitions at file scope come with it."""
        for number, source in enumerate(self._c.native.compilation.sources):
            path = Path(source).resolve()
            mine = [obj for obj in self._moved.values() if Path(obj.file).resolve() == path]
            if mine:
                yield f"source-{number}.c", *self._without(path.read_text(encoding="utf-8"), mine)
            else:
                yield f"source-{number}.c", f'#include "{path}"\n', []

    def _without(self, text: str, objects: Sequence[MemObject]) -> tuple[str, list[str]]:
        """``text`` with ``objects`` only declared, and their definitions. InputRefused where that would be another
        program, or the declaration is no plain one on a line of its own."""
        lines, definitions = text.split("\n"), []
        for obj in objects:
            line = obj.declared.line - 1 if obj.declared is not None else -1
            found = None
            if 0 <= line < len(lines):
                found = re.search(rf"\bstatic\b([^;=,]*?)\b{re.escape(obj.symbol)}\b([^;=,]*)(=[^;,]*)?;", lines[line])
            scopes = (unit.scope.names for unit in self._c.program.units)
            same = [other for other in self._kinds.values() if other.symbol == obj.symbol]
            if found is None or len(same) > 1 or any(obj.symbol in names for names in scopes):
                raise InputRefused(f"a harness cannot see the static local '{obj.name}'", obj.declared, SEEN)
            before, after, value = found[1], found[2], found[3] or ""
            definitions.append(f"{before.strip()} {obj.symbol}{after.rstrip()}{' ' if value else ''}{value};")
            declared = f"extern{before}{obj.symbol}{after.rstrip()};"
            lines[line] = lines[line][: found.start()] + declared + lines[line][found.end() :]
        return "\n".join(lines), definitions

    def environment(self) -> str:
        """What no source defines, as a file of its own; what the harness sets or reads stands at file scope."""
        text = self._c.native.compilation.environment
        if not text:
            return ""
        hoisted: list[str] = []
        found: list[str] = []
        for block in re.split(r"^(?=[^\s}].*\) \{$)", text, flags=re.M):
            function = re.match(r".*?(\w+)\(", block)
            for (owner, symbol), name in self._outside.items():
                inside = function is not None and block.split("\n", 1)[0].endswith("{") and function[1] == owner
                if not (inside or not owner):
                    continue
                first, _, rest = block.partition("\n") if inside else ("", "", block)
                rest = re.sub(rf"\b{re.escape(symbol)}\b", name, rest)
                declared = re.search(rf"^ *static (unsigned char {name}\[.*= {{(.*)}};)\n", rest, flags=re.M)
                if declared:
                    hoisted.append(self._definition(name, declared[1], declared[2]))
                    rest = rest.replace(declared[0], "")
                if name in self._scalars:
                    rest = _assigned(rest, name, self._scalars[name])
                block = f"{first}\n{rest}" if inside else rest
            found.append(block)
        return "\n".join([COPY, *hoisted, "".join(found)])

    def _definition(self, name: str, text: str, values: str) -> str:
        """The definition of an object outside the program, which ``text`` defines as bytes with these ``values``."""
        if name not in self._scalars:
            return text
        raw = bytes(map(int, values.split(",")))
        number = int.from_bytes(raw, "little")
        if number and self._scalars[name] in REAL.values():
            (value,) = struct.unpack("<f" if len(raw) == 4 else "<d", raw)
            return f"{self._scalars[name]} {name} = {value!r};"
        return f"{self._scalars[name]} {name} = {number}u;"

    def objects(self) -> Iterator[str]:
        """Declarations of what the caller provides."""
        links = {link.target: link for link in self._c.native.links}
        for name in self._outside.values():
            yield (
                f"extern {self._scalars[name]} {name};" if name in self._scalars else f"extern unsigned char {name}[];"
            )
        for obj in self._c.native.objects:
            name = self.object(obj.name)
            if obj.name in links:
                yield f"static __typeof__(*{self.member(obj.name)}) {name};"
            elif obj.kind in ("pointee", "argument"):
                yield from self._parameter(obj, name)
            elif obj.kind == "return":
                yield f"static __typeof__({self.call(self._c.native.step, False)}) {name};"

    def member(self, target: str) -> str:
        """The pointer that leads to the object ``target``."""
        link = next(link for link in self._c.native.links if link.target == target)
        return f"{self.object(link.object)}.{target.removeprefix(f'{link.object}->')}"

    def _parameter(self, obj: MemoryObject, name: str) -> Iterator[str]:
        """The object that a parameter stands for."""
        declaration = self._declaration(obj.name.rpartition("::")[2])
        if isinstance(declaration.type, c_ast.ArrayDecl) or obj.kind == "argument":
            yield f"static {_declared(declaration, name)};"
        else:
            yield f"static {_declared(declaration, f'{name}_pointer')};"
            yield f"static __typeof__(*{name}_pointer) {name};"

    def _declaration(self, parameter: str) -> Any:
        """The syntax tree of a parameter of the step, else of an init."""
        program, native = self._c.program, self._c.native
        for call in (native.step, *native.init):
            function = program.function(call.function)
            arguments = None if function is None or function.node is None else function.node.decl.type.args
            for declared in arguments.params if arguments is not None else ():
                if getattr(declared, "name", None) == parameter:
                    return declared
        raise InputRefused(f"the parameter '{parameter}' is in no function that the harness calls")

    def call(self, call: Call, stored: bool = True) -> str:
        """A call as C."""
        words = []
        for argument in call.arguments:
            if argument.kind == "constant":
                words.append(
                    str(argument.number) if not argument.floating else f"f{8 * argument.size}({argument.number}ull)"
                )
                continue
            name = self.object(argument.object)
            if argument.kind == "value":
                words.append(name)
            elif argument.offset:
                words.append(f"(void *)((char *)&{name} + {argument.offset})")
            else:
                words.append(f"(void *)&{name}")
        text = f"{call.function}({', '.join(words)})"
        return f"{self.object(call.returns)} = {text}" if call.returns and stored else text


SEEN = "declare it by itself on one line, under a name that nothing else has"


def _assigned(text: str, name: str, kind: str) -> str:
    """The functions in ``text`` with assignments in place of copies of the bytes of the scalar ``name``."""
    text = re.sub(rf"__builtin_memcpy\(&(\w+), {name}, [^()]*\);", rf"\1 = {name};", text)
    text = re.sub(rf"__builtin_memcpy\({name}, &(\w+), [^()]*\);", rf"{name} = \1;", text)
    text = re.sub(rf"__builtin_memcpy\((\w+), {name}, [^()]*\);", rf"*({kind} *)\1 = {name};", text)
    return re.sub(rf"__builtin_memcpy\({name}, (\w+), [^()]*\);", rf"{name} = *({kind} *)\1;", text)


def word(name: str) -> str:
    """``name`` as a word of C; different names are different words."""
    return "".join(c if c.isalnum() else "_" if c == "_" else f"_{ord(c):x}_" for c in name)


def _floating(variable: CVariable) -> bool:
    return variable.ctype.value_type().floating


def _declared(declaration: Any, name: str) -> str:
    """The declaration of a parameter under another name, and of nothing constant."""
    tree = copy.deepcopy(declaration)
    tree.quals = []
    inner = tree.type
    while inner is not None:
        if hasattr(inner, "quals"):
            inner.quals = [word for word in inner.quals if word != "const"]
        if isinstance(inner, c_ast.TypeDecl):
            inner.declname = name
            break
        inner = inner.type
    tree.name = name
    return str(c_generator.CGenerator().visit(tree))
