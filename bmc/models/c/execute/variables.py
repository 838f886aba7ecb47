"""Variables of a C program: which cells of memory they are, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import BVUGE, Symbol

from bmc.formulas.terms import TRUE, choose, constant, equals
from bmc.models.c.execute.memory import Content, Key, MemObject, Pointee, Target
from bmc.models.c.source.types import (
    UNNAMED,
    Arithmetic,
    FloatType,
    IntType,
    PointerType,
    StructType,
    bits_of_part,
    show_type,
    type_at,
)
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import ValueType

POINTER_BITS = 8
"""The bits of the number that says what a pointer points to."""


@dataclass(frozen=True, slots=True)
class CVariable:
    """One integer, floating or pointer cell that outlives a step. ``role``: input, state, output or ignored."""

    name: str
    key: Key
    ctype: Arithmetic
    role: str = "state"

    @property
    def type(self) -> ValueType:
        """How the transition system shows its values."""
        return self.ctype.value_type()

    @property
    def file(self) -> str:
        """The file that declares it, '' where none is known."""
        place = self.key[0]
        return place.declared.file if place.declared is not None else place.file


def is_variable(key: Key) -> bool:
    """Whether a cell outlives a step and can change: a number, or a pointer that the step changes."""
    obj, path = key
    ctype = type_at(obj.ctype, path)
    number = isinstance(ctype, IntType) or (isinstance(ctype, FloatType) and ctype.readable)
    return obj.persistent and not obj.const and (number or path in obj.pointees)


def variable_type(key: Key) -> Arithmetic:
    """The type of a variable; that of a pointer is an enumeration of what it may point to."""
    ctype = type_at(key[0].ctype, key[1])
    if isinstance(ctype, PointerType):
        labels = tuple((label, number) for number, label in enumerate(pointee_names(key[0].pointees[key[1]])))
        return IntType(show_type(ctype), POINTER_BITS, False, 0, labels=labels)
    assert isinstance(ctype, IntType | FloatType)
    return ctype


def pointee_names(pointees: Sequence[Pointee]) -> list[str]:
    """What may be pointed to, as C has it: ``NULL``, ``idle``, ``&table[2]``; with the file where a name is twice."""
    names = []
    for obj, path in pointees:
        name = "NULL" if obj is None else variable_name(obj, path)
        is_whole = obj is None or obj.kind == "function" or name == f"*{obj.name}"
        names.append(name.removeprefix("*") if is_whole else f"&{name}")
    return [
        f"{obj.file.rsplit('/', 1)[-1]}::{name}" if obj is not None and names.count(name) > 1 else name
        for name, (obj, _) in zip(names, pointees, strict=True)
    ]


def symbol_content(key: Key, shadowed: bool, step: int | None = None) -> Content:
    """A variable's cell as its symbol, plain (None) or framed at ``step``; with its definedness bit if ``shadowed``."""
    name, mark = variable_name(*key), "" if step is None else f"@{step}"
    defined = Symbol(f"{name}{DEFINED}{mark}") if shadowed else TRUE()
    symbol = variable_type(key).value_type().symbol(name + mark)
    if key[1] not in key[0].pointees:
        return Content(symbol, defined)
    return Content(_targets(symbol, key[0].pointees[key[1]]), defined)


def _targets(number: FNode, pointees: Sequence[Pointee]) -> tuple[Target, ...]:
    """What a number stands for; the last also for all larger ones, so that it is always something."""
    if not pointees:  # only pointers to what does not live on
        return ()
    *others, last = [constant(n, POINTER_BITS) for n in range(len(pointees))]
    guards = [*(equals(number, other) for other in others), BVUGE(number, last) if others else TRUE()]
    return tuple(Target(guard, obj, path) for guard, (obj, path) in zip(guards, pointees, strict=True))


def number_of(key: Key, content: Content) -> FNode | None:
    """The number that a variable has, of a pointer the number of what it points to; None where it has none."""
    term = content.term
    if isinstance(term, FNode) or key[1] not in key[0].pointees:
        return term if isinstance(term, FNode) else None
    symbol = variable_type(key).value_type().symbol(variable_name(*key))
    pointees = key[0].pointees[key[1]]
    if not term:
        return symbol
    if len(pointees) == 1:
        return constant(0, POINTER_BITS)
    if term == _targets(symbol, pointees):
        return symbol
    numbers = {pointee: constant(number, POINTER_BITS) for number, pointee in enumerate(pointees)}
    result: FNode | None = None
    for target in reversed(term):
        number = numbers.get((target.object, target.path))  # none stands for what was found to be impossible
        if number is not None:
            result = number if result is None else choose(target.guard, number, result)
    return symbol if result is None else result


def variable_name(obj: MemObject, path: tuple[str | int, ...]) -> str:
    """The C path of a cell: ``s->mode``, ``X_DW.is_c3``, ``*rty_up``, ``buf[3]``, ``compute::ticks``."""
    name = obj.name
    if obj.kind == "pointee":
        if not path:
            return f"*{name}"
        if isinstance(obj.ctype, StructType):
            first, *rest = [part for part in path if not str(part).startswith(UNNAMED)]
            return f"{name}->{first}{_tail(rest)}"
    return name + _tail(path)


def _tail(path: Iterable[str | int]) -> str:
    shown = [part for part in path if not str(part).startswith(UNNAMED)]
    return "".join(f"[{part}]" if isinstance(part, int) else _step(part) for part in shown)


def _step(part: str) -> str:
    return part if bits_of_part(part) is not None else f".{part}"
