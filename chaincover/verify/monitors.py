"""The goals that a certificate speaks of, where these are goals of several steps by their monitors.

The monitors are made again from the goals that the file names (``properties.one_step``); what the certificate says of
them must be that. Whether a chain covers its goals is judged by these as they are, never by a monitor.
"""

from __future__ import annotations

from dataclasses import replace

from bmc.errors import counted
from bmc.system.memory import with_memory
from chaincover.certificate import Certificate, monitor_texts
from chaincover.verify.report import HOLDS, UNCLAIMED, WRONG, Line, limited
from chaincover.verify.setting import Setting
from properties.one_step import in_one_step

MONITORS = "monitors"


def monitored_setting(setting: Setting, proof: Certificate | None) -> tuple[Setting, Line]:
    """``setting`` with the monitors that ``proof`` speaks of, and whether they are those of its goals."""
    if proof is None or not proof.monitors:
        return setting, Line(MONITORS, UNCLAIMED, "the certificate speaks of goals as they are")
    named = [goal for goal in setting.goals if goal.name in proof.monitors]
    others = [goal for goal in setting.goals if goal.name not in proof.monitors]
    inputs = {var.name for var in setting.system.inputs}
    made, expected = in_one_step([*named, *others], inputs), monitor_texts(in_one_step(named, inputs))
    goals = {goal.name: goal for goal in made.goals}
    changed = replace(
        setting,
        system=with_memory(setting.system, made.variables),
        goals=tuple(goals[goal.name] for goal in setting.goals),
    )
    names = [name for name in {**expected, **proof.monitors} if expected.get(name) != proof.monitors.get(name)]
    if names:
        details = tuple(f"{name}: {expected.get(name, 'no goal of several steps')}" for name in names)
        return changed, Line(MONITORS, WRONG, f"{counted(len(names), 'monitor')} not as the goals ask", limited(details))
    text = f"{counted(len(named), 'goal')} of several steps told by one, as the properties ask"
    return changed, Line(MONITORS, HOLDS, text)
