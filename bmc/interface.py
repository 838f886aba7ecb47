"""Where each variable of a transition system lives in the compiled original C program: plain data.

The C front end fills it in; ``bmc.native`` uses it to call the program and to read and write its memory.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """One C object that outlives a step, or one scalar argument.

    ``kind``: ``pointee`` (the caller allocates ``size`` zeroed bytes and passes its address), ``argument`` (a scalar
    passed by value), ``global`` (file scope, static or not), ``local`` (a static local of ``function``),
    ``return`` (the step's scalar result). ``name`` is unique; ``symbol`` is the C identifier; ``file`` is the
    defining source file (for ``global`` and ``local``).
    """

    name: str
    kind: str
    size: int
    symbol: str = ""
    function: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scalar variable: ``size`` bytes, little-endian, at ``offset`` in the object called ``object``."""

    variable: str
    object: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Argument:
    """One actual argument: the address of (or the value stored in) an object, or a constant.

    ``kind``: ``address`` (of ``object`` plus ``offset`` bytes), ``value`` (the scalar of ``size`` bytes in ``object``),
    ``constant`` (``number``, in ``size`` bytes). ``signed`` tells how a scalar is widened.
    """

    kind: str
    object: str = ""
    offset: int = 0
    size: int = 0
    signed: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """One call: ``returns`` is the object of kind ``return`` that receives the scalar result, or ''."""

    function: str
    arguments: tuple[Argument, ...] = ()
    returns: str = ""


@dataclass(frozen=True, slots=True)
class NativeInterface:
    """All that is needed to build and run the compiled original.

    ``sources`` and ``include_dirs`` are paths; ``defines`` are (name, value) pairs for -D. ``init`` runs once on zeroed
    memory, ``step`` once per step. ``cells`` covers every state variable and input (an input by value has a cell in
    its ``argument`` object).
    """

    sources: tuple[str, ...]
    include_dirs: tuple[str, ...]
    defines: tuple[tuple[str, str], ...]
    objects: tuple[MemoryObject, ...]
    cells: tuple[Cell, ...]
    init: tuple[Call, ...]
    step: Call
