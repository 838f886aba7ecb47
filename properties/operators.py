"""The operators of properties as text: how they are written, and what C text the parser gets for them.

Operators are found before macros are expanded, so that a property means the same in every program; what a program
itself calls like one is written in backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pycparser import c_ast

from bmc.errors import InputRefused, Location
from bmc.records import dataclass

_TOKEN = re.compile(
    r"\s+|/\*.*?\*/|//[^\n]*|`[A-Za-z_]\w*`|[A-Za-z_]\w*|\d\w*|'(?:\\.|[^'])*'|\"(?:\\.|[^\"])*\"|"
    r"->|=>|⇒|→|==|!=|<=|>=|&&|\|\||.",
    re.S,
)


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator: how it is written, and how many numbers of steps may stand in its brackets, least and most."""

    written: str
    least: int = 0
    most: int = 0


OPERATORS = {
    "X": Operator("X(e) and X[n](e)", 0, 1),
    "F": Operator("F[m,n](e)", 2, 2),
    "G": Operator("G[m,n](e)", 2, 2),
    "prev": Operator("prev(e)"),
    "rise": Operator("rise(e)"),
    "fall": Operator("fall(e)"),
    "changed": Operator("changed(e)"),
}
"""By the word. What each means is told in docs/reference/properties.md."""

FORMS = f"operators are {', '.join(each.written for each in OPERATORS.values())}"

CALLS = {word: f"chaincover_operator_{word}_" for word in OPERATORS}
"""What the operators are called in the C text that the parser gets: no program's name, no macro."""
_WORDS = {call: word for word, call in CALLS.items()}


def tokens_of(text: str) -> list[str]:
    """The tokens of a property's text, blanks among them; a comment is a blank."""
    return [" " if token[:2] in ("/*", "//") else token for token in _TOKEN.findall(text)]


def is_operator(tokens: Sequence[str], index: int) -> bool:
    """Whether the token at ``index`` is an operator: its word, then perhaps brackets, then what it applies to.

    Anywhere else the word is the program's.
    """
    if tokens[index] not in OPERATORS:
        return False
    after = _next(tokens, index)
    if after < len(tokens) and tokens[after] == "[" and OPERATORS[tokens[index]].most:
        after = _next(tokens, _closing(tokens, after))
    return after < len(tokens) and tokens[after] == "("


def as_c(text: str) -> str:
    """``text`` with each operator as a call; first how many numbers stand in its brackets, and these."""
    tokens = tokens_of(text)
    made: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if not is_operator(tokens, index):
            made.append(token.strip("`") if token[:1] == "`" else token)
            index += 1
            continue
        opening = _next(tokens, index)
        numbers = tokens[opening + 1 : _closing(tokens, opening)] if tokens[opening] == "[" else []
        if tokens[opening] == "[":
            opening = _next(tokens, _closing(tokens, opening))
        count = _parts(numbers)
        inside = _next(tokens, opening)
        empty = inside == len(tokens) or tokens[inside] == ")"
        made += [CALLS[token], f"({count}", ", " * bool(count), *numbers, ", " * (not empty)]
        index = opening + 1
    return "".join(made)


def as_written(text: str) -> str:
    """``text``, a message about what ``as_c`` made, with the operators' own words."""
    for call, word in _WORDS.items():
        text = text.replace(call, word)
    return text


@dataclass(frozen=True, slots=True)
class Use:
    """One use of an operator in a syntax tree: ``numbers`` stand in its brackets, ``condition`` in its parentheses."""

    word: str
    numbers: tuple[Any, ...]
    condition: Any


def use_of(node: Any, where: Location) -> Use | None:
    """The operator that ``node`` is a use of, if it is one. InputRefused, with the place, if it is not written so."""
    word = _WORDS.get(getattr(node.name, "name", "")) if isinstance(node, c_ast.FuncCall) else None
    if word is None:
        return None
    count, *items = node.args.exprs
    numbers, operator = int(count.value), OPERATORS[word]
    hint = f"{FORMS}; a macro or function of the program that is called {word} is written `{word}`(...)"
    if not operator.least <= numbers <= operator.most:
        example = f", such as {word}[0,10](...)" if operator.least else ""
        raise InputRefused(
            f"{word} with {numbers or 'no'} numbers in brackets: write {operator.written}{example}", where, hint
        )
    if len(items) != numbers + 1:
        raise InputRefused(f"{word} takes one condition", where, hint)
    return Use(word, tuple(items[:numbers]), items[numbers])


def _next(tokens: Sequence[str], index: int) -> int:
    """The place of the next token after ``index`` that is no blank."""
    return next((at for at in range(index + 1, len(tokens)) if not tokens[at].isspace()), len(tokens))


def _closing(tokens: Sequence[str], opening: int) -> int:
    """The place of the bracket that closes the one at ``opening``."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"[": 1, "]": -1}.get(tokens[at], 0)
        if depth == 0:
            return at
    return len(tokens)


def _parts(numbers: Sequence[str]) -> int:
    """How many parts, with commas between them, stand in brackets."""
    depth, found = 0, 1 if any(not token.isspace() for token in numbers) else 0
    for token in numbers:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token, 0)
        found += token == "," and depth == 0
    return min(found, 9)
