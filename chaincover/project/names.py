"""What variables and their values are called in tables: names cut where they are equal, modes by the code's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from bmc.system.names import IN, same_front
from bmc.system.transition import InputVariable, StateVariable, Valuation, ValueType

T = TypeVar("T")

Labels = Mapping[str, Mapping[int, str]]
"""By variable: what its values are called."""

NO_CHILD = "NO_ACTIVE_CHILD"
"""What generated code calls a state none of whose substates is active; it is shown as ``(none)``."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Each name without what stands before its last parts, as far as no other name ends in the same parts.

    A number alone is no name: it is the place of a parameter without one.
    """
    parts = {name: re.split(r"(?<=->)|(?<=\.)|(?<=::)", name) for name in names}
    tails = Counter("".join(of[-count:]) for of in parts.values() for count in range(1, len(of) + 1))
    short = {}
    for name, of in parts.items():
        own = ("".join(of[-count:]) for count in range(1, len(of)))
        short[name] = next((tail for tail in own if tails[tail] == 1 and not tail.isdecimal()), name).lstrip("*")
    return short if len(set(short.values())) == len(short) else {name: name for name in names}


def called(vtype: ValueType, values: Collection[int], labels: Mapping[int, str]) -> Mapping[int, str]:
    """What the ``values`` of a variable are called in tables: enumerators, else ``labels`` where every value has one.

    Nothing where they are shown as numbers: the words for truth are no names.
    """
    own = {number: label for label, number in vtype.labels} or labels
    generated = any(IN.search(label) for label in own.values())
    truth = {label.lower() for label in without_front(own).values()} <= {"true", "false"}
    named = own and not truth and (vtype.labels or generated or set(values) <= own.keys())
    return own if named else {}


def named_type(var: InputVariable | StateVariable, names: Labels) -> ValueType:
    """The type of a variable, by which values may be written as ``names`` calls them where it has no enumerators."""
    own = one_to_one(names.get(var.name, {}))
    return var.type if var.type.labels or not own else replace(var.type, labels=tuple((own[n], n) for n in own))


def one_to_one(labels: Mapping[int, str]) -> Mapping[int, str]:
    """``labels`` if no two values are called alike, else none: they could not be read again."""
    return labels if len({*labels.values()}) == len(labels) else {}


def without_front(labels: Mapping[T, str]) -> dict[T, str]:
    """``labels`` without what all of them begin with, whole words only, and without what stands before ``_IN_``."""
    texts = [re.sub(r"^(?:.*_)?IN_", "", label) for label in labels.values()]
    front = same_front(texts)
    cut = ["(none)" if text == NO_CHILD else text.removeprefix(front) for text in texts]
    whole = len(set(cut)) < len(cut) or not all(re.match(r"[A-Za-z(]", text) for text in cut)
    return dict(zip(labels, labels.values() if whole else cut, strict=True))


Rows = tuple[StateVariable | InputVariable, Sequence[Valuation]]
"""A variable with the valuations of a run."""


def of_run(variables: Iterable[StateVariable | InputVariable], rows: Sequence[Valuation]) -> list[Rows]:
    """Each of ``variables`` with the valuations ``rows``."""
    return [(var, rows) for var in variables]


def value_labels(rows: Iterable[Rows], labels: Labels) -> dict[str, Mapping[int, str]]:
    """By variable what its values are called: enumerators, else ``labels`` where every value of the rows has one.

    ``rows``: each variable with the valuations of a run. Words for truth are left out: these are shown as flags.
    """
    found: dict[str, Mapping[int, str]] = {}
    for var, values in rows:
        own = labels.get(var.name, {})
        seen = {var.type.value(row[var.name]) for row in values} if own and not var.type.labels else set()
        if names := called(var.type, seen, own):
            found[var.name] = names
    return found
