"""Changes of texts and of data that are right: tokens, numbers, lines and single values become other ones.

Everything is drawn from the ``random.Random`` that is passed in, which may be hypothesis's own.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Tree = Any
Place = tuple[str | int, ...]

Change = Callable[[random.Random, str], str]
"""A text with something changed in it."""

GONE = object()
"""In the place of a value: its key is left out."""

_TOKEN = re.compile(
    r"[ \t]+|\n|/\*.*?\*/|//[^\n]*|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|'(?:\\.|[^'\n])*'|\"(?:\\.|[^\"\n])*\"|"
    r"->|=>|==|!=|<=|>=|<<|>>|&&|\|\||\+\+|--|[-+*/&|^%]=|.",
    re.S,
)
NUMBERS = (
    *("0", "1", "-1", "2", "3", "7", "8", "31", "32", "33", "63", "64", "127", "128", "255", "256", "32768", "65535"),
    *(
        "65536",
        "2147483647",
        "2147483648",
        "-2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "1u",
        "2L",
    ),
    *("9223372036854775808", "18446744073709551615", "18446744073709551616", "0x7fffffff", "0xFFFFFFFF", "017", "08"),
    *(
        "0x",
        "0b101",
        "1.5",
        "0.0",
        "-0.0",
        "1e9",
        "1e400",
        "0.1f",
        "5e-324",
        "1e-400",
        "0x1p3",
        "1.0L",
        "'a'",
        "100000",
    ),
)
SMALL = ("0", "1", "2", "3", "4", "5", "7", "10", "100", "200", "1000")
ODD_CHARACTERS = (
    *("\0", "\ufeff", "\u2028", "\x85", "\xa0", "é", "\udcff", "\udc80\udc81", "𝔘", "\\\n", "\\", "??/", "\r", "\r\n"),
    *(
        "\t",
        "\x0b",
        "\x0c",
        "\x1b",
        "`",
        "$",
        "@",
        "#",
        "##",
        "'",
        '"',
        "'''",
        '"""',
        "/*",
        "*/",
        "//",
        "\x7f",
        ";",
        ",",
    ),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{}",
        "()",
        "((((",
        "))))",
        "...",
        "\ue022",
        "%s",
        "{0}",
        "=>",
        "⇒",
        "→",
        "::",
        "?",
    ),
)
_CLASSES = (
    ("==", "!=", "<", ">", "<=", ">="),
    ("+", "-", "*", "&", "|", "^"),
    ("/", "%", "<<", ">>", "*"),
    ("&&", "||"),
    ("=", "+=", "-=", "*=", "&=", "|=", "^="),
    ("++", "--"),
    ("!", "~", "-"),
    ("break", "continue", "return"),
    ("if", "while"),
    ("char", "short", "int", "long", "unsigned", "signed", "float", "double", "_Bool"),
)
_KEYWORDS = re.compile(
    "if|else|while|for|do|switch|case|default|break|continue|return|struct|enum|union|typedef|static|const|void|inline|"
    "volatile|char|short|int|long|(un)?signed|float|double|sizeof|define|include|ifn?def|endif|extern"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\.?\d")


def tokens_of(text: str) -> list[str]:
    """The tokens of a text in C, TOML or JSON, blanks and comments among them: joined they are the text."""
    return _TOKEN.findall(text)


def gentle(random: random.Random, text: str) -> str:
    """``text`` with one token replaced by one that mostly fits its place as well."""
    tokens = tokens_of(text)
    numbers = [at for at, token in enumerate(tokens) if _NUMBER.match(token)]
    words = [at for at, token in enumerate(tokens) if _WORD.fullmatch(token) and not _KEYWORDS.fullmatch(token)]
    alike = [at for at, token in enumerate(tokens) if any(token in row for row in _CLASSES)]
    kind = random.randrange(6)
    if kind <= 1 and numbers:
        tokens[random.choice(numbers)] = random.choice(NUMBERS if random.random() < 0.3 else SMALL)
    elif kind == 2 and words:
        at = random.choice(words)
        near = [other for other in words if abs(other - at) < 60 and not _KEYWORDS.fullmatch(tokens[other])]
        tokens[at] = tokens[random.choice(near or words)]
    elif kind == 3:
        return _statements(random, text)
    elif alike:
        at = random.choice(alike)
        tokens[at] = random.choice(random.choice([row for row in _CLASSES if tokens[at] in row]))
    return "".join(tokens)


def _statements(random: random.Random, text: str) -> str:
    """``text`` with one line that is a statement by itself left out, repeated or moved."""
    rows = text.splitlines(keepends=True)
    whole = [n for n, row in enumerate(rows) if row.rstrip().endswith(";") and row.count("{") == row.count("}")]
    if not whole:
        return text
    at, to = random.choice(whole), random.choice(whole)
    kind = random.randrange(3)
    row = rows[at]
    if kind == 0:
        rows[at] = ";\n"
    elif kind == 1:
        rows.insert(to, row)
    else:
        rows[at], rows[to] = rows[to], row
    return "".join(rows)


def wild(random: random.Random, text: str, words: Sequence[str] = ()) -> str:
    """``text`` with one change that need not fit anywhere; ``words`` are put in too."""
    tokens = tokens_of(text) or [""]
    at, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    kind = random.randrange(10)
    if kind == 0:
        del tokens[at : at + random.choice((1, 1, 2, 5))]
    elif kind == 1:
        tokens.insert(at, tokens[other])
    elif kind == 2:
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 3:
        tokens[at] = tokens[other]
    elif kind == 4:
        tokens.insert(at, random.choice(ODD_CHARACTERS))
    elif kind == 5:
        tokens[at] = random.choice(NUMBERS)
    elif kind == 6 and words:
        tokens.insert(at, random.choice(words))
    elif kind == 7 and words:
        tokens[at] = random.choice(words)
    elif kind == 8:
        del tokens[at:]
    else:
        return _lines(random, text)
    return "".join(tokens)


def _lines(random: random.Random, text: str) -> str:
    rows = text.splitlines(keepends=True) or [""]
    at, other = random.randrange(len(rows)), random.randrange(len(rows))
    kind = random.randrange(3)
    if kind == 0:
        del rows[at]
    elif kind == 1:
        rows.insert(at, rows[other])
    else:
        rows[at], rows[other] = rows[other], rows[at]
    return "".join(rows)


def other_bytes(random: random.Random, text: str) -> str:
    """``text`` with some bytes changed, lost or put in; what is no UTF-8 any more is there as lone surrogates."""
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data) + 1)
        data[at : at + random.randrange(3)] = bytes(random.randrange(256) for _ in range(random.randrange(3)))
    return data.decode("utf-8", "surrogateescape")


def several(random: random.Random, text: str, change: Change, most: int = 3) -> str:
    """``text`` changed once or a few times."""
    for _ in range(random.randint(1, most)):
        text = change(random, text)
    return text


# data


def places(tree: Tree, place: Place = ()) -> Iterator[Place]:
    """All places in ``tree``: those of values, of objects and of lists."""
    if place:
        yield place
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, (*place, key))


def path_of(place: Place) -> str:
    """The path of the field at ``place``, without the numbers of entries."""
    return ".".join(key for key in place if isinstance(key, str))


def field_at(tree: Tree, place: Place) -> tuple[str, type, tuple[str, ...]]:
    """The field at ``place``: its path, the type of what stands there, and the fields of the claim to which it belongs,
    of which there are several kinds."""
    whole = value_at(tree, place[: place.index("claims") + 2]) if "claims" in place else None
    return path_of(place), type(value_at(tree, place)), tuple(whole) if isinstance(whole, dict) else ()


def value_at(tree: Tree, place: Place) -> Tree:
    """What stands at ``place``."""
    for key in place:
        tree = tree[key]
    return tree


def changed(document: Tree, *changes: tuple[Place, Tree]) -> Tree:
    """A copy of ``document`` with other values; a change whose place is there no more is left out."""
    found = copy.deepcopy(document)
    for place, value in changes:
        try:
            within = value_at(found, place[:-1])
            if value is GONE:
                del within[place[-1]]
            elif isinstance(within, dict) or int(place[-1]) < len(within):
                within[place[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError, ValueError):
            continue
    return found
