"""The K-reachability graph on disk, used again while program, goals and settings are unchanged.

The key is a digest of the transition system's formulas, so that it changes with whatever changes behaviour, and not
with a comment.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

from pysmt.fnode import FNode
from pysmt.smtlib.printers import to_smtlib

from chaincover.formats.output import CannotWrite, write_text
from chaincover.graph.reachability import Level
from chaincover.problem import Problem
from chaincover.weights import Edge

SCHEMA = "chaincover/graph-cache/4"
MOST_FILES = 500
"""Above this the files not used for longest are removed."""


def default_folder() -> Path:
    """``$XDG_CACHE_HOME/chaincover``, else ``~/.cache/chaincover``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "chaincover"


def graph_key(problem: Problem, settings: Iterable[object]) -> str:
    """A digest of all that the graph depends on; ``settings``: largest K, effort, engine, versions."""
    digest = hashlib.sha256()

    def add(*parts: object) -> None:
        for part in parts:
            text = to_smtlib(part, daggify=True) if isinstance(part, FNode) else repr(part)
            digest.update(f"{len(text)} {text}\n".encode())

    system = problem.system
    add(SCHEMA, problem.overlap, *settings)
    for var in system.state:
        add(var.name, var.type.bits, var.next, var.init)
    for given in system.inputs:
        add(given.name, given.type.bits, given.values)
    add(system.input_constraint, system.defined)
    for invariant in system.invariants:
        add(invariant.name, invariant.formula, invariant.proved)
    for goal in problem.goals:
        add(goal.name, goal.antecedent, goal.length)
    add(problem.final)
    return digest.hexdigest()


class GraphCache:
    """Graphs in ``folder``, one file each. What cannot be read is not there; what cannot be written is left out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def levels(self, key: str) -> tuple[Level, ...]:
        """The levels kept under ``key``; none if there are none or the file is damaged."""
        place = self._place(key)
        try:
            data = json.loads(place.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA or data["key"] != key or data["digest"] != _digest(data["levels"]):
                return ()
            found = tuple(_level(level) for level in data["levels"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()
        with suppress(OSError):
            os.utime(place)
        return found

    def keep(self, key: str, levels: Sequence[Level]) -> None:
        """Write ``levels`` under ``key``, whole or not at all; only those before the solver gave up on an edge.

        What it gave up on is asked again by the next run, which may allow more work.
        """
        rows = [_as_data(level) for level in takewhile(lambda level: not level.unknown, levels)]
        if not rows:
            return
        data = {"schema": SCHEMA, "key": key, "digest": _digest(rows), "levels": rows}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_text(self._place(key), json.dumps(data))
            self._prune()
        except (OSError, CannotWrite):
            return

    def _place(self, key: str) -> Path:
        return self._folder / f"graph-{key[:32]}.json"

    def _prune(self) -> None:
        files = sorted(self._folder.glob("graph-*.json"), key=lambda place: place.stat().st_mtime)
        for place in files[: max(0, len(files) - MOST_FILES)]:
            place.unlink(missing_ok=True)


def _digest(rows: Any) -> str:
    """Shows a damaged file: a wrong distance would make a wrong proof."""
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _as_data(level: Level) -> dict[str, Any]:
    return {
        "depth": level.depth,
        "weights": _edges_as_data(level.weights),
        "lower": _edges_as_data(level.lower),
        "pending": _edges_as_data(level.pending),
        "upper": _edges_as_data(level.upper),
        "unknown": [list(edge) for edge in level.unknown],
        "unsatisfiable": list(level.unsatisfiable),
    }


def _level(data: Mapping[str, Any]) -> Level:
    return Level(
        depth=int(data["depth"]),
        weights=_edges(data["weights"]),
        lower=_edges(data["lower"]),
        pending=_edges(data["pending"]),
        upper=_edges(data["upper"]),
        unknown=tuple((str(a), str(b)) for a, b in data["unknown"]),
        unsatisfiable=tuple(str(name) for name in data["unsatisfiable"]),
    )


def _edges_as_data(edges: Mapping[Edge, int]) -> list[list[Any]]:
    return [[a, b, steps] for (a, b), steps in edges.items()]


def _edges(rows: Sequence[Sequence[Any]]) -> dict[Edge, int]:
    return {(str(a), str(b)): int(steps) for a, b, steps in rows}
