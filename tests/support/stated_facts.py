"""Facts by their names: what ``bmc.invariants.candidates`` writes is read back."""

from __future__ import annotations

from collections.abc import Mapping

from bmc.invariants.candidates import _OR, IMPLIES, _read_span, among, implied, no_more, same
from bmc.system.transition import Condition, StateVariable


def stated(name: str, variables: Mapping[str, StateVariable]) -> Condition | None:
    """The fact of that name over ``variables``; None if it is the name of none."""
    try:
        parts = [_read(part, variables) for part in name.split(IMPLIES)]
    except (ValueError, OverflowError, KeyError):
        return None
    known = [part for part in parts if part is not None]
    if len(known) != len(parts) or len(parts) > 2:
        return None
    found = implied(*known) if len(known) == 2 else known[0]
    return found if found.name == name else None


def _read(text: str, variables: Mapping[str, StateVariable]) -> Condition | None:
    """What a name without an implication tells."""
    for sign, relation in ((" == ", same), (" <= ", no_more)):
        left, _, right = text.partition(sign)
        if left in variables and right in variables:
            return relation(variables[left], variables[right])
    found = [_read_span(piece, variables) for piece in text.split(_OR)]
    spans = [span for _, span in found]
    names = {var.name: var for var, _ in found}
    return among(next(iter(names.values())), spans) if len(names) == 1 else None
