"""The goals that a certificate speaks of, where these are goals of one step by their monitors.

The monitors are made again from the goals that the file names (``properties.one_step``); what the certificate says of
them must be that. Whether a chain covers its goals is judged by these as they are, never by a monitor.
"""

from __future__ import annotations

from bmc.errors import counted
from chaincover.certificate import Certificate, monitor_texts
from chaincover.verify.report import HOLDS, UNCLAIMED, WRONG, Line, limited
from chaincover.verify.setting import Setting

MONITORS = "monitors"


def monitored_setting(setting: Setting, proof: Certificate | None) -> tuple[Setting, Line]:
    """``setting`` with the monitors that ``proof`` speaks of, and whether they are those of its goals."""
    if proof is None or not proof.monitors:
        return setting, Line(MONITORS, UNCLAIMED, "the certificate speaks of goals as they are")
    changed, made = setting.in_one_step(proof.monitors)
    expected = {} if made is None else monitor_texts(made)
    names = [name for name in {**expected, **proof.monitors} if expected.get(name) != proof.monitors.get(name)]
    if names or made is None:
        details = tuple(f"{name}: {expected.get(name, 'of no goal that the file names')}" for name in names)
        return setting, Line(MONITORS, WRONG, f"{counted(len(names), 'monitor')} not as goals ask", limited(details))
    text = f"{counted(len(made.goals), 'goal')} told by one step each, made again from the properties"
    return changed, Line(MONITORS, HOLDS, text)
