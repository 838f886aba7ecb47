"""The best answer so far on disk: written as soon as there is one, and replaced by every better one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bmc.errors import ChainCoverError
from chaincover.progress import Progress
from chaincover.result import ChainResult

PART = 10
"""Between two writes at least so many times as long passes as the last one took."""

BOUND_SECONDS = 1.0
"""Seconds before a chain is written again that only has a higher bound."""


class Saving:
    """The listener of a run that hands every better answer to ``write``, and to ``progress``.

    An answer that comes soon after another one waits until something else happens: long chains take long to write.
    Where a file cannot be written, the run goes on, and says so once.
    """

    def __init__(
        self,
        progress: Progress,
        write: Callable[[ChainResult], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress, self._write, self._clock = progress, write, clock
        self._waiting: Callable[[], ChainResult] | None = None
        self._written: ChainResult | None = None
        self._next = self._last = clock()
        self._failed = False

    def __call__(self, text: str) -> None:
        """See the protocol."""
        self._progress(text)
        self._save()

    def improved(self, result: Callable[[], ChainResult]) -> None:
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
        if before is not None and before.chain == result.chain and begun < self._last + BOUND_SECONDS:
            self._waiting, self._next = (lambda: result), self._last + BOUND_SECONDS
            return
        self._progress.better(result)
        try:
            self._write(result)
            self._written = result
        except ChainCoverError as error:
            if not self._failed:
                self._progress.note(f"the result so far is not on disk: {error}")
            self._failed = True
        self._last = self._clock()
        self._next = self._last + PART * (self._last - begun)
