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
    """UnsupportedConstruct with the line where brackets of preprocessed ``text`` nest deeper than ``DEEPEST``."""
    if max(text.count(opening) for opening in "([{") <= DEEPEST // 3:
        return
    depth, line = 0, 1
    for token in _TOKEN.finditer(text):
        sign = token.group()
        if sign in "([{":
            depth += 1
            if depth > DEEPEST:
                raise too_deep("brackets", DEEPEST, Location(file, line))
        elif sign in ")]}":
            depth -= 1
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
