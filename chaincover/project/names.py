"""What variables and their values are called in tables: names cut where they are equal, modes by the code's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from bmc.models.c.controller.model import CModel
from bmc.models.c.source.program import EnumConstant, Unit

Labels = Mapping[str, Mapping[int, str]]
"""By variable: what its values are called."""

NO_CHILD = "NO_ACTIVE_CHILD"
"""What generated code calls a state none of whose substates is active; it is shown as ``(none)``."""

IN = re.compile(r"(?:^|_)IN_")
"""What the names of states have in them in generated code."""

NUMBER = re.compile(r"(?:[\s(]|\(\s*[A-Za-z_][\w\s]*\))*(-?(?:0[xX][\da-fA-F]+|0|[1-9]\d*))[uUlL]*[\s)]*")
"""A whole number in C, with casts before it and in brackets."""


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Each name without what stands before its last parts, as far as no other name ends in the same parts."""
    parts = {name: re.split(r"(?<=->)|(?<=\.)|(?<=::)", name) for name in names}
    tails = Counter("".join(of[-count:]) for of in parts.values() for count in range(1, len(of) + 1))
    short = {}
    for name, of in parts.items():
        own = ("".join(of[-count:]) for count in range(1, len(of)))
        short[name] = next((tail for tail in own if tails[tail] == 1), name).lstrip("*")
    return short if len(set(short.values())) == len(short) else {name: name for name in names}


def modes(model: CModel, names: Iterable[str], texts: Iterable[str] = ()) -> dict[str, dict[int, str]]:
    """What values are called of variables that code or ``texts`` set to named constants, or compare with them.

    As generated code does with ``#define Chart_IN_Off ((uint8_T)1U)``, and much that is written by hand. A variable
    counts as a mode if the name of one such constant has ``_IN_`` in it, or two name two values; then constants whose
    names begin alike name further values.
    """
    found: dict[str, dict[int, str]] = {}
    of_last: dict[str, list[str]] = {}
    for name in names:
        of_last.setdefault(re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]$", "", name))[-1], []).append(name)
    for unit in model.program.units:
        text = "\n".join([Path(unit.source.file).read_text(encoding="utf-8", errors="replace"), *texts])
        for last, word in dict.fromkeys(re.findall(r"(\w+)\s*[=!]?=\s*\(?([A-Za-z_]\w*)\b(?!\s*[(\[.]|->)", text)):
            number = _constant(unit, word) if last in of_last else None
            for name in of_last[last] if number is not None else ():
                found.setdefault(name, {}).setdefault(number or 0, word)
    chosen = {name: labels for name, labels in found.items() if len(labels) > 1 or any(map(IN.search, labels.values()))}
    for labels in chosen.values():
        front = same_front([*labels.values()])
        for unit in model.program.units if front and not IN.search(front) else ():
            for word in [word for word in unit.source.macro_names() if word.startswith(front)]:
                if (number := _constant(unit, word)) is not None:
                    labels.setdefault(number, word)
    return chosen


def _constant(unit: Unit, word: str) -> int | None:
    """The whole number that a macro or an enumeration constant stands for."""
    binding = unit.scope.names.get(word)
    if isinstance(binding, EnumConstant):
        return binding.value
    if word not in unit.source.preprocessor.macros:
        return None
    number = NUMBER.fullmatch(unit.source.expand(word))
    return int(number[1], 0) if number else None


def without_front(labels: Mapping[int, str]) -> dict[int, str]:
    """``labels`` without what all of them begin with, whole words only, and without what stands before ``_IN_``."""
    texts = [re.sub(r"^(?:.*_)?IN_", "", label) for label in labels.values()]
    front = same_front(texts)
    cut = ["(none)" if text == NO_CHILD else text.removeprefix(front) for text in texts]
    whole = len(set(cut)) < len(cut) or not all(re.match(r"[A-Za-z(]", text) for text in cut)
    return dict(zip(labels, labels.values() if whole else cut, strict=True))


def same_front(texts: Sequence[str]) -> str:
    """The words, each with its underscore, that several texts begin with."""
    words = [re.findall(r"[^_]*_", text) for text in texts]
    same = takewhile(lambda at: len(set(at)) == 1, zip(*words, strict=False))
    return "".join(each[0] for each in same) if len(texts) > 1 else ""
