"""What preprocessing makes of a source file and of its lines."""

from __future__ import annotations

from collections.abc import Sequence

from bmc.models.c.source.macros import MOST_KEPT, Expansion, Macro
from bmc.models.c.source.tokens import WORDS, Token, rows_of, spelled, tokens_of
from bmc.records import dataclass


@dataclass(frozen=True)
class PreprocessedUnit:
    """One translation unit as plain C with line markers, and the macros that are defined at its end."""

    file: str
    text: str
    macros: dict[str, Macro]
    expansion: Expansion
    stand_ins: tuple[tuple[str, str], ...] = ()
    """Vendor headers that were not found: the name in the #include, and the path of the bundled stand-in."""
    stubs: tuple[tuple[str, bool], ...] = ()
    """Files that were guessed: the name, and whether the user has confirmed it."""
    compiler_folders: tuple[str, ...] = ()
    """The folders of the compiler's own headers from which some were read."""

    def expand(self, text: str) -> str:
        """``text`` with this unit's macros expanded."""
        if self.macros.keys().isdisjoint(WORDS.findall(text)):
            return text
        tokens = [token for row in rows_of(text) for token in tokens_of(row)]
        with self.expansion.apart(tokens):
            return spelled(self.expansion.rest())

    def macro_names(self) -> list[str]:
        """Names of the macros that stand for something and have no parameters: not those that guard a header."""
        return sorted(name for name, macro in self.macros.items() if macro.parameters is None and macro.body)


@dataclass(frozen=True, slots=True)
class Expanded:
    """What a line of text expands to where the names that were looked up stand for these macros: the ``text``, the
    ``column`` behind it, its ``last`` token, and how much ``work`` that was."""

    met: Sequence[tuple[str, Macro | None]]
    text: str
    column: int
    last: Token | None
    work: int


expanded: dict[str, Expanded] = {}
"""By the lines of the files that were read."""


def keep_expanded(line: str, result: Expanded) -> None:
    """Keep what a line expands to; where too many are kept, all others are forgotten."""
    if len(expanded) >= MOST_KEPT:
        expanded.clear()
    expanded[line] = result
