"""The best answer so far on disk: written as soon as there is one, and replaced by every better one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from bmc.errors import ChainCoverError
from chaincover.progress import Progress

PART = 10
"""Between two writes at least so many times as long passes as the last one took."""

BOUND_SECONDS = 1.0
"""Seconds before a chain is written again that only has a higher bound."""


T = TypeVar("T")


@dataclass(frozen=True)
class Answers(Generic[T]):
    """How answers of one kind are written to disk, described in a line, and what of them is more than a bound."""

    write: Callable[[T], None]
    described: Callable[[T], str]
    chains: Callable[[T], object]


class Saving(Generic[T]):
    """The listener of a run that writes every better answer, and describes it to ``progress``.

    An answer that comes soon after another one waits until something else happens: long chains take long to write.
    Where a file cannot be written, the run goes on, and says so once.
    """

    def __init__(self, progress: Progress, answers: Answers[T], clock: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._answers, self._clock = progress, answers, clock
        self._waiting: Callable[[], T] | None = None
        self._written: T | None = None
        self._next = self._last = clock()
        self._failed = False

    def __call__(self, text: str) -> None:
        """See the protocol."""
        self._progress(text)
        self._save()

    def improved(self, result: Callable[[], T]) -> None:
        """See the protocol."""
        self._waiting = result
        self._save()

    @contextmanager
    def kept(self, folder: Path) -> Iterator[None]:
        """Where a fault ends what is done inside, the best answer so far is in ``folder``, and that is said."""
        try:
            yield
        except Exception:
            self._next = self._last = float("-inf")
            self._save()
            if self._written is not None:
                self._progress.note(f"the best result so far is in {folder}/")
            raise

    def _save(self) -> None:
        begun = self._clock()
        if self._waiting is None or begun < self._next:
            return
        result, self._waiting = self._waiting(), None
        before = self._written
        if before is not None and self._same_chains(before, result) and begun < self._last + BOUND_SECONDS:
            self._waiting, self._next = (lambda: result), self._last + BOUND_SECONDS
            return
        self._progress.better(self._answers.described(result))
        try:
            self._answers.write(result)
            self._written = result
        except ChainCoverError as error:
            if not self._failed:
                self._progress.note(f"the result so far is not on disk: {error}")
            self._failed = True
        self._last = self._clock()
        self._next = self._last + PART * (self._last - begun)

    def _same_chains(self, before: T, result: T) -> bool:
        return self._answers.chains(before) == self._answers.chains(result)
