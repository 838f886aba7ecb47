"""Reading numbers: the pattern nearest to a decimal or hexadecimal text, rounded once (ties to even) as in C.

Reading by way of a Python float would round twice for the narrower format.
"""

from __future__ import annotations

import re
from fractions import Fraction

from bmc.floats.format import Format, nearest

_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)(?:[pP]([+-]?\d+))?", re.ASCII)
_FAR = 5000
"""Powers of ten beyond all formats: exact arithmetic with larger ones would only cost time."""


def read(text: str, form: Format) -> int:
    """The pattern of ``12.5``, ``-1e-3``, ``0x1.8p3``, ``7``, ``inf`` or ``nan`` (the canonical one).

    ValueError if the text is no number, OverflowError if it is finite and rounds to no finite number.
    """
    word = text.strip().lower()
    sign = form.sign if word.startswith("-") else 0
    digits = word[1:] if word.startswith(("-", "+")) else word
    if digits == "nan":
        return form.nan
    if digits in ("inf", "infinity"):
        return sign | form.infinity
    raw = nearest(_magnitude(digits), form)
    if raw == form.infinity:
        raise OverflowError(f"{word} is beyond the finite numbers of {form.bits} bits")
    return sign | raw


def value_of(text: str) -> Fraction:
    """The exact value of a finite number's text, decimal or hexadecimal; ValueError if it is none."""
    word = text.strip().lower()
    size = _magnitude(word[1:] if word.startswith(("-", "+")) else word)
    return -size if word.startswith("-") else size


def _magnitude(digits: str) -> Fraction:
    """The exact value of an unsigned number. ValueError if it is none."""
    for pattern, base, power in ((_HEXADECIMAL, 16, 2), (_DECIMAL, 10, 10)):
        match = pattern.fullmatch(digits)
        if match and (match[1] or match[2]):
            number = int(match[1] + match[2], base)
            exponent = int(match[3] or 0)
            far = min(max(exponent, -_FAR - len(digits) * 4), _FAR)
            return Fraction(number, base ** len(match[2])) * Fraction(power) ** (far if number else 0)
    raise ValueError(f"{digits!r} is no number")
