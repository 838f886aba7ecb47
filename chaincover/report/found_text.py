"""How ``check`` tells the invariants that it has found: those of a kind on one line, with files and the proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bmc.c.controller.model import CModel
from bmc.invariants.facts import IMPLIES
from chaincover.check.found_invariants import EQUAL, IMPLICATION, ORDER, VALUES, FoundInvariant

MOST_LINES = 20
"""Lines told; JSON has all invariants."""
MOST_NAMES = 8
"""Facts told on one line."""


def found_lines(found: Sequence[FoundInvariant], model: CModel) -> list[str]:
    """The lines for ``found``: flags, other values, equalities, then implications, those that say most first."""
    files = _files(model)
    lines = [_line(texts, facts, files) for texts, facts in _joined(found)]
    more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + ([f"and {more} more lines of invariants: --json has all"] if more > 0 else [])


def found_data(found: Sequence[FoundInvariant], model: CModel) -> list[dict[str, Any]]:
    """``found`` as plain data."""
    files = _files(model)
    return [
        {
            "text": fact.text,
            "kind": fact.kind,
            "variables": [{"name": name, "file": files.get(name)} for name in fact.variables],
            "proved_by": fact.method,
            "states": fact.states,
            "k": fact.k,
        }
        for fact in found
    ]


def _joined(found: Sequence[FoundInvariant]) -> list[tuple[list[str], list[FoundInvariant]]]:
    """What goes on one line, with the facts that it tells."""
    flags = [fact for fact in found if fact.kind == VALUES and _is_flag(fact)]
    groups = [_grouped(flags, lambda fact: fact.how, lambda fact: fact.variables[0], "0 or 1: ")]
    ranges = [fact for fact in found if fact.kind == VALUES and not _is_flag(fact)]
    groups.append(_grouped(ranges, lambda fact: fact.how, lambda fact: fact.text, ""))
    equal = [fact for fact in found if fact.kind == EQUAL]
    groups.append(_grouped(equal, lambda fact: fact.text.split(" == ")[0], lambda fact: fact.text, ""))
    implied = [fact for fact in found if fact.kind == IMPLICATION]
    groups.append(
        sorted(
            _grouped(implied, lambda fact: fact.text.split(IMPLIES)[0], lambda fact: fact.text.split(IMPLIES)[1], None),
            key=lambda group: -len(group[1]),
        )
    )
    order = [fact for fact in found if fact.kind == ORDER]
    groups.append(_grouped(order, lambda fact: fact.how, lambda fact: fact.text, ""))
    return [line for group in groups for line in group]


def _grouped(
    facts: Sequence[FoundInvariant],
    key: Callable[[FoundInvariant], str],
    text: Callable[[FoundInvariant], str],
    front: str | None,
) -> list[tuple[list[str], list[FoundInvariant]]]:
    """``facts`` with one key and proof together; ``front`` stands before them, None: the key and an arrow."""
    groups: dict[tuple[str, str], list[FoundInvariant]] = {}
    for fact in facts:
        groups.setdefault((key(fact), fact.how), []).append(fact)
    made = []
    for (first, _), members in groups.items():
        texts = [text(fact) for fact in members]
        for begin in range(0, len(texts), MOST_NAMES):
            part = texts[begin : begin + MOST_NAMES]
            part[0] = (f"{first}{IMPLIES}" if front is None else front) + part[0]
            made.append((part, members[begin : begin + MOST_NAMES]))
    return made


def _is_flag(fact: FoundInvariant) -> bool:
    name = fact.variables[0]
    return fact.text in (f"{name} <= 1", f"0 <= {name} && {name} <= 1", f"{name} == 0.0 || {name} == 1.0")


def _line(texts: Sequence[str], facts: Sequence[FoundInvariant], files: Mapping[str, str]) -> str:
    told = (" && " if facts[0].kind == IMPLICATION else ", ").join(texts)
    named = sorted({Path(files[name]).name for fact in facts for name in fact.variables if name in files})
    places = f"; {', '.join(named)}" if named else ""
    return f"always {told} ({facts[0].how}{places})"


def _files(model: CModel) -> Mapping[str, str]:
    """The file in which each variable is defined, by name."""
    found = {}
    for variable in model.variables:
        place = variable.key[0]
        file = place.declared.file if place.declared is not None else place.file
        if file:
            found[variable.name] = file
    return found
