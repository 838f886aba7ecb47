"""How deep code may be nested: a limit far above real code, checked, so that deeper code is refused with its line.

Up to these limits everything is read and encoded (docs/adr/0007-reading-at-scale.md): the parser and the executor
recurse along the nesting in a thread with a large stack, all that walks formulas does so without recursion.
"""

from __future__ import annotations

import re
from typing import Any

from bmc.errors import Location, UnsupportedConstruct

DEEPEST = 10_000
"""Most levels of syntax: brackets, blocks, operators (``a + b + c`` is two levels), links of an ``else if`` chain."""
DEEPEST_RUN = DEEPEST // 3
"""Most pairs of brackets one right after the other, such as the dimensions of one array: the parser goes through them
once for each."""
DEEPEST_CALL = 1_000
"""Most functions that are active at once."""
DEEPEST_TYPE = 200
"""Most structs one within the other."""

_TOKEN = re.compile(r'#line (\d+)(?: "([^"\n]*)")?[^\n]*\n|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[][(){}\n]')
_HINT = "generate or write flatter code: more functions, a switch, or an array"


def too_deep(what: str, limit: int, where: Location) -> UnsupportedConstruct:
    """The refusal of code that is nested more than ``limit`` levels deep."""
    return UnsupportedConstruct(f"unsupported C construct: {what} nested more than {limit:,} deep", where, _HINT)


def check_brackets(text: str, file: str) -> None:
    """UnsupportedConstruct with the line where brackets of preprocessed ``text`` nest deeper than ``DEEPEST``.

    The same where more than ``DEEPEST_RUN`` of them stand one right after the other.
    """
    if max(text.count(opening) for opening in "([{") <= min(DEEPEST_RUN, DEEPEST // 3):
        return
    depth, line = 0, 1
    runs = [0]
    """How many brackets stand in a row, for each level."""
    closed = 0
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if sign in "([{":
            after = closed > 0 and not text[closed : token.start()].strip()
            runs[-1] = runs[-1] + 1 if after else 1
            runs.append(0)
            depth += 1
            if depth > DEEPEST:
                raise too_deep("brackets", DEEPEST, Location(file, line))
            if runs[-2] > DEEPEST_RUN:
                raise too_deep("dimensions, parameters or arguments", DEEPEST_RUN, Location(file, line))
        elif sign in ")]}":
            depth -= 1
            closed = token.end()
            if len(runs) > 1:
                runs.pop()
        elif sign == "\n":
            line += 1
        elif token[1]:
            line, file = int(token[1]), token[2] or file


def check_tree(tree: Any) -> None:
    """UnsupportedConstruct with the line where a syntax tree is deeper than ``DEEPEST``."""
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in node]
        if not level:
            return
    place = next((node.coord for node in level if node.coord), None)
    where = Location(place.file or "", place.line or 0, place.column or 0) if place else Location("")
    raise too_deep("syntax", DEEPEST, where)
