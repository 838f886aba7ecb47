"""What ``check`` says of variables: the interface, and which are live. Those of one object are listed as one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmc.errors import counted, listed
from bmc.system.transition import TransitionSystem
from chaincover.check.liveness import Liveness
from chaincover.project.values import show_ranges
from chaincover.reductions.slicing import ADVICE
from chaincover.report.console import FEW_LINES, LEAST_FOLDED, Console, say
from chaincover.subject import Subject


def show_interface(out: Console, subject: Subject) -> None:
    """Inputs by their allowed values, outputs and state; each group in a few lines."""
    system = subject.system
    names = names_of(subject)
    part = out.part()
    allowed: dict[str, list[str]] = {}
    for var in system.inputs:
        allowed.setdefault(show_ranges(var.values, var.type) or "any value", []).append(var.name)
    texts = [f"{listed(grouped(of, names))}: {values}" for values, of in allowed.items()]
    say(part, f"{counted(len(system.inputs), 'input')}: {'; '.join(texts) or '(none)'}")
    out.show(part.cut(5, "-v tells all inputs"))
    for role, title in (("output", "output"), ("state", "state variable")):
        own = [var.name for var in system.state if var.role == role]
        if own:
            say(out, f"{counted(len(own), title)}: {listed(grouped(own, names), 6)}")
    _show_starts(out, system, names)


def _show_starts(out: Console, system: TransitionSystem, names: Sequence[str]) -> None:
    """The state whose start value init does not set, by who chooses it; of outputs the table of variables says it."""
    part = out.part()
    chosen = [var for var in system.state if var.name in system.chosen]
    if chosen:
        starts = [var.name + (f" ({show_ranges(var.starts, var.type)})" if var.starts else "") for var in chosen]
        say(part, f"chosen by the tester: {listed(starts)}")
    state = [var for var in system.visible_state if var.role != "output" and var not in chosen]
    unset = [var.name for var in state if var.init is None]
    if unset:
        say(part, f"not set by init, and a chain holds whatever they start with: {listed(grouped(unset, names))}")
    out.show(part.cut(FEW_LINES, "-v tells all"))


def liveness_lines(subject: Subject, found: Liveness) -> list[str]:
    """The lines of ``check``; those with nothing to tell are left out."""
    names = names_of(subject)
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
    if subject.final_text == "init":
        same = listed(grouped(found.compared, names))
        lines.append(f"a state like the one after init has as then: {same or 'nothing, any state is'}")
    if found.latched:
        text = f"never as after init again, once they have changed, {len(found.latched)}"
        fields = listed(grouped(found.latched, names))
        lines.append(f"{text}: {fields} (a chain that changes them has no way to the end: {ADVICE})")
    if subject.goals or subject.final_text:
        lines.append(_needed(subject, found))
    if found.unread_inputs:
        lines.append(f"inputs that nothing depends on: {listed(grouped(found.unread_inputs, names))}")
    return lines


def names_of(subject: Subject) -> list[str]:
    """All inputs and state variables."""
    return [*(var.name for var in subject.system.inputs), *(var.name for var in subject.system.state)]


def _needed(subject: Subject, found: Liveness) -> str:
    count = found.variables
    parts = [*(["the goals"] if subject.goals else []), *(["the final condition"] if subject.final_text else [])]
    inputs = f"{len(found.needed_inputs)} of {len(subject.system.inputs)} inputs"
    verb = "depends" if parts == ["the final condition"] else "depend"
    text = f"{' and '.join(parts)} {verb} on {len(found.needed)} of {count} state variables and {inputs}"
    return text + ("; the search leaves out the rest" if len(found.needed) < count else "")


def _constants(found: Liveness, names: Sequence[str]) -> list[str]:
    """The constants with their values; those of one object with one value as one."""
    texts = []
    for value in dict.fromkeys(value for _, value in found.constant):
        texts += [f"{name} = {value}" for name in grouped([n for n, v in found.constant if v == value], names)]
    return texts


def grouped(names: Sequence[str], everything: Sequence[str]) -> list[str]:
    """``names``, with ``prefix*`` and their number where all of ``everything`` below a struct or array is among them.

    In the order in which they begin in ``names``.
    """
    chosen = set(names)
    below: dict[str, list[str]] = {}
    for name in everything:
        for prefix in prefixes(name):
            below.setdefault(prefix, []).append(name)
    complete = {prefix for prefix, own in below.items() if len(own) >= LEAST_FOLDED and chosen.issuperset(own)}
    texts: dict[str, None] = {}
    for name in names:
        whole = [prefix for prefix in prefixes(name) if prefix in complete]
        texts[_whole(whole[0], len(below[whole[0]])) if whole else name] = None
    return list(texts)


def _whole(prefix: str, count: int) -> str:
    return f"{prefix}*{']' if prefix.endswith('[') else ''} ({count})"


def prefixes(name: str) -> list[str]:
    """The names of the objects that hold a variable, from the outside in, each with the sign that selects a part."""
    return [name[: match.end()] for match in re.finditer(r"->|\.|\[", name)]
