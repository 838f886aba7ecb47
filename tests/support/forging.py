"""Documents with one field changed, and what ``verify`` says of them, without reading the program each time anew."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import Any
from unittest import mock

from pysmt.fnode import FNode

from bmc.system.transition import TransitionSystem
from chaincover.project.load import Controller, Request
from chaincover.verify import several, verification
from chaincover.verify.document import Document, load_for, read_document
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.report import Verification
from chaincover.verify.states import Table, tabulate
from chaincover.verify.verification import verify

Tree = Any
Place = tuple[str | int, ...]

LIMITS = Limits(explored=100_000)

GONE = object()
"""In the place of a value: its key is left out."""


def places(tree: Tree, place: Place = ()) -> Iterator[Place]:
    """All places in ``tree``: those of values, of objects and of lists."""
    if place:
        yield place
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, (*place, key))


def path_of(place: Place) -> str:
    """The path of the field at ``place``, without the numbers of entries."""
    return ".".join(key for key in place if isinstance(key, str))


def value_at(tree: Tree, place: Place) -> Tree:
    for key in place:
        tree = tree[key]
    return tree


def other_values(value: Tree) -> list[Tree]:
    """Values in the place of ``value``: of its type, of another one, nothing, and none at all."""
    return [other for other in _values(value) if type(other) is not type(value) or other != value]


def _values(value: Tree) -> list[Tree]:
    if isinstance(value, bool):
        return [not value, int(value), None, GONE]
    if isinstance(value, int):
        return [value + 1, value - 1, float(value), str(value), None, GONE]
    if isinstance(value, float):
        return [value + 0.25, nan, str(value), None, GONE]
    if isinstance(value, str):
        return [value + "x", "", [value], None, GONE]
    if value is None:
        return [1, "x", [], {}, GONE]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[-1:]], [*value, 1], {}, None, GONE] if value else [[1], {}, None, GONE]
    fewer: list[Tree] = [{name: one for name, one in value.items() if name != left} for left in list(value)[:1]]
    return [*fewer, {**value, "unknown": 1}, [], None, GONE]


def changed(document: Tree, *changes: tuple[Place, Tree]) -> Tree:
    """A copy of ``document`` with other values; a change whose place is there no more is left out."""
    found = copy.deepcopy(document)
    for place, value in changes:
        try:
            within = value_at(found, place[:-1])
            if value is GONE:
                del within[place[-1]]
            elif isinstance(within, dict) or place[-1] < len(within):
                within[place[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    return found


class Kept:
    """Verifies documents of one program: it is read once for each choice of goals, and its states are listed once."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project, self.folder = str(project), folder
        self._controllers: dict[str, Controller] = {}
        self._tables: dict[object, tuple[TransitionSystem, Table | None]] = {}

    def verify(self, document: Tree, limits: Limits = LIMITS) -> Verification:
        """What is said of ``document``. ChainCoverError where it cannot be read."""
        place = self.folder / "chain.json"
        place.write_text(json.dumps(document))
        with self._kept():
            read = read_document(place)
            return verify(self._load(read, Request(self.project)), read, limits)

    def verify_chains(self, summary: Tree, limits: Limits = LIMITS) -> Verification:
        """What is said of ``summary`` and of the chains in the folder. ChainCoverError where they cannot be read."""
        place = self.folder / "chains.json"
        place.write_text(json.dumps(summary))
        with self._kept():
            return several.verify_chains(place, Request(self.project), limits)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        with (
            mock.patch.object(verification, "tabulate", self._table),
            mock.patch.object(several, "load_for", self._load),
        ):
            yield

    def _load(self, document: Document, request: Request) -> Controller:
        asked = [(goal.name, goal.property, goal.generated) for goal in document.goals]
        key = repr((document.settings, asked))
        if key not in self._controllers:
            self._controllers[key] = load_for(document, request)
        return self._controllers[key]

    def _table(self, system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> Table | None:
        key = id(system), tuple(formulas), clock.limits.explored
        if key not in self._tables:
            self._tables[key] = system, tabulate(system, formulas, clock)
        return self._tables[key][1]
