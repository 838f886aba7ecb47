"""The project's ranges of floating variables: numbers and intervals as ranges over IEEE-754 patterns."""

from __future__ import annotations

from pysmt.shortcuts import TRUE

from bmc.c.controller.model import CModel
from bmc.c.execute.floating import exact
from bmc.c.execute.memory import State, Value
from bmc.c.execute.recorder import Recorder
from bmc.c.source.types import FloatType, PointerType
from bmc.errors import InputRefused, Location
from bmc.floats.format import is_nan, nearest, read, value_of
from bmc.floats.ranges import Ranges, between

MOST_STEPS = 1000
"""Values that a range with a step may have."""
_MARKS = frozenset(".eEpPnN")
"""What tells a number with a fraction or an exponent, ``inf`` and ``nan`` from a C integer."""


def read_float_ranges(
    model: CModel, name: str, ctype: FloatType, values: str | tuple[str, ...], where: Location
) -> Ranges:
    """Allowed patterns as rising inclusive ranges: of ``low..high``, of one number, or of a list of both.

    An interval has both zeros if it has one, and no NaN; a number in a list is that number alone. ``low..high step s``
    is the list of ``low``, ``low`` + ``s`` and so on. InputRefused, with the place ``where``, if there is none, or one
    does not fit the variable ``name``.
    """
    pieces: set[tuple[int, int]] = set()
    for text in (values,) if isinstance(values, str) else values:
        interval, stepped, step = text.partition(" step ")
        if stepped:
            pieces.update(_grid(model, interval, step, name, ctype, where))
            continue
        low, dots, high = text.partition("..")
        first = read_pattern(model, low, name, ctype, where)
        found = between(first, read_pattern(model, high, name, ctype, where), ctype.format) if dots else ()
        pieces.update(found if dots else ((first, first),))
    if not pieces:
        raise InputRefused(f"the range of '{name}' is empty", where)
    return _joined(pieces)


def _grid(
    model: CModel, interval: str, step: str, name: str, ctype: FloatType, where: Location
) -> set[tuple[int, int]]:
    """Every number from the lower end on, in steps that are exact before each number is rounded once."""
    low, _, high = interval.partition("..")
    try:
        least, greatest, width = value_of(low), value_of(high), value_of(step)
    except ValueError:
        raise InputRefused(
            f"'{interval} step {step}' needs three plain numbers", where, "0.0..100.0 step 0.5"
        ) from None
    if width <= 0:
        raise InputRefused(f"the step of the range of '{name}' must be above 0", where)
    count = (greatest - least) // width + 1
    if count > MOST_STEPS:
        text = f"the range of '{name}' has {count} values, more than {MOST_STEPS}"
        raise InputRefused(text, where, "choose a larger step, or leave it out")
    found = [nearest(least + index * width, ctype.format) for index in range(count)]
    for end in (low, high):
        read_pattern(model, end, name, ctype, where)
    return {(raw, raw) for raw in found}


def _joined(pieces: set[tuple[int, int]]) -> Ranges:
    joined: list[tuple[int, int]] = []
    for low, high in sorted(pieces):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def read_pattern(model: CModel, text: str, name: str, ctype: FloatType, where: Location) -> int:
    """The pattern of a number, rounded to ``ctype`` once: ``12.5``, ``-inf``, ``nan``, or a C constant expression."""
    word = text.strip()
    written = written_pattern(word, name, ctype, where)
    return _constant(model, word, name, ctype, where) if written is None else written


def _constant(model: CModel, text: str, name: str, ctype: FloatType, where: Location) -> int:
    node = model.expand_and_parse(text, where)
    recorder = Recorder()
    value: Value = model.with_names(
        recorder, where, lambda: model.executor.value(node, model.scope(), State(pc=TRUE()))
    )
    if isinstance(value.ctype, PointerType) or recorder.suspects or not value.bits.is_constant():
        raise InputRefused(f"'{text}' is no constant number", where)
    raw = int(exact(value, ctype).bits.constant_value())
    if raw & ~ctype.format.sign == ctype.format.infinity and not _infinite(value):
        raise _too_large(text, name, ctype, where)
    return ctype.format.nan if is_nan(raw, ctype.format) else raw


def _infinite(value: Value) -> bool:
    form = value.ctype.format if isinstance(value.ctype, FloatType) else None
    return form is not None and value.bits.constant_value() & ~form.sign == form.infinity


def _too_large(text: str, name: str, ctype: FloatType, where: Location) -> InputRefused:
    return InputRefused(f"{text} does not fit '{name}' ({ctype.name})", where, "write inf for infinity")


def written_pattern(text: str, name: str, ctype: FloatType, where: Location) -> int | None:
    """The pattern of a floating number as it is written, rounded once; None if ``text`` is anything else.

    InputRefused, with the place ``where``, for a finite number that is too large.
    """
    try:
        return read(text, ctype.format) if _MARKS & set(text) else None
    except OverflowError:
        raise _too_large(text, name, ctype, where) from None
    except ValueError:
        return None
