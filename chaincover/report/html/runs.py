"""The runs of a report: all traces as the waveform reads them, and what inputs and outputs did on the chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from bmc.errors import counted
from bmc.records import dataclass
from chaincover.formats.chain_file import violation_file
from chaincover.report.html.saved import Saved, SavedChain
from chaincover.report.html.summary import goals_of, has_deadline, hits_of, in_time, length_of, rulings_of
from chaincover.report.html.trace import (
    Trace,
    Variable,
    as_columns,
    chain_trace,
    judged_trace,
    log_trace,
    variables,
    violation_trace,
)

MOST_VALUES = 12
"""Values of an input that are listed as used or never used. Twice as many: a longer cell for inputs of wide ranges."""


Run = tuple[Trace, Sequence[Variable]]
"""A run, with the variables of its controller."""

Runs = Sequence[Run]


def traces(saved: Saved) -> Runs:
    """Each run with the variables of its controller: of every chain, violation and judgement, and of every log that no
    judgement is about."""
    found: list[Run] = []
    for chain in saved.chains:
        shown = variables(chain.data)
        trace = chain_trace(chain.data, shown, chain.file)
        found += [] if trace is None else [(trace, shown)]
    timed = [goal["name"] for goal in goals_of(saved) if has_deadline(goal)]
    for run, known in _beside_chains(saved):
        if run is not None:
            unknown = tuple(name for name in timed if name not in known)
            found.append((replace(run[0], unknown=unknown), run[1]))
    return found


def _beside_chains(saved: Saved) -> Iterator[tuple[Run | None, set[str]]]:
    """The other runs, as far as they are stored, each with the requirements that were judged on it."""
    for ruling in rulings_of(saved):
        yield violating_run(saved, ruling), {ruling["goal"]}
    for name, judged in saved.judged:
        yield judged_run(saved, name, judged), {goal["name"] for goal in judged["goals"] if "deadline" in goal}
    if saved.chains:
        shown = variables(saved.chains[0].data)
        seen = {PurePath(judged["on"]).name for _, judged in saved.judged if judged.get("tracks")}
        for name, lines in saved.logs:
            if name not in seen:
                yield (log_trace(name, lines, shown), shown), set()


def judged_run(saved: Saved, name: str, judged: Mapping[str, Any]) -> Run | None:
    """The run of the judgement in the file ``name``, beside the chain or the violation that was run; None where its
    values are not stored (those of a replay are only where they are not the chain's) or no chain tells of the
    variables."""
    if not saved.chains or not judged.get("tracks"):
        return None
    inputs = judged["chain"]
    home = next((chain for chain in saved.chains if inputs in _files_of(chain)), saved.chains[0])
    shown = variables(home.data)
    on = PurePath(judged.get("against") or judged["on"]).name
    own = f"{name} ({on.split(' (')[0]})"
    return judged_trace(own, judged, shown, _files_of(home).get(inputs, "")), shown


def _files_of(chain: SavedChain) -> dict[str, str]:
    """The files of a chain and of the violations beside it, with the names of their runs."""
    return {chain.file: chain.file} | {violation_file(goal): f"violation of {goal}" for goal in chain.violations}


def violating_run(saved: Saved, ruling: Mapping[str, Any]) -> Run | None:
    """The run that violates the requirement of a ruling; None where none is stored.

    It is told by the document of the chain, or of the summary, that has the ruling, with the table beside that.
    """
    goal, test = ruling["goal"], ruling.get("test")
    home = next((chain for chain in saved.chains if goal in chain.violations), None)
    if home is None or not test or not test.get("inputs"):
        return None
    shown = variables(home.data)
    return violation_trace(home.data, ruling, home.violations[goal], shown), shown


def waveform(saved: Saved, own: Runs) -> dict[str, Any]:
    """The data of the waveform of the runs ``own``: variables, values, goals and which of these are generated, the
    period in seconds or None."""
    if not own:
        return {"variables": [], "traces": [], "period": None, "generated": []}
    shown = own[0][1]
    names = [var.name for var in shown]
    controller = saved.chains[0].data["controller"]
    return {
        "variables": [
            {"name": var.name, "short": var.short, "role": var.role, "type": var.type, "labels": dict(var.labels)}
            for var in shown
        ],
        "traces": [as_columns(trace, shown) for trace, own_shown in own if [var.name for var in own_shown] == names],
        "period": controller.get("period"),
        "generated": [goal["name"] for goal in goals_of(saved) if goal.get("generated")],
    }


@dataclass(frozen=True)
class Use:
    """What a variable did on all chains: its values that were used and those that never were, how often it changed."""

    variable: Variable
    used: str
    never: str
    changes: int


def interface(every: Runs) -> list[Use]:
    """Inputs and outputs with what they did on the chains among the runs: what is never used, and the bench's wear."""
    own = [(trace, shown) for trace, shown in every if trace.kind == "chain"]
    if not own:
        return []
    found = []
    for var in own[0][1]:
        if var.role == "state":
            continue
        values: dict[Any, None] = {}
        changes = 0
        for trace, _ in own:
            column = trace.columns[var.name][: trace.length] if var.role == "inputs" else trace.columns[var.name]
            values |= dict.fromkeys(value for value in column if value is not None)
            changes += sum(a != b for a, b in pairwise(column))
        found.append(Use(var, _listed(var, [*values]), _never(var, set(values)), changes))
    return found


def _listed(var: Variable, values: list[Any]) -> str:
    """Values in order, by their labels; of many the first ones and their number."""
    numbers = all(isinstance(value, int | float) for value in values)
    ordered = sorted(values) if numbers else sorted(values, key=str)
    told = [var.called(value) for value in ordered[:MOST_VALUES]]
    if len(ordered) > MOST_VALUES:
        return f"{', '.join(told)} and {len(ordered) - MOST_VALUES} more"
    return ", ".join(told)


def _never(var: Variable, used: set[Any]) -> str:
    """The allowed values that no step uses, where the project allows few; what it allows where these are many."""
    allowed = _allowed(var.values)
    if allowed is None:
        return "" if not var.values else f"of {var.values}"
    never = [value for value in allowed if value not in used and var.called(value) not in used]
    return _listed(var, never)


def _allowed(text: str) -> list[int] | None:
    """The values that a text such as ``0..1`` or ``0, 50, 80`` stands for; None where these are very many."""
    found: list[int] = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        low, dots, high = part.partition("..")
        try:
            first = int(low)
            last = int(high) if dots else first
        except ValueError:
            return None
        if last - first > MOST_VALUES:
            return None
        found += range(first, last + 1)
    return found or None


def resets(saved: Saved) -> str:
    """What the chain saves against a test for each goal, in a sentence; '' without a chain."""
    length = length_of(saved)
    if length is None:
        return ""
    covered = hits_of(saved)
    saved_resets = len(covered) - len(saved.chains)
    if saved_resets <= 0:
        return ""
    controller = saved.chains[0].data["controller"]
    text = f"One test for each of the {len(covered)} goals takes {counted(len(covered), 'reset')}; this takes "
    text += f"{counted(len(saved.chains), 'reset')} and {in_time(length, controller.get('period'))}"
    each = controller.get("reset_seconds")
    if isinstance(each, int | float) and each:
        text += f", which saves {saved_resets * each / 60:.3g} minutes of resets at {each:g} s each"
    return f"{text}."
