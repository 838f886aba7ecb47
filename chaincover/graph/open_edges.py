"""The edges of one source that are still open: what is known of them, and at which distances to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bmc.engines.protocol import Group
from chaincover.weights import Edge

Question = list[tuple[str, int]]
"""Targets with distances: is one of them met?"""

Upper = dict[Edge, int]
"""Distances in steps that runs were seen to make."""


@dataclass
class Row:
    """What is known of the edges from ``source``, by target.

    ``pending`` has each open edge's least distance that is still to ask for, ``lower`` the least one not proved
    impossible, ``weights`` the distance where it is found. At the targets ``unknown`` the solver gave up.
    """

    source: str
    pending: dict[str, int]
    lower: dict[str, int]
    weights: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)

    def rule_out(self, target: str, distance: int, proved: bool) -> None:
        """Move ``target`` beyond a distance; its lower bound follows only as far as all was ``proved``."""
        self.pending[target] = max(self.pending[target], distance + 1)
        if not proved:
            self.unknown[target] = None
        elif target not in self.unknown:
            self.lower[target] = self.pending[target]


class OpenEdges:
    """The distances to ask for up to ``to``: for each target of ``row`` a range, ``ranges``.

    Targets whose distance is known by now leave ``row.pending``. ``asked`` is for the question about them.
    """

    def __init__(self, row: Row, upper: Mapping[Edge, int], to: int) -> None:
        self.row = row
        self.ranges: dict[str, tuple[int, int]] = {}
        self.asked: tuple[int, Group] | None = None
        self._to = to
        self._least: int | None = None
        for target in list(row.pending):
            self.look(target, upper)

    def look(self, target: str, upper: Mapping[Edge, int]) -> None:
        """Take note of what ``upper`` and the row say of a pending ``target``."""
        first = self.row.pending[target]
        known = upper.get((self.row.source, target), self._to + 1)
        last = min(self._to, known - 1)
        self.asked = self._least = None
        if known <= min(first, self._to):
            self.row.weights[target] = known
            del self.row.pending[target]
        if first <= last:
            self.ranges[target] = first, last
        else:
            self.ranges.pop(target, None)

    def take_hits(self, found: Mapping[str, int], upper: Mapping[Edge, int], nearest: int) -> bool:
        """Take note of new distances ``found``; whether they answer a question about distances up to ``nearest``."""
        hit = False
        for target, distance in found.items():
            if target in self.ranges:
                first, last = self.ranges[target]
                hit = hit or (first <= nearest and distance <= min(last, nearest))
            if target in self.row.pending:
                self.look(target, upper)
        return hit

    def rule_out(self, upper: Mapping[Edge, int], nearest: int) -> None:
        """No run meets a target at a distance of ``ranges`` up to ``nearest``."""
        for target, (first, last) in list(self.ranges.items()):
            if first <= nearest:
                self.row.rule_out(target, min(last, nearest), proved=True)
                self.look(target, upper)

    @property
    def least(self) -> int:
        """The least distance to ask for; there is one."""
        if self._least is None:
            self._least = min(first for first, _ in self.ranges.values())
        return self._least

    def up_to(self, nearest: int) -> Question:
        """The targets with the distances to ask for, up to ``nearest``."""
        found: Question = []
        for target, (first, last) in self.ranges.items():
            if first == last <= nearest:
                found.append((target, first))
            else:
                found += [(target, d) for d in range(first, min(last, nearest) + 1)]
        return found
