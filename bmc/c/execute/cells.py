"""Memory that knows what was written since it was forked, so that a join costs what its branches wrote.

Each copy of memory descends from *forks*, kept as a chain. Where two copies are joined, only keys written since the
last common fork can differ. A written key is *kept* if its content equals that at the fork wherever the path
condition of the copy is false: such a content stands for both sides of a join as it is, so that joining again and again
on the way out of nested branches, or up an ``else if`` chain, adds nothing to it. Any other written key is *open*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """Where copies part: ``opened`` and ``kept`` keys were written between ``parent`` and this fork."""

    parent: Fork | None
    depth: int
    opened: Mapping[Any, None]
    kept: Mapping[Any, None]


class Cells(dict[K, V]):
    """Contents by key; ``opened`` and ``kept`` are the keys written since ``fork``, in this order."""

    __slots__ = ("fork", "kept", "opened")

    def __init__(self, contents: Mapping[K, V] | None = None, fork: Fork | None = None) -> None:
        super().__init__(contents or {})
        self.fork = fork if fork is not None else Fork(None, 0, {}, {})
        self.opened: dict[K, None] = {}
        self.kept: dict[K, None] = {}

    def __setitem__(self, key: K, content: V) -> None:
        super().__setitem__(key, content)
        self.opened[key] = None

    def setdefault(self, key: K, content: V) -> V:
        if key not in self:
            self[key] = content
        return self[key]

    def update(self, contents: Mapping[K, V]) -> None:  # type: ignore[override]
        for key, content in contents.items():
            self[key] = content

    def put(self, key: K, content: V) -> None:
        """Set a content without noting that it was written."""
        super().__setitem__(key, content)

    def mark(self) -> Fork:
        """A new fork at this point, from which this memory goes on."""
        if self.opened or self.kept:
            self.fork = Fork(self.fork, self.fork.depth + 1, self.opened, self.kept)
            self.opened, self.kept = {}, {}
        return self.fork

    def copied(self) -> Cells[K, V]:
        """A copy that parts from this memory here."""
        return Cells(self, self.mark())

    def settle(self, fork: Fork) -> None:
        """Forget the forks since ``fork``; what was written since then is open."""
        opened, kept = self.written_since(fork)
        self.rebase(fork, {**opened, **kept}, {})

    def rebase(self, fork: Fork, opened: dict[K, None], kept: dict[K, None]) -> None:
        """Say anew what was written since ``fork``."""
        self.fork, self.opened, self.kept = fork, opened, kept

    def written_since(self, fork: Fork) -> tuple[dict[K, None], dict[K, None]]:
        """The keys written since ``fork``, which must be one that this memory descends from: (opened, kept)."""
        if self.fork is fork:
            return self.opened, self.kept
        layers: list[tuple[Mapping[Any, None], Mapping[Any, None]]] = [(self.opened, self.kept)]
        at = self.fork
        while at is not fork:
            layers.append((at.opened, at.kept))
            assert at.parent is not None
            at = at.parent
        opened: dict[K, None] = {}
        kept: dict[K, None] = {}
        for layer in reversed(layers):
            opened.update(layer[0])
            kept.update(layer[1])
        return opened, {key: None for key in kept if key not in opened}


def last_common(left: Cells[K, V], right: Cells[K, V]) -> Fork:
    """The last fork that both memories descend from; they must have one."""
    a, b = left.fork, right.fork
    while a is not b:
        if a.depth < b.depth:
            a, b = b, a
        assert a.parent is not None, "memories of different runs are joined"
        a = a.parent
    return a
