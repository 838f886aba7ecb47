"""Progress on stderr, and the seconds that each stage took."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import click


@dataclass
class Progress:
    """Messages on stderr: none with -q, one line each with -v, else a line that replaces itself on a terminal."""

    verbosity: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def __call__(self, text: str) -> None:
        if self.verbosity > 0:
            click.echo(text, err=True)
        elif self.verbosity == 0 and sys.stderr.isatty():
            click.echo(f"\r\x1b[K{text[:100]}", err=True, nl=False)

    def done(self) -> None:
        """Clear the line."""
        if self.verbosity == 0 and sys.stderr.isatty():
            click.echo("\r\x1b[K", err=True, nl=False)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        self(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
