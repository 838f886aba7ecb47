"""Lists for the reference, as Markdown, made from the code."""

from __future__ import annotations

from collections.abc import Callable

MAKERS: dict[str, Callable[[], str]] = {}
