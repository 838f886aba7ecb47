"""Values of variables as users see and write them."""

from __future__ import annotations

from collections.abc import Iterable

from bmc.errors import InputRefused, Location
from bmc.system import InputVariable, StateVariable, Valuation, ValueType

Variable = StateVariable | InputVariable


def shown(variables: Iterable[Variable], values: Valuation) -> dict[str, int | str]:
    """Numbers (with their sign) or enumeration labels by full variable name."""
    result: dict[str, int | str] = {}
    for var in variables:
        number = var.type.value(values[var.name])
        label = var.type.show(number)
        result[var.name] = number if label == str(number) else label
    return result


def show_ranges(ranges: Iterable[tuple[int, int]]) -> str:
    """Inclusive ranges as text: ``0..3, 7``."""
    return ", ".join(str(low) if low == high else f"{low}..{high}" for low, high in ranges)


def parse_value(text: str, vtype: ValueType, where: Location) -> int:
    """The raw pattern of a number or enumeration label. InputRefused if it is neither, or does not fit."""
    word = text.strip()
    for label, number in vtype.labels:
        if label == word:
            return _raw(number, vtype)
    try:
        number = {"true": 1, "false": 0}[word.lower()] if word.lower() in ("true", "false") else int(word, 0)
    except ValueError:
        labels = ", ".join(label for label, _ in vtype.labels)
        hint = f"write a number or one of {labels}" if labels else "write a whole number"
        raise InputRefused(f"'{word}' is no value of type {vtype.name}", where, hint) from None
    if not vtype.least <= number <= vtype.greatest:
        raise InputRefused(f"{number} does not fit {vtype.name} ({vtype.least}..{vtype.greatest})", where)
    return _raw(number, vtype)


def _raw(number: int, vtype: ValueType) -> int:
    return number & ((1 << vtype.bits) - 1) if vtype.bits else number
