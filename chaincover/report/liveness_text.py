"""What is live, dead and constant, as lines of text; fields of one object that are all of one kind as one name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaincover.check.liveness import Liveness
from chaincover.project.load import Controller
from chaincover.reductions.final_latches import ADVICE

MOST_LISTED = 12
LEAST_GROUP = 3
"""So many variables of one object, all of them, are listed as one."""


def told(controller: Controller, found: Liveness) -> list[str]:
    """The lines of ``check``; those with nothing to tell are left out."""
    system = controller.system
    names = [*(var.name for var in system.inputs), *(var.name for var in system.state)]
    lines = []
    if found.observed and found.variables:
        live, dead = grouped(found.live, names), grouped(found.dead, names)
        lines.append(f"live at the start of a step, {len(found.live)} of {found.variables}: {listed(live) or 'none'}")
        if found.for_validity:
            text = f"of these only for undefined behaviour, {len(found.for_validity)}"
            lines.append(f"{text}: {listed(grouped(found.for_validity, names))}")
        if dead:
            text = "nothing that is observed ever depends on their value there"
            lines.append(f"dead at the start of a step, {len(found.dead)}: {listed(dead)} ({text})")
        if found.self_read:
            text = f"of these read, but only by themselves or each other, {len(found.self_read)}"
            lines.append(f"{text}: {listed(grouped(found.self_read, names))} (such as a total that nothing else reads)")
    if found.constant:
        lines.append(f"never change, {len(found.constant)}: {listed(_constants(found, names))}")
    if controller.final_text == "init":
        same = listed(grouped(found.compared, names))
        lines.append(f"a state like the one after init has as then: {same or 'nothing, any state is'}")
    if found.lost:
        text = f"never as after init again, once they have changed, {len(found.lost)}"
        lines.append(
            f"{text}: {listed(grouped(found.lost, names))} (a chain that changes them has no way to the end: {ADVICE})"
        )
    if controller.goals or controller.final_text:
        lines.append(_needed(controller, found))
    if found.unread_inputs:
        lines.append(f"inputs that nothing depends on: {listed(grouped(found.unread_inputs, names))}")
    return lines


def _needed(controller: Controller, found: Liveness) -> str:
    count = found.variables
    parts = [*(["the goals"] if controller.goals else []), *(["the final condition"] if controller.final_text else [])]
    inputs = f"{len(found.needed_inputs)} of {len(controller.system.inputs)} inputs"
    verb = "depends" if parts == ["the final condition"] else "depend"
    text = f"{' and '.join(parts)} {verb} on {len(found.needed)} of {count} state variables and {inputs}"
    return text + ("; the search leaves out the rest" if len(found.needed) < count else "")


def _constants(found: Liveness, names: Sequence[str]) -> list[str]:
    """The constants with their values; those of one object with one value as one."""
    texts = []
    for value in dict.fromkeys(value for _, value in found.constant):
        texts += [f"{name} = {value}" for name in grouped([n for n, v in found.constant if v == value], names)]
    return texts


def listed(texts: Sequence[str]) -> str:
    """The first of ``texts``, and how many more there are."""
    more = len(texts) - MOST_LISTED
    return ", ".join(texts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def grouped(names: Sequence[str], everything: Sequence[str]) -> list[str]:
    """``names``, with ``prefix*`` and their number where all of ``everything`` below a struct or array is among them.

    In the order in which they begin in ``names``.
    """
    chosen = set(names)
    below: dict[str, list[str]] = {}
    for name in everything:
        for prefix in prefixes(name):
            below.setdefault(prefix, []).append(name)
    texts: dict[str, None] = {}
    for name in names:
        whole = [p for p in prefixes(name) if len(below.get(p, ())) >= LEAST_GROUP and chosen >= set(below[p])]
        texts[_whole(whole[0], len(below[whole[0]])) if whole else name] = None
    return list(texts)


def _whole(prefix: str, count: int) -> str:
    return f"{prefix}*{']' if prefix.endswith('[') else ''} ({count})"


def prefixes(name: str) -> list[str]:
    """The names of the objects that hold a variable, from the outside in, each with the sign that selects a part."""
    return [name[: match.end()] for match in re.finditer(r"->|\.|\[", name)]
