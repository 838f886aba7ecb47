"""What an exported chain says of itself, for whoever reads a recording of it back."""

from __future__ import annotations

DRIVEN, EXPECTED = " [driven]", " [expected]"
"""What the titles of a table's columns end in: inputs that the bench drives, and values that it compares."""

SIGNALS = "chaincover-signals "
"""How the comment of a VCD file begins that says which signal is which variable.

A JSON object follows: ``signals`` (variables by signal), ``bits`` (floating variables by the signal that has their
bits), ``ticks`` (units of time in a step), ``start`` (whether the values at the time 0 are the start state), ``labels``
(variables by the signal that has their values as text), ``goals`` and ``requirements`` (by their markers).
"""
