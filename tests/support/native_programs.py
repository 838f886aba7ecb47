"""Small C programs for the tests of the compiled original: written to files, and described."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bmc.native.original import compiled
from bmc.system.original import Call, Cell, Compilation, MemoryObject, NativeInterface

needs_compiler = pytest.mark.needs_compiler

Write = Callable[..., tuple[str, ...]]


def writer(folder: Path) -> Write:
    """Writes C files into ``folder`` (name='text', without .c) and returns their paths."""

    def files(**texts: str) -> tuple[str, ...]:
        for name, text in texts.items():
            (folder / f"{name}.c").write_text(text, encoding="utf-8")
        return tuple(str(folder / f"{name}.c") for name in texts)

    return files


def interface(
    sources: tuple[str, ...],
    objects: list[MemoryObject],
    cells: list[Cell],
    step: Call,
    init: tuple[Call, ...] = (),
    include: tuple[str, ...] = (),
    defines: tuple[tuple[str, str], ...] = (),
) -> NativeInterface:
    return NativeInterface(Compilation(sources, include, defines), tuple(objects), tuple(cells), init, step)


def static(name: str, source: str, size: int = 4, function: str = "") -> MemoryObject:
    """A global, or a static local of ``function``."""
    kind = "local" if function else "global"
    return MemoryObject(f"{function}{source[-3]}_{name}", kind, size, name, function, source)


def whole(obj: MemoryObject, variable: str = "") -> Cell:
    return Cell(variable or obj.symbol or obj.name, obj.name, 0, obj.size)


def counter(sources: tuple[str, ...], step: str = "step") -> NativeInterface:
    """A program whose only variable is the global int ``n`` of the first source."""
    n = static("n", sources[0])
    return interface(sources, [n], [whole(n)], Call(step))


def numbers(native: NativeInterface, steps: int, **options: float) -> list[int]:
    with compiled(native) as program:
        return [state["n"] for state in program.run([{}] * steps, **options)]
