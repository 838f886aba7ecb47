"""Registers: objects at addresses that the program writes as numbers, ``(*(volatile uint8_t *)0x4000)``.

A cast of a constant number other than 0 to a pointer is the address of an object of its own. It has the name of the
macro that stands for it: that of the innermost one, where macros stand for one another.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pycparser import c_ast

from bmc.errors import InputRefused, Location, UnsupportedConstruct, listed
from bmc.limits import text_of
from bmc.models.c.execute.calls import Calls
from bmc.models.c.execute.memory import Key, MemObject
from bmc.models.c.execute.recorder import StepResult
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.source.layout import BYTE
from bmc.models.c.source.preprocessed import PreprocessedUnit
from bmc.models.c.source.program import Function, Program, Scope, expression_of, nodes, where
from bmc.models.c.source.types import (
    ArrayType,
    CType,
    FloatType,
    IntType,
    PointerType,
    StructType,
    bit_offset_of,
    bits_of,
    same_type,
    show_type,
    size_of,
    type_at,
)
from bmc.records import dataclass

_CAST = re.compile(r"\*\s*(?:const\s*|volatile\s*)*\)[\s(]*(?:\([\w\s]+\)[\s(]*)*(?:0[xX]\w|[1-9]|0\d)")
"""A text in which a number may become a pointer."""
_OBJECTS = (IntType, FloatType, StructType, ArrayType)
LEAST, GREATEST = 1 << 16, 0xF000_0000
"""Where Linux lets programs of 32 and 64 bits have memory, as a rule: from vm.mmap_min_addr on, below the libraries."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def place_registers(text: str, tree: Any, scope: Scope, source: PreprocessedUnit, executor: Calls) -> None:
    """Note for each cast of a number to a pointer in ``tree``, parsed from ``text``, of which object it is the address.

    An object without a macro is known by its own name in ``scope``.
    """
    if _CAST.search(text) is None:
        return
    casts = [node for node in nodes(tree) if isinstance(node, c_ast.Cast) and _is_number(node.expr)]
    for node in reversed(casts):  # one may stand within another
        _Casts(scope, source, executor).place(node)


def _is_number(node: Any) -> bool:
    """Whether an expression has nothing in it but numbers and addresses of registers."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        inner = node.expr
        return isinstance(inner, c_ast.UnaryOp) and inner.op == "*" and _is_number(inner.expr)
    if isinstance(node, c_ast.BinaryOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, c_ast.UnaryOp | c_ast.Cast):
        return _is_number(node.expr) and not (isinstance(node, c_ast.UnaryOp) and node.op in ("*", "sizeof"))
    return isinstance(node, c_ast.Constant) and "int" in node.type


@dataclass(frozen=True)
class _Casts:
    """Reads casts of numbers to pointers, as they stand in a ``scope`` of a ``source``."""

    scope: Scope
    source: PreprocessedUnit
    executor: Calls

    def place(self, node: Any) -> None:
        """Note the object of which ``node``, a cast of a number, is the address."""
        try:
            ctype = self.executor.types.read(node.to_type, self.scope)
            address = self.executor.constant(node.expr, self.scope)
        except InputRefused:
            return
        if not isinstance(ctype, PointerType) or address == 0:
            return
        address %= 1 << self.executor.model.pointer
        there = (obj for obj, place in self.executor.program.registers.items() if place == address)
        known = next((obj for obj in there if same_type(obj.ctype, ctype.target)), None)
        if known is None:
            if not _size(ctype.target, self.executor):
                return
            known = self._register(node, address, ctype)
            self.executor.program.registers[known] = address
        if known.name not in self.source.macros:
            self.scope.names.setdefault(known.name, known)
        self.executor.program.register_casts[node] = known

    def _register(self, node: Any, address: int, ctype: PointerType) -> MemObject:
        """The object at ``address``, which ``node`` names first."""
        place = where(node)
        lines = text_of(place.file, "replace").splitlines()[place.line - 1 : place.line] if place.line else []
        before = [found[0] for line in lines for found in _WORD.finditer(line) if found.start() < place.column]
        named = (each for word in before[::-1] if (each := self._named(word, address)) is not None)
        name, content = next(named, (f"register_{address:x}", True))
        kind = "global" if content else "pointee"
        return MemObject(name, ctype.target, kind, name, declared=place, volatile=ctype.volatile)

    def _named(self, word: str, address: int) -> tuple[str, bool] | None:
        """The innermost macro that ``word`` expands to and that stands for ``address`` or for the object there.

        Its name with False or True; None where there is none.
        """
        todo, named = [word], None
        for each in todo:
            macro = self.source.macros.get(each)
            if macro is None:
                continue
            todo += [token.text for token in macro.body if token.text not in todo]
            expanded = self.source.expand(each) if macro.parameters is None else ""
            if _CAST.search(expanded) is None:
                continue
            with suppress(InputRefused):
                found = expression_of(expanded, self.scope, Location(self.source.file))
                content = isinstance(found, c_ast.UnaryOp) and found.op == "*"
                cast = found.expr if content else found
                if isinstance(cast, c_ast.Cast) and self.executor.constant(cast.expr, self.scope) == address:
                    named = each, content
        return named


def _size(ctype: CType, executor: Calls) -> int:
    """The bytes of an object, 0 where the type is none of objects or not complete."""
    with suppress(InputRefused):
        return size_of(ctype, executor.model) if isinstance(ctype, _OBJECTS) else 0
    return 0


def registers_in(program: Program, functions: Iterable[Function]) -> list[MemObject]:
    """The registers whose addresses stand in ``functions``."""
    casts = program.register_casts
    return [casts[node] for function in functions for node in nodes(function.node) if node in casts] if casts else []


def refuse_overlaps(program: Program, touched: Collection[Key]) -> None:
    """UnsupportedConstruct where two registers have bytes in common that init and step came to.

    In headers a block of registers may reach into the next one, as NVIC of CMSIS does into SCB.
    """
    cells = [(*_bytes_of(key, program), key) for key in touched if key[0] in program.registers]
    before: list[tuple[int, int, Key]] = []
    for cell in sorted(cells, key=lambda each: (each[0], program.registers[each[2][0]], variable_name(*each[2]))):
        before = [each for each in before if each[1] > cell[0]]
        other = next((each for each in before if each[2][0] is not cell[2][0]), None)
        if other is not None:
            both = (
                f"'{variable_name(*key)}' ({show_type(type_at(key[0].ctype, key[1]))} at {start:#x})"
                for start, _, key in (other, cell)
            )
            raise UnsupportedConstruct(
                f"unsupported C construct: two registers with bytes in common: {' and '.join(both)}",
                cell[2][0].declared,
                "reach what lies there by one of the two types",
            )
        before.append(cell)


def _bytes_of(key: Key, program: Program) -> tuple[int, int]:
    """Where a cell of a register begins and ends."""
    obj, path = key
    first = bit_offset_of(obj.ctype, path, program.model)
    last = first + bits_of(type_at(obj.ctype, path), program.model) - 1
    return program.registers[obj] + first // BYTE, program.registers[obj] + last // BYTE + 1


def without_unused_registers(program: Program, result: StepResult, touched: Collection[Key]) -> StepResult:
    """The run without the members of registers that neither init nor the step came to."""
    unused = {key for key in result.start if key[0] in program.registers} - {*touched}
    start, final = (
        {key: cell for key, cell in cells.items() if key not in unused} for cells in (result.start, result.final)
    )
    return replace(result, start=start, final=final, shadowed=result.shadowed - unused) if unused else result


def register_notes(program: Program, roles: Mapping[Key, str], known: Collection[Key]) -> list[str]:
    """Which registers are taken to hold 0 before init: those whose values there matter and are not ``known``."""
    state = [key for key, role in roles.items() if role == "state" and key[0] in program.registers]
    names = [variable_name(*key) for key in state if key not in known]
    text = "hold 0 before init, unless [interface.values] says otherwise"
    return [f"the registers {listed(names)} {text}"] if names else []


def unplaced(objects: Sequence[MemObject], program: Program) -> str:
    """Why the compiled original cannot have its registers where the program expects them, '' if it can."""
    placed = {program.registers[obj]: obj.name for obj in objects if obj in program.registers}
    for address, name in placed.items():
        if not LEAST <= address < GREATEST:
            return f"the register '{name}' lies at {address:#x}, where this machine lets no program have memory"
    return "registers get memory at their addresses on Linux alone" if placed and sys.platform != "linux" else ""
