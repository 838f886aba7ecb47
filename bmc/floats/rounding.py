"""Taking IEEE-754 numbers apart and putting results together: what the circuits of all operations share."""

from __future__ import annotations

from dataclasses import dataclass

from pysmt.fnode import FNode

from bmc.floats import shifters
from bmc.floats.format import Format
from bmc.formulas import words
from bmc.formulas.terms import both, choose, constant, either, negate


@dataclass(frozen=True, slots=True)
class Parts:
    """A number's bits: ``sign`` (1 bit), ``exponent`` field and ``fraction``."""

    sign: FNode
    exponent: FNode
    fraction: FNode
    normal: FNode
    """A Boolean: the exponent field is not zero."""
    special: FNode
    """A Boolean: infinity or NaN."""

    @property
    def significand(self) -> FNode:
        """The fraction with its hidden bit in front."""
        return words.join(words.bit(self.normal), self.fraction)

    @property
    def scale(self) -> FNode:
        """The exponent field, that of subnormals counted as one (where the hidden bit's weight is the same)."""
        low = words.disjoin(words.extract(self.exponent, 0, 0), words.bit(negate(self.normal)))
        return words.join(words.extract(self.exponent, words.width(self.exponent) - 1, 1), low)


def parts(a: FNode, form: Format) -> Parts:
    exponent = words.extract(a, form.bits - 2, form.fraction)
    return Parts(
        words.extract(a, form.bits - 1, form.bits - 1),
        exponent,
        words.extract(a, form.fraction - 1, 0),
        negate(words.is_zero(exponent)),
        words.is_ones(exponent),
    )


def normal_form(a: Parts, bits: int) -> tuple[FNode, FNode]:
    """Significand with its top bit set, and exponent (biased; two's complement of ``bits`` bits: it may be below 1).

    Unspecified for zeros, infinities and NaNs.
    """
    significand, zeros = shifters.normalised(a.significand)
    return significand, words.subtract(words.extend(a.scale, bits), words.extend(zeros, bits))


def rounded(sign: FNode, exponent: FNode, significand: FNode, form: Format, *, small: bool = True) -> FNode:
    """The number nearest to a value (ties to even), infinite where that is too large.

    ``significand``: its top bit is set; more than ``form.fraction`` + 2 bits wide, the lowest standing for all that
    were lost. ``exponent``: biased, that of the top bit; two's complement, wide enough for all the operation's results
    and for the number of the significand's bits. ``small``: results below the least normal number are possible.
    """
    size = words.width(exponent)
    negative = words.is_set(exponent, size - 1)
    if small:
        below = either(negative, words.is_zero(exponent))
        amount = words.subtract(constant(1, size), exponent)
        shifted = shifters.shift_right_sticky(significand, choose(below, amount, constant(0, size)))
        field = choose(below, constant(0, size), exponent)
    else:
        shifted, field = significand, exponent
    result = nearest_even(words.extract(field, form.exponent - 1, 0), shifted, form)
    largest = constant((1 << form.exponent) - 1, size)
    large = both(negate(negative), words.less_equal(largest, exponent))
    return words.join(sign, choose(large, constant(form.infinity, form.bits - 1), result))


def nearest_even(field: FNode, significand: FNode, form: Format) -> FNode:
    """Exponent field and fraction (no sign), after rounding the bits of ``significand`` below its leading ones.

    The top bit of ``significand`` is the hidden bit (not kept); a carry goes into the exponent, where it belongs.
    """
    rest = words.width(significand) - form.fraction - 1
    kept = words.join(field, words.extract(significand, words.width(significand) - 2, rest))
    if rest == 0:
        return kept
    guard = words.is_set(significand, rest - 1)
    lost = words.is_set(kept, 0)
    if rest > 1:
        lost = either(lost, negate(words.is_zero(words.extract(significand, rest - 2, 0))))
    return words.add(kept, words.extend(words.bit(both(guard, lost)), form.bits - 1))
