"""IEEE-754 binary formats and their values as Python numbers. A value is kept as its raw bit pattern (unsigned)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction


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
    if form is FLOAT64 or math.isnan(value) or math.isinf(value):
        return repr(abs(value) if math.isnan(value) else value)
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if nearest(Fraction(text), form) | raw & form.sign == raw:
            return repr(float(text))
    raise AssertionError(f"nine digits tell all float32 values apart, but not {value!r}")
