"""What values are called: the words of the code for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bmc.models.c.source.program import EnumConstant, Program, Unit
from bmc.system.names import IN, same_front

NUMBER = re.compile(r"(?:[\s(]|\(\s*[A-Za-z_][\w\s]*\))*(-?(?:0[xX][\da-fA-F]+|0|[1-9]\d*))[uUlL]*[\s)]*")
"""A whole number in C, with casts before it and in brackets."""

BLOCKS = re.compile(
    r"switch\s*\([^;{}]*?\b(?P<head>[A-Za-z_]\w*)[\s)]*\{|\bcase\s+\(?\s*(?P<case>[A-Za-z_]\w*)[\s)]*:|[{}]"
)
"""The head of a ``switch`` over a name, a case that is a word, or where a block begins or ends."""

NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.S)
"""Comments and texts."""


def value_names(program: Program, names: Iterable[str], texts: Iterable[str]) -> dict[str, dict[int, str]]:
    """What values are called of variables that code or ``texts`` set to, compare with or select by named constants.

    As generated code does with ``#define Chart_IN_Off ((uint8_T)1U)``, and much that is written by hand. A variable
    counts as a mode if the name of one such constant has ``_IN_`` in it, or two name two values; then constants whose
    names begin alike name further values.
    """
    found: dict[str, dict[int, str]] = {}
    of_last: dict[str, list[str]] = {}
    for name in names:
        of_last.setdefault(re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]$", "", name))[-1], []).append(name)
    for unit in program.units:
        text = "\n".join([Path(unit.source.file).read_text(encoding="utf-8", errors="replace"), *texts])
        compared = re.findall(r"(\w+)\s*[=!]?=\s*\(?([A-Za-z_]\w*)\b(?!\s*[(\[.]|->)", text)
        for last, word in dict.fromkeys([*compared, *_cases(text)]):
            number = _constant(unit, word) if last in of_last else None
            for name in of_last[last] if number is not None else ():
                found.setdefault(name, {}).setdefault(number or 0, word)
    chosen = {name: labels for name, labels in found.items() if len(labels) > 1 or any(map(IN.search, labels.values()))}
    for labels in chosen.values():
        front = same_front([*labels.values()])
        for unit in program.units if front and not IN.search(front) else ():
            for word in [word for word in unit.source.macro_names() if word.startswith(front)]:
                if (number := _constant(unit, word)) is not None:
                    labels.setdefault(number, word)
    return chosen


def _cases(text: str) -> list[tuple[str, str]]:
    """The last name in the head of each ``switch`` with each word that is one of its cases."""
    found, blocks = list[tuple[str, str]](), list[str]()
    for match in BLOCKS.finditer(NO_CODE.sub(" ", text)):
        if match[0].endswith("{"):
            blocks.append(match["head"] or "")
        elif match[0] == "}":
            blocks[-1:] = []
        else:
            head = next((block for block in reversed(blocks) if block), "")
            found.append((head, match["case"]))
    return found


def _constant(unit: Unit, word: str) -> int | None:
    """The whole number that a macro or an enumeration constant stands for."""
    binding = unit.scope.names.get(word)
    if isinstance(binding, EnumConstant):
        return binding.value
    if word not in unit.source.macros:
        return None
    number = NUMBER.fullmatch(unit.source.expand(word))
    return int(number[1], 0) if number else None
