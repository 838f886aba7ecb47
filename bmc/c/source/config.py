"""What the project says about its C sources: plain data for the front end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bmc.errors import Location


@dataclass(frozen=True)
class SourceConfig:
    """Sources, functions and interface of one controller (docs/project-file.md names every key).

    ``init`` and ``step`` are function names or, for ``init``, calls; the empty ``step`` stands for the paper's
    convention (``compute``). Patterns are shell patterns over full variable names, or unambiguous tails.
    ``ranges`` maps a variable to the text of its allowed values: ``"0..9"`` or a tuple of constants.
    ``input_functions``, ``output_functions`` and ``status_functions`` are patterns of functions that no source defines,
    ``shared`` names the variables that several of them share. ``values`` maps what no source defines (an object, a
    function's result) to the text of its start value.
    ``where`` is the project file, for messages.
    """

    name: str
    files: tuple[str, ...]
    include: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    target: str = "lp64"
    init: tuple[str, ...] | None = None
    step: str = ""
    input: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    ranges: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    at_most_one: tuple[tuple[str, ...], ...] = ()
    exactly_one: tuple[tuple[str, ...], ...] = ()
    assume: tuple[str, ...] = ()
    assumption: str = ""
    invariant: tuple[str, ...] = ()
    input_functions: tuple[str, ...] = ()
    output_functions: tuple[str, ...] = ()
    status_functions: tuple[str, ...] = ()
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    where: Location | None = None
    pass_errors: bool = False
    """Whether ``#error`` directives are passed over."""
