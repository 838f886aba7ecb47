"""Values of variables as users see and write them."""

from __future__ import annotations

from collections.abc import Iterable

from bmc.errors import InputRefused, Location
from bmc.floats import format as numbers
from bmc.floats import ranges as floating
from bmc.floats.format import FORMATS, show
from bmc.limits import TooLarge, whole_number
from bmc.system.transition import InputVariable, StateVariable, Valuation, ValueType

Variable = StateVariable | InputVariable


def shown(variables: Iterable[Variable], values: Valuation) -> dict[str, int | float | str]:
    """Numbers (with their sign) or enumeration labels by full variable name.

    Floating ones are finite floats whose text is the shortest that reads back (0.1 also for the narrower format), or
    the words ``nan``, ``inf`` and ``-inf``, which JSON has no numbers for.
    """
    return {var.name: _shown(var.type, values[var.name]) for var in variables}


def _shown(vtype: ValueType, raw: int) -> int | float | str:
    if vtype.floating:
        form = FORMATS[vtype.bits]
        text = show(raw, form)
        return float(text) if raw & form.infinity != form.infinity else text
    number = vtype.value(raw)
    if not vtype.labels:
        return number
    label = vtype.show(number)
    return number if label == str(number) else label


def show_value(vtype: ValueType, raw: int) -> str:
    """A raw pattern as text: its number, or its enumeration label."""
    return vtype.show(vtype.value(raw))


def show_ranges(ranges: Iterable[tuple[int, int]], vtype: ValueType) -> str:
    """Inclusive ranges of a type's values as text: ``0..3, 7``; of a floating type: ``-0.5..20.0, nan``."""
    if vtype.floating:
        return floating.show_ranges(ranges, FORMATS[vtype.bits])
    if vtype.is_pointer:
        return ", ".join(vtype.show(number) for low, high in ranges for number in range(low, high + 1))
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in ranges)


def parse_value(text: str, vtype: ValueType, where: Location, name: str = "") -> int:
    """The raw pattern of a number or enumeration label. InputRefused, for the value of ``name``, if it is neither, or
    does not fit.

    For a floating type any decimal or hexadecimal number (the nearest value is taken, as in C), ``nan`` or ``inf``.
    """
    word = text.strip()
    for label, number in vtype.labels:
        if label == word:
            return _raw(number, vtype)
    truth = {"true": "1", "false": "0"}.get(word.lower(), word)
    if vtype.floating:
        return _parse_floating(truth, vtype, where)
    try:
        if "_" in truth or not truth.isascii():  # Python's 1_000, and the digits of other scripts
            raise ValueError
        number = whole_number(truth, 0, where)
    except ValueError:
        labels = ", ".join(label for label, _ in vtype.labels)
        hint = f"write a number or one of {labels}" if labels else "write a whole number"
        if truth.isascii() and truth.lstrip("+-").isdecimal():
            hint += ", without zeros before it"
        meant = f"'{name}' ({vtype.name})" if name else f"type {vtype.name}"
        raise InputRefused(f"'{word}' is no value of {meant}", where, hint) from None
    if not vtype.least <= number <= vtype.greatest:
        values = f"{vtype.least}..{1 if vtype.truth else vtype.greatest}"
        of = f"'{name}' ({vtype.name}: {values})" if name else f"{vtype.name} ({values})"
        raise InputRefused(f"{word} does not fit {of}", where)
    return _raw(number, vtype)


def raw_value(value: object, vtype: ValueType, where: Location, name: str = "") -> int:
    """The raw pattern of a ``value`` that ``shown`` gave, or that stands in a file; errors as ``parse_value`` has."""
    if type(value) is int and not vtype.floating and not vtype.labels and vtype.least <= value <= vtype.greatest:
        return _raw(value, vtype)
    return parse_value(str(value), vtype, where, name)


def _parse_floating(word: str, vtype: ValueType, where: Location) -> int:
    try:
        return numbers.read(word, FORMATS[vtype.bits])
    except TooLarge as error:
        error.where = where
        raise
    except ValueError:
        hint = "write a number such as 12.5, 1e-3 or 0x1.8p3, or inf, -inf or nan"
        raise InputRefused(f"'{word}' is no value of type {vtype.name}", where, hint) from None
    except OverflowError:
        hint = "write inf or -inf if an infinity is meant"
        raise InputRefused(f"{word} is too large for {vtype.name}", where, hint) from None


def _raw(number: int, vtype: ValueType) -> int:
    return number & ((1 << vtype.bits) - 1) if vtype.bits else number
