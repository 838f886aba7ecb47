"""Drawings, as SVG in Markdown: colours are those of the theme."""

from __future__ import annotations

from collections.abc import Callable

MAKERS: dict[str, Callable[[], str]] = {"flow": lambda: "flow"}
