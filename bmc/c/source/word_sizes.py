"""Programs for other word sizes than this machine's: when the compiled original may stand for them.

The program is read once more with this machine's word sizes, with every ``#error`` (a check of word sizes) passed over.
If that gives the same transition system, term by term, the program means the same here, and compiled here it is a
faithful original; its memory layout is then this machine's. Otherwise it needs a compiler for its target.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import replace

from pysmt.exceptions import PysmtTypeError

from bmc.c.controller.model import CModel
from bmc.c.source.config import SourceConfig
from bmc.c.source.types import DATA_MODELS
from bmc.errors import InputRefused
from bmc.system.original import NativeInterface
from bmc.system.transition import TransitionSystem, ValueType


def this_machine() -> str:
    """The word sizes of this machine's C compiler, '' where they are none of ``DATA_MODELS``."""
    kinds = (ctypes.c_short, ctypes.c_int, ctypes.c_long, ctypes.c_longlong, ctypes.c_void_p)
    sizes = [8 * ctypes.sizeof(kind) for kind in kinds]
    known = (m for m in DATA_MODELS.values() if [m.short, m.int_, m.long, m.long_long, m.pointer] == sizes)
    return next((model.name for model in known), "")


def native_here(model: CModel, config: SourceConfig, read: Callable[[SourceConfig], CModel]) -> NativeInterface:
    """How to build and call the original on this machine; one that is refused where the original would differ.

    ``read`` reads a configuration into a model.
    """
    here = this_machine()
    if config.target == here:
        return model.native
    try:
        other = read(replace(config, target=here, pass_errors=True))
        why = difference(model.system, other.system)
    except InputRefused as error:
        why = str(error)
    except PysmtTypeError:  # a variable of one name has two types
        why = "variables have other sizes"
    if why:
        text = f"the replay needs a compiler for the word sizes {config.target}; with this machine's ({here}): {why}"
        return replace(model.native, refusal=text)
    return replace(other.native, pass_errors=True)


def difference(first: TransitionSystem, second: TransitionSystem) -> str:
    """Where two systems over the same symbols differ, '' if they are the same term by term."""
    names, others = _names(first), _names(second)
    if names != others:
        only = sorted(set(names) ^ set(others))
        return f"there are other variables ({', '.join(only[:4])})"
    for (name, left), (_, right) in zip(_parts(first), _parts(second), strict=True):
        if left != right:
            return f"{name} differs"
    return ""


def _names(system: TransitionSystem) -> list[str]:
    return [var.name for var in system.state] + [var.name for var in system.inputs]


def _parts(system: TransitionSystem) -> Iterator[tuple[str, object]]:
    """All that makes up a system's behaviour, with names for the user; terms are shared, so that equal ones are one."""
    for var in system.state:
        yield f"the type of '{var.name}'", _kind(var.type)
        yield f"'{var.name}' after init", var.init
        yield f"'{var.name}' after a step", var.next
    for given in system.inputs:
        yield f"the type of '{given.name}'", _kind(given.type)
        yield f"the range of '{given.name}'", given.values
    yield "where behaviour is undefined", system.defined
    yield "what inputs are allowed", system.input_constraint
    yield "what is asserted", tuple(each.formula for each in system.asserts)
    yield "what the tester chooses", system.chosen


def _kind(vtype: ValueType) -> tuple[int, bool, object, bool]:
    return vtype.bits, vtype.signed, vtype.labels, vtype.floating
