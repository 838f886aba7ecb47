"""Listeners of runs: what they are told is kept, and may stop the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Told:
    """Keeps all messages, and every answer of an improvement. ``stop_at``: a message that begins so is an interrupt."""

    def __init__(self, *stop_at: str) -> None:
        self._stop_at = stop_at
        self.texts: list[str] = []
        self.results: list[Any] = []

    def __call__(self, text: str) -> None:
        self.texts.append(text)
        if text.startswith(self._stop_at):
            raise KeyboardInterrupt

    def improved(self, result: Callable[[], Any]) -> None:
        self.results.append(result())

    def said(self, part: str) -> bool:
        """Whether some message has ``part`` in it."""
        return any(part in text for text in self.texts)
