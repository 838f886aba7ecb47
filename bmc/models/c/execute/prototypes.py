"""Calls of functions without a prototype in sight (C11 6.5.2.2p6): nothing converts their arguments to parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import constant
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.memory import State, Value
from bmc.models.c.source.program import Function, Scope, where
from bmc.models.c.source.types import (
    CType,
    DataModel,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    VoidType,
    compatible,
    promote,
    show_type,
)

if TYPE_CHECKING:
    from bmc.models.c.execute.calls import Calls

_DECLARE = "declare '{}' with the types of its parameters before the call"


class Prototypes:
    """What of each function is declared where it is called."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self._undeclared: dict[str, Location] = {}

    @staticmethod
    def declare(name: str, ctype: FunctionType, scope: Scope) -> None:
        """Enter the declaration of a function in a block."""
        scope.names[_mark(name)] = ctype

    def check(self, function: Function, arguments: list[Any], node: Any, scope: Scope, state: State) -> None:
        """Refuse a call without a prototype whose arguments have other types than the function's parameters."""
        caller = self.executor.frames[-1].function
        name, unit = function.name, caller.unit
        inside, after = scope.find(_mark(name)), caller.number + 1
        if inside is None and function.declared.get(unit, after) >= after:
            self._undeclared.setdefault(name, where(node))
            if not compatible(function.ctype.result, self.executor.model.int_type):
                text = f"'{name}' is called without a declaration, as a function that yields int"
                raise InputRefused(text, where(node), _DECLARE.format(name))
        if inside.prototype if inside is not None else function.prototyped.get(unit, after) < after:
            return
        if function.ctype.variadic:
            text = f"'{name}', which takes further arguments, is called without a prototype"
            raise InputRefused(text, where(node), _DECLARE.format(name))
        for number, ((_, ctype), value) in enumerate(zip(function.ctype.parameters, arguments, strict=False), 1):
            expected = ctype if function.ctype.prototype else promoted(ctype, self.executor.model)
            given = promoted(value.ctype, self.executor.model) if value is not None else VoidType()
            if not self.passes(value, given, expected, state, node):
                text = f"argument {number} of '{name}', which no prototype declares, is a {show_type(given)}"
                hint = f"{_DECLARE.format(name)}: the parameter is a {show_type(ctype)}"
                raise InputRefused(text, where(node), hint)

    def passes(self, value: Any, given: CType, expected: CType, state: State, node: Any) -> bool:
        """Whether an argument arrives as a parameter; one of the other sign must be no less than 0."""
        if compatible(given, expected):
            return True
        if isinstance(given, IntType) and isinstance(expected, IntType) and isinstance(value, Value):
            if (given.bits, given.rank) != (expected.bits, expected.rank):
                return False
            term = arithmetic.convert(value, given).bits
            negative = arithmetic.compare("<", term, constant(0, given.bits), IntType("", given.bits, True, given.rank))
            kind = "an argument without a prototype has another sign than its parameter"
            self.executor.undefined_at(state, node)(kind, negative)
            return True
        return isinstance(given, PointerType) and isinstance(expected, PointerType) and _is_plain(given, expected)

    def notes(self) -> list[str]:
        """Remarks on functions that were called without a declaration."""
        return [
            f"'{name}' is called without a declaration, as int {name}() ({place})"
            for name, place in self._undeclared.items()
        ]


def _mark(name: str) -> str:
    """The name under which a scope keeps the declaration of a function in a block."""
    return f"{name}()"


def promoted(ctype: CType, model: DataModel) -> CType:
    """The default argument promotions (C11 6.5.2.2p6)."""
    if isinstance(ctype, IntType):
        return promote(ctype, model)
    return FloatType("double", model.double) if isinstance(ctype, FloatType) and ctype.bits == 32 else ctype


def _is_plain(*pointers: PointerType) -> bool:
    """Whether one of two pointers, whose targets' qualifiers do not matter, is to void or to characters."""
    first, second = (pointer.target for pointer in pointers)
    plain = any(isinstance(t, VoidType) or (isinstance(t, IntType) and t.rank == 1) for t in (first, second))
    return plain or compatible(first, second)
