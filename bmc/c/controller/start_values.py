"""Values that the project gives to what no source defines (``interface.values``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.c.controller.float_ranges import written_pattern
from bmc.c.execute.memory import Content, State, Value
from bmc.c.execute.recorder import Recorder
from bmc.c.source.program import Unit, parse_text
from bmc.c.source.types import CType, FloatType, IntType, show_type
from bmc.errors import InputRefused, Location
from bmc.floats.format import number
from bmc.formulas.terms import constant

if TYPE_CHECKING:
    from bmc.c.execute.calls import Calls


def start_value(executor: Calls, unit: Unit, name: str, text: str, ctype: CType, place: Location) -> Content:
    """The cell of ``name`` as ``text`` (a number, or a C constant expression over ``unit``'s names) says.

    InputRefused, with the place of the project file, for what is no constant number and for one that ``ctype`` cannot
    hold; a floating object takes the nearest number.
    """
    if isinstance(ctype, FloatType) and ctype.readable:
        written = written_pattern(text.strip(), name, ctype, place)
        if written is not None:
            return Content(constant(written, ctype.bits), TRUE())
    saved, executor.recorder = executor.recorder, Recorder()
    try:
        tree = parse_text(f"void f(void) {{ ({unit.source.expand(text)}); }}", place.file)
        node = tree.ext[-1].body.block_items[0]
        given = executor.evaluate(node, unit.scope, State())
        suspects = executor.recorder.suspects
        executor.recorder = Recorder()
        value = executor.as_type(given, ctype, node, State()) if isinstance(given, Value) else None
    except InputRefused as error:
        raise InputRefused(f"the value of '{name}': {error.message}", place, error.hint) from None
    finally:
        executor.recorder = saved
    if suspects or not (_is_constant(given) and _is_constant(value)):
        raise InputRefused(f"the value of '{name}' is no constant number", place)
    assert isinstance(given, Value)
    assert isinstance(value, Value)
    if not _holds(given, value):
        ends = f": {ctype.least}..{ctype.greatest}" if isinstance(ctype, IntType) else ""
        raise InputRefused(f"{text} does not fit '{name}' ({show_type(ctype)}{ends})", place)
    return Content(value.term, TRUE())


def _is_constant(value: object) -> bool:
    return isinstance(value, Value) and isinstance(value.term, FNode) and value.term.is_constant()


def _holds(given: Value, stored: Value) -> bool:
    """Whether a constant is stored as it is given; a floating object may round it, but not to an infinity."""
    wanted, kept = _number(given), _number(stored)
    if isinstance(stored.ctype, FloatType):
        return math.isinf(kept) == math.isinf(wanted)
    return wanted == kept


def _number(value: Value) -> int | float:
    """The number that a constant of arithmetic type is."""
    raw = int(value.bits.constant_value())
    if isinstance(value.ctype, FloatType):
        return number(raw, value.ctype.format)
    assert isinstance(value.ctype, IntType)
    return value.ctype.value_type().value(raw)
