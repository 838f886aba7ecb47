"""Variables of a C program: which cells of memory they are, and what they are called."""

from __future__ import annotations

from collections.abc import Iterable

from pysmt.shortcuts import TRUE, Symbol

from bmc.models.c.execute.memory import Content, Key, MemObject
from bmc.models.c.source.types import UNNAMED, Arithmetic, FloatType, IntType, StructType, bits_of_part, type_at
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.transition import ValueType


@dataclass(frozen=True, slots=True)
class CVariable:
    """One integer or floating cell that outlives a step. ``role``: input, state, output or ignored."""

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
    """Whether a cell is a number that outlives a step and can change."""
    obj, path = key
    ctype = type_at(obj.ctype, path)
    number = isinstance(ctype, IntType) or (isinstance(ctype, FloatType) and ctype.readable)
    return obj.persistent and not obj.const and number


def symbol_content(key: Key, shadowed: bool, step: int | None = None) -> Content:
    """A variable's cell as its symbol, plain (None) or framed at ``step``; with its definedness bit if ``shadowed``."""
    ctype = type_at(key[0].ctype, key[1])
    assert isinstance(ctype, IntType | FloatType)
    name, mark = variable_name(*key), "" if step is None else f"@{step}"
    return Content(ctype.value_type().symbol(name + mark), Symbol(f"{name}{DEFINED}{mark}") if shadowed else TRUE())


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
