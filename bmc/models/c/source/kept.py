"""What reading a file has seen of the disk, so that its result can be used again as long as that stands."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import field
from typing import Generic, TypeVar

from bmc.errors import InputRefused
from bmc.limits import text_of
from bmc.records import dataclass

T = TypeVar("T")
MOST_KEPT = 16
"""Results that are kept. Twice as many: of a program with more files than this each is read once less, and they take
twice the memory."""


@dataclass(eq=False, slots=True)
class Seen:
    """The texts of the files that were read, by their paths, and where files were looked for, and whether in vain."""

    texts: dict[str, str] = field(default_factory=dict)
    looked_for: dict[str, bool] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """The text of a file; raises as ``text_of``."""
        self.texts[path] = text_of(path, "surrogateescape")
        return self.texts[path]

    def finds(self, path: str) -> bool:
        """Whether there is a file."""
        self.looked_for[path] = _is_there(path)
        return self.looked_for[path]

    def stands(self) -> bool:
        """Whether all of this is as it was."""
        try:
            same = all(text_of(path, "surrogateescape") == text for path, text in self.texts.items())
        except (OSError, InputRefused):
            return False
        return same and all(_is_there(path) == there for path, there in self.looked_for.items())


def _is_there(path: str) -> bool:
    return os.path.exists(path) and not os.path.isdir(path)


class Kept(Generic[T]):
    """The last results, each with what it rests on."""

    def __init__(self) -> None:
        self._all: dict[Hashable, tuple[T, Seen]] = {}

    def get(self, key: Hashable) -> T | None:
        """The result for ``key``; None where none is kept, or where the disk has changed."""
        result, seen = self._all.pop(key, (None, None))
        if result is None or seen is None or not seen.stands():
            return None
        self._all[key] = result, seen
        return result

    def keep(self, key: Hashable, result: T, seen: Seen) -> None:
        """Keep a result; of too many that which was used longest ago is forgotten."""
        self._all[key] = result, seen
        if len(self._all) > MOST_KEPT:
            del self._all[next(iter(self._all))]
