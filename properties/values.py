"""That a term has a value."""

from __future__ import annotations

from pysmt.fnode import FNode

from bmc.floats import compare
from bmc.floats.format import FORMATS, is_nan
from bmc.system.transition import ValueType, equal

MOST_STATES, MOST_GOALS = 64, 1000
"""States of one criterion, of a variable or of modes, and other goals of it, at most."""


def is_value(term: FNode, kind: ValueType, value: int) -> FNode:
    """That ``term`` has the raw ``value`` of its ``kind``; both zeros of a floating one are one value."""
    meant = kind.constant(value)
    if not kind.floating:
        return equal(term, meant)
    form = FORMATS[kind.bits]
    return compare.is_nan(term, form) if is_nan(value, form) else compare.equal(term, meant, form)
