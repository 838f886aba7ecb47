"""What the project says about the inputs' values, before there is a model: it ends loops that depend on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import BVSGE, BVSLE, BVUGE, BVULE

from bmc.c.execute.memory import Key
from bmc.c.source.config import SourceConfig
from bmc.c.source.types import IntType, type_at
from bmc.c.source.variables import is_variable, matching, symbol_content, variable_name
from bmc.errors import InputRefused
from bmc.formulas.terms import both, constant
from bmc.system.transition import conjunction

_NUMBER = re.compile(r"\s*[+-]?\d+\s*")


def input_limits(config: SourceConfig, keys: Iterable[Key]) -> FNode:
    """Bounds of the integer cells among ``keys`` that the project names as inputs, over their plain symbols.

    Only where the range is given in plain numbers; wider than the range itself where that has gaps.
    """
    cells = {variable_name(*key): key for key in keys if is_variable(key)}
    inputs = set(_selected(config.input, list(cells)))
    parts = []
    for pattern, values in config.ranges.items():
        bounds = _bounds(values)
        if bounds is None:
            continue
        for name in sorted(inputs.intersection(_selected([pattern], list(cells)))):
            ctype, term = type_at(cells[name][0].ctype, cells[name][1]), symbol_content(cells[name], False).term
            if isinstance(ctype, IntType) and isinstance(term, FNode):
                parts.append(_within(term, ctype, *bounds))
    return conjunction(parts)


def _selected(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that patterns select; what selects nothing is told later, when all names are known."""
    found: list[str] = []
    for pattern in patterns:
        try:
            found += matching([pattern], names, None, "variable")
        except InputRefused:
            continue
    return found


def _bounds(values: str | tuple[str, ...]) -> tuple[int, int] | None:
    """Least and greatest value; None where something else than plain numbers is given."""
    texts = values.split("..") if isinstance(values, str) else values
    if not texts or not all(_NUMBER.fullmatch(text) for text in texts):
        return None
    numbers = [int(text) for text in texts]
    return min(numbers), max(numbers)


def _within(term: FNode, ctype: IntType, low: int, high: int) -> FNode:
    low, high = max(low, ctype.least), min(high, ctype.greatest)
    least, greatest = (constant(end, ctype.bits) for end in (low, high))
    if ctype.signed:
        return both(BVSGE(term, least), BVSLE(term, greatest))
    return both(BVUGE(term, least), BVULE(term, greatest))
