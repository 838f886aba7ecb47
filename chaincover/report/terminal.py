"""Standard output as every command writes it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def console() -> Console:
    """Standard output; wide enough for tables when it is not a terminal."""
    out = Console(highlight=False, soft_wrap=False)
    return out if out.is_terminal else Console(highlight=False, width=max(out.width, 140))


def say(out: Console, text: str, style: str = "") -> None:
    """One line, never broken."""
    out.print(Text(text, style), soft_wrap=True)
