"""IEEE-754 binary formats, and their values as Python numbers and as texts. A value is its raw bit pattern (unsigned).

Reading rounds once (ties to even), as in C: by way of a Python float, a narrower format would be rounded to twice.
"""

from __future__ import annotations

import math
import re
import struct
from fractions import Fraction
from functools import lru_cache

from bmc.limits import whole_number
from bmc.records import dataclass


@dataclass(frozen=True, slots=True)
class Format:
    """A binary interchange format: ``bits`` of storage, of them ``exponent`` and ``fraction`` bits.

    At least three bits of exponent and two of fraction.
    ``number`` and ``pattern`` are exact only for formats whose numbers are Python floats (no wider than ``FLOAT64``).
    """

    bits: int
    exponent: int
    fraction: int
    code: str = ""
    """The format's letter in the ``struct`` module, if it has one."""

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        """The pattern of plus infinity."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def nan(self) -> int:
        """The pattern that stands for every NaN: quiet, positive, without payload."""
        return self.infinity | 1 << (self.fraction - 1)

    @property
    def sign(self) -> int:
        """The pattern of minus zero: the sign bit alone."""
        return 1 << (self.bits - 1)


FLOAT32 = Format(32, 8, 23, "f")
FLOAT64 = Format(64, 11, 52, "d")
FORMATS = {32: FLOAT32, 64: FLOAT64}


def is_nan(raw: int, form: Format) -> bool:
    """Whether a pattern is a NaN of any sign and payload."""
    return (raw & ~form.sign) > form.infinity


def canonical(raw: int, form: Format) -> int:
    """``raw``, or the one NaN that stands for all."""
    return form.nan if is_nan(raw, form) else raw


def number(raw: int, form: Format) -> float:
    """The number that a pattern stands for."""
    if not form.code:
        special = math.nan if is_nan(raw, form) else math.inf
        size = float(exact(raw & ~form.sign, form)) if raw & ~form.sign < form.infinity else special
        return math.copysign(size, -1.0 if raw & form.sign else 1.0)
    found: float = struct.unpack(f"<{form.code}", raw.to_bytes(form.bits // 8, "little"))[0]
    return found


def pattern(value: float, form: Format) -> int:
    """The pattern of the nearest representable number (ties to even; too large ones are infinite); NaN is canonical."""
    if math.isnan(value):
        return form.nan
    if not form.code:
        size = form.infinity if math.isinf(value) else nearest(Fraction(abs(value)), form)
        return size | (form.sign if math.copysign(1.0, value) < 0 else 0)
    try:
        packed = struct.pack(f"<{form.code}", value)
    except OverflowError:
        return form.infinity | (form.sign if value < 0 else 0)
    return int.from_bytes(packed, "little")


def exact(raw: int, form: Format) -> Fraction:
    """The number that the pattern of a finite number stands for."""
    field, fraction = (raw & ~form.sign) >> form.fraction, raw & (1 << form.fraction) - 1
    significand = fraction | (1 << form.fraction if field else 0)
    size = significand * _power(max(field, 1) - form.bias - form.fraction)
    return -size if raw & form.sign else size


def nearest(value: Fraction | int, form: Format) -> int:
    """The pattern of the nearest representable number (ties to even; too large ones are infinite); zero has no sign."""
    size = abs(Fraction(value))
    if size == 0:
        return 0
    magnitude = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = max(magnitude if _power(magnitude) <= size else magnitude - 1, 1 - form.bias)
    units = round(size / _power(exponent - form.fraction))
    raw = min((exponent + form.bias - 1 << form.fraction) + units, form.infinity)
    return raw | (form.sign if value < 0 else 0)


def _power(exponent: int) -> Fraction:
    """A power of two."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def show(raw: int, form: Format) -> str:
    """The shortest decimal text that reads back as ``raw``: ``0.1``, ``-inf``, ``nan``."""
    value = number(raw, form)
    if form is FLOAT64 or not value or math.isnan(value) or math.isinf(value):
        return repr(abs(value) if math.isnan(value) else value)
    for digits in range(6 if form is FLOAT32 and abs(value) >= LEAST_NORMAL else 1, 10):  # six tell all shorter texts
        text = f"{value:.{digits}g}"
        if _reads_as(text, raw, form):
            return repr(float(text))
    raise AssertionError(f"nine digits tell all float32 values apart, but not {value!r}")


LEAST_NORMAL = 2.0**-126
"""The least float32 with all its bits; smaller ones are multiples of the least of all, 2 ** -149."""


def _reads_as(text: str, raw: int, form: Format) -> bool:
    """Whether a decimal text is read as ``raw``.

    A float64 on the way makes no difference, but where that lies half way between two numbers of the format.
    """
    value = float(text)
    if form is not FLOAT32 or _half_way(value):
        return nearest(Fraction(text), form) | raw & form.sign == raw
    return pattern(value, form) == raw


def _half_way(value: float) -> bool:
    """Whether a float64 lies half way between two float32."""
    if abs(value) < LEAST_NORMAL:
        return value * 2.0**150 % 2 == 1
    return pattern(value, FLOAT64) & (1 << 29) - 1 == 1 << 28


_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?", re.ASCII)
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)(?:[pP]([+-]?\d+))?", re.ASCII)
_FAR = 5000
"""Powers of ten beyond all formats: exact arithmetic with larger ones would only cost time."""


@lru_cache(maxsize=4096)
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
    for syntax, base, power in ((_HEXADECIMAL, 16, 2), (_DECIMAL, 10, 10)):
        match = syntax.fullmatch(digits)
        if match and (match[1] or match[2]):
            written = whole_number(match[1] + match[2], base)
            exponent = whole_number(match[3] or "0")
            far = min(max(exponent, -_FAR - len(digits) * 4), _FAR)
            return Fraction(written, base ** len(match[2])) * Fraction(power) ** (far if written else 0)
    raise ValueError(f"{digits!r} is no number")
