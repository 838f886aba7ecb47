"""``chaincover compare`` as a tool of a suite: one row for each ordering, on the same graph of a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench.tools.protocol import CRASHED, FINISHED, TIME_OUT, Outcome, Task
from benchmarks.bench.tools.values import refused
from chaincover.chain import NO_WAY_TO_FINAL, UNDECIDED
from chaincover.cli.compare import NAMES, SCHEMA, command

OPTIONS = {
    "ordering": "--ordering",
    "engine": "--engine",
    "overlap": "--overlap",
    "K": "--bound",
    "effort": "--effort",
    "query_limit": "--query-limit",
    "seeds": "--seeds",
}
"""Settings that are handed on as they are; of ``ordering`` each word is one of the orderings to compare."""

FLAGS = {"several": "--several"}
USED = 0.9
"""Part of the time that the command's own limits take: it has to write what it found."""


class Compare:
    """Orderings side by side: what each makes of one graph, and what users get with it.

    An outcome's chains, length and bound are those of ``generate`` with that ordering. The chains along its orders,
    repaired, are told in the note: their median, quartiles, and how many orders have none.
    """

    name = "compare"
    ends_when_asked = True
    settings = frozenset((*OPTIONS, *FLAGS))

    def missing(self) -> str:
        """It is ChainCover itself; an ordering whose library is missing has an outcome that says so."""
        return ""

    def refused(self, setting: str, value: str | int | float | bool) -> str:
        """See the protocol."""
        words = str(value).split() if setting == "ordering" else [value]
        option = OPTIONS.get(setting) or FLAGS[setting]
        return next(filter(None, (refused(command, option, word) for word in words)), "")

    def command(self, task: Task, folder: Path) -> Sequence[str]:
        """See the protocol. The time is divided among the graph, the orders and the final runs of all orderings."""
        arguments: list[str] = []
        names = str(task.settings.get("ordering", " ".join(NAMES))).split()
        for setting, value in task.settings.items():
            if setting in FLAGS:
                arguments += [FLAGS[setting]] if value else []
            elif setting != "ordering":
                arguments += [OPTIONS[setting], str(value)]
        for name in names:
            arguments += [OPTIONS["ordering"], name]
        seconds = USED * task.seconds / (1 + 2 * len(names))
        words = [sys.executable, "-m", "chaincover", "compare", str(task.project), *task.selection, *arguments]
        return [*words, "--time-limit", f"{seconds:.3f}", "-q", "-o", str(folder)]

    def read(self, folder: Path, code: int, log: str) -> tuple[Outcome, ...]:
        """See the protocol."""
        try:
            document = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
            if document["schema"] != SCHEMA:
                raise ValueError(f"schema {document['schema']}")
            outcomes = tuple(_outcome(document, row) for row in document["orderings"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return (Outcome(CRASHED),)
        status = TIME_OUT if document["stopped_by"] else CRASHED
        return outcomes or (Outcome(status, K=document["k"], note=document["stopped_by"] or "nothing was compared"),)


def _outcome(document: Mapping[str, Any], row: Mapping[str, Any]) -> Outcome:
    """The outcome of one ordering."""
    final, first = row["final"] or {}, (row["runs"] or [{}])[0]
    chains = final.get("chains") or None
    stages = {"graph": document["graph_seconds"]}
    stages |= {"order": row["order_seconds"]["median"]} if row["order_seconds"] else {}
    made = [run["chain_seconds"] for run in row["runs"]]
    stages |= {"chain": sorted(made)[len(made) // 2]} if made else {}
    stages |= {"final": final["seconds"]} if final else {}
    return Outcome(
        status=TIME_OUT if final.get("stopped_by") or (document["stopped_by"] and not final) else FINISHED,
        ordering=row["ordering"],
        chains=chains,
        length=final["length"] if chains else None,
        lower=final.get("lower"),
        minimal=bool(chains and final["minimal"]),
        fewest=bool(chains and final["fewest"]),
        K=document["k"],
        path_cost=first.get("path_cost"),
        verdicts={goal: _word(goal, final) for goal in final.get("verdicts", ())},
        stages=stages,
        versions=document["versions"],
        note="; ".join(_notes(row)),
    )


def _word(goal: str, final: Mapping[str, Any]) -> str:
    """The verdict of ``goal``; one that is not proved leaves it undecided."""
    word: str = final["verdicts"][goal]
    return UNDECIDED if word == NO_WAY_TO_FINAL and goal not in final["proved"] else word


def _notes(row: Mapping[str, Any]) -> list[str]:
    """What came of the orders, and what the paths cannot do."""
    notes, spread, runs = [], row["chain_length"], row["runs"]
    if runs:
        proved = sum(run["proved"] for run in runs)
        notes.append(f"{proved} of {len(runs)} orders proved least, {row['orders']} of them different")
    if spread:
        quartiles = f"[{spread['first']:g}, {spread['third']:g}]"
        without = sum(run["chain_length"] is None for run in runs)
        notes.append(f"chain along an order, repaired: median {spread['median']:g} {quartiles}, {without} without")
    for name in ("refinement", "path_constraints"):
        if row[name] and row[name]["length"] is not None:
            notes.append(f"{name.replace('_', ' ')}: {row[name]['length']}, {row[name]['tried']} tried")
    return [*notes, *([row["note"]] if row["note"] else [])]
