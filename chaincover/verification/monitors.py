"""All goals as goals of one step at most that may share steps, by monitors: what every check of a proof is about.

The monitors are made again from the goals that the file names (``properties.one_step``); what a certificate says of
them must be that. Whether a chain covers its goals is judged by these as they are, never by a monitor.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from bmc.errors import counted
from chaincover.certificate import Certificate, monitor_texts
from chaincover.verification.report import HOLDS, WRONG, Line, limited
from chaincover.verification.setting import Setting
from properties.goal import kind

MONITORS = "monitors"


def monitored_setting(setting: Setting, proof: Certificate | None) -> tuple[Setting, Line | None]:
    """``setting`` with monitors, and whether ``proof`` has those of its goals; None where it speaks of none.

    A certificate names the goals whose monitors it has; without one, and where it is wrong, all goals have theirs.
    """
    named = {} if proof is None else proof.monitors
    changed, made = setting.in_one_step(named)
    details = [*_unlike({} if made is None else monitor_texts(made), named)]
    if named:
        changed = _with_those_alike(setting, changed, named)
        details += [f"{name}: none is told" for name in _without(setting, changed, named)]
    if not named or details:
        changed, made = setting.in_one_step(setting.names)
    if proof is not None and made is not None and not named:
        told = {*proof.goals, *(node for fact in (*proof.edges, *proof.paths) for node in fact.path)}
        details = [f"{name}: none is told" for name in monitor_texts(made) if name in told]
    oldest = 0 if made is None else max(made.earlier.values(), default=0)
    changed = replace(changed, overlap="allow", oldest=oldest)  # goals of no step share none
    if details:
        return changed, Line(MONITORS, WRONG, f"{counted(len(details), 'monitor')} not as goals ask", limited(details))
    if not named or made is None:
        return changed, None
    text = f"{counted(len(made.goals), 'goal')} told by one step each, made again from the properties"
    return changed, Line(MONITORS, HOLDS, text)


def _unlike(expected: Mapping[str, str], named: Mapping[str, str]) -> Iterator[str]:
    """Where the monitors ``named`` by the certificate are not those that are ``expected``."""
    for name in {**expected, **named}:
        if expected.get(name) != named.get(name):
            yield f"{name}: {expected.get(name) or 'of no goal that the file names'}"


def _with_those_alike(setting: Setting, changed: Setting, named: Collection[str]) -> Setting:
    """``changed``, with the monitors of the goals ``named`` for those too that are of one kind with them."""
    kinds = {goal.name: kind(goal, setting.overlap) for goal in setting.goals}
    first = {kinds[name]: changed.by_name[name] for name in named if name in kinds}
    others = (goal if goal.name in named else first.get(kinds[goal.name], goal) for goal in changed.goals)
    goals = tuple(replace(goal, name=name) for goal, name in zip(others, setting.names, strict=True))
    return replace(changed, goals=goals)


def _without(setting: Setting, changed: Setting, named: Collection[str]) -> Collection[str]:
    """The goals that need a monitor, and have none."""
    left = replace(changed, overlap=setting.overlap).of({*setting.names} - {*named})
    made = left.in_one_step(left.names)[1]
    return () if made is None else [*made.earlier]
