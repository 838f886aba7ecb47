"""Names of variables: full ones, tails and patterns that stand for them, and what was probably meant by others."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from bmc.errors import InputRefused, Location

DEFINED = "#defined"
"""Suffix of the Boolean that tells whether a variable that init leaves open has been set."""

IN = re.compile(r"(?:^|_)IN_")
"""What the names of states have in them in generated code."""


class UnknownName(InputRefused):
    """A name or pattern stands for no variable, or for several."""


def find_variable(
    text: str, names: Sequence[str], where: Location | None, extra: Sequence[str] = (), what: str = "variable"
) -> str:
    """The full name that ``text`` (a full name or an unambiguous tail) stands for.

    ``extra`` are further words for the suggestion. UnknownName for an unknown or ambiguous name.
    """
    if text in names:
        return text
    found = with_tail(text, names)
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownName(
            f"the name '{text}' is ambiguous: {', '.join(found[:6])}",
            where,
            f"write the full name, such as '{min(found, key=len)}'",
        )
    raise UnknownName(f"unknown {what} '{text}'", where, suggestion(text, [*names, *extra]))


def with_tail(text: str, names: Iterable[str]) -> list[str]:
    """Those of ``names`` that end in ``text``, a whole part of them."""
    loose = text.replace("->", ".").replace("*", "").strip()
    return [name for name in names if _has_tail(name, loose)]


def _has_tail(name: str, tail: str) -> bool:
    """Whether ``name`` ends in ``tail``, a whole part of it.

    Functions of a run-time environment have names made of ports: there a tail may begin after any underscore, and leave
    out the parameter.
    """
    plain = name.replace("->", ".").replace("*", "")
    if plain == tail or re.search(r"(\.|::)" + re.escape(tail) + "$", plain):
        return True
    return plain.startswith("Rte_") and bool(re.search("_" + re.escape(tail) + "(::[^:]*)?$", plain))


_SHORT = 3
"""Words up to this length are in many names."""


def suggestion(text: str, names: Iterable[str]) -> str:
    """A hint that names what was probably meant."""
    import difflib

    pool: dict[str, str] = {}
    for name in names:
        pool.setdefault(name, name)
        pool.setdefault(re.split(r"->|\.|::", name)[-1], name)
    word = text.lower()
    close = [known for known in pool if len(word) > _SHORT and word in known.lower()][:3]
    close = close or difflib.get_close_matches(text, pool, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(repr(c) for c in dict.fromkeys(pool[c] for c in close))}?"
    shown = sorted(set(pool.values()))[:8]
    return f"known names are {', '.join(shown)}" if shown else "nothing is known by name here"


def matching(patterns: Sequence[str], names: Sequence[str], where: Location | None, what: str) -> dict[str, str]:
    """The full names that patterns or tails select, each with the pattern that selected it first."""
    chosen: dict[str, str] = {}
    for pattern in patterns:
        regex = re.compile(_translate(pattern))
        found = [name for name in names if regex.fullmatch(name)]
        if not found and not any(c in pattern.replace("->*", "").lstrip("*") for c in "*?"):
            found = _below(pattern, names)
        if not found:
            found = [find_variable(pattern, names, where, what=what)]
        for name in found:
            chosen.setdefault(name, pattern)
    return chosen


def _below(pattern: str, names: Sequence[str]) -> list[str]:
    """All variables inside the object called ``pattern``."""
    return [n for n in names if re.match(re.escape(pattern) + r"(->|\.|\[|::)", n) or n == f"*{pattern}"]


def _translate(pattern: str) -> str:
    """A shell pattern in which a leading ``*`` before a name is C's dereference and brackets are literal.

    ``[*]`` at the end stands for all of each element.
    """
    lead = ""
    if pattern.startswith("*") and len(pattern) > 1 and (pattern[1].isalpha() or pattern[1] == "_"):
        lead, pattern = re.escape("*"), pattern[1:]
    pattern = pattern.removesuffix("]") if pattern.endswith("[*]") else pattern
    return lead + fnmatch.translate(pattern.replace("[", "[[]"))


def same_front(texts: Sequence[str]) -> str:
    """The words, each with its underscore, that several texts begin with."""
    words = [re.findall(r"[^_]*_", text) for text in texts]
    same = takewhile(lambda at: len(set(at)) == 1, zip(*words, strict=False))
    return "".join(each[0] for each in same) if len(texts) > 1 else ""
