"""Preprocessing tokens (C11 6.4), and the lines of a file without comments (translation phases 1 to 3, C11 5.1.1.2)."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from bmc.errors import InputRefused, marked
from bmc.records import dataclass

WORD, NUMBER, STRING_, CHARACTER, MARK, OTHER = "word", "number", "string", "character", "mark", "other"
PADDING, END = "padding", "end"
"""Kinds of tokens; the last two are where an expansion begins or ends, and where there is no further token."""
BREAK = "\x1d"
"""Stands where a comment goes on in the next line."""
WORDS = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\f\v\x1d]+)
    |(?P<string>(?:u8|[uUL])?"(?:[^"\\]++|\\.)*+")
    |(?P<character>[uUL]?'(?:[^'\\]++|\\.)*+')
    |(?P<word>[^\W\d][\w$]*|\$[\w$]*)
    |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<mark>%:%:|::|\.\.\.|<<=|>>=|\#\#|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|<:|:>|<%|%>|%:|[!-/:-@\[-^{-~])
    |(?P<other>["'].*|.)""".replace("[!-/", "[!#%&(-/"),
    re.X | re.S,
)
_COMMENT = re.compile(
    r"^[ \t]*\#[ \t]*include(?:_next)?[ \t]*<[^>\n]*>"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'(?:[^'\\\n]++|\\.)*+'?"
    r"|//[^\n]*|/\*(?:[\s\S]*?\*/)?",
    re.M,
)
"""What may look like a comment and is none, and comments; a quote that does not end goes to the end of its line."""
DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}
CHARACTERS = re.compile(r"\\([0-7]{1,3})|\\x([0-9a-fA-F]+)|\\(.)|(.)", re.S)
"""What a character in a constant or string is: octal digits, hexadecimal digits, a letter that escapes, or itself."""


class Token:
    """One token: ``blank``: white space stands before it; ``line`` and ``column`` are where it stands in its file;
    ``frozen``: it is a macro's name that is not to be expanded any more; ``pasted``: ``##`` stands behind it.

    Of ``PADDING``, ``blank`` is None where it only keeps two tokens apart.
    """

    __slots__ = ("blank", "column", "frozen", "kind", "line", "pasted", "text")

    def __init__(self, kind: str, text: str, blank: bool | None = False, line: int = 0, column: int = 0) -> None:
        self.kind, self.text, self.blank, self.line, self.column = kind, text, blank, line, column
        self.frozen = self.pasted = False

    def copy(self) -> Token:
        """A token of its own that is the same."""
        other = Token(self.kind, self.text, self.blank, self.line, self.column)
        other.frozen, other.pasted = self.frozen, self.pasted
        return other


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file, joined with those that a backslash or a comment continues it to, without comments.

    ``number`` is that of its first line; ``begins`` are the places in ``text`` where another line of the file begins,
    in order, and ``numbers`` those of these lines.
    """

    text: str
    number: int
    begins: Sequence[int] = ()
    numbers: Sequence[int] = ()

    @property
    def last(self) -> int:
        """The number of its last line."""
        return self.numbers[-1] if self.numbers else self.number


@lru_cache(maxsize=64)
def rows_of(text: str) -> Sequence[Row]:
    """The lines of a file that are not blank; those of the last files are kept, for headers are read often.

    UnfinishedComment where a comment does not end.
    """
    text, joints = _joined(text.replace(BREAK, " "))
    if "/*" in text or "//" in text:
        text = _COMMENT.sub(_without_comment, text)
    rows: list[Row] = []
    number = 1
    for line in text.split("\n"):
        broken = line.count(BREAK)
        if line and not line.isspace():
            pieces = _pieces(line, number, joints) if broken or number in joints else []
            begins, numbers = [begin for begin, _ in pieces], [piece for _, piece in pieces]
            rows.append(Row(line, number, begins, numbers) if pieces else Row(line, number))
        number += 1 + broken
    return rows


def _pieces(text: str, number: int, joints: dict[int, list[int]]) -> list[tuple[int, int]]:
    """Where in a row another line of the file begins, and which."""
    pieces: list[tuple[int, int]] = []
    at = 0
    for later, part in enumerate(text.split(BREAK)):
        pieces += [(at, number + later)] if later else []
        pieces += [(at + joint, number + later + n) for n, joint in enumerate(joints.get(number + later, ()), 1)]
        at += len(part) + 1
    return pieces


class UnfinishedComment(InputRefused):
    """A comment does not end; ``line`` is where it begins."""

    def __init__(self, line: int) -> None:
        super().__init__("a comment that does not end")
        self.line = line


def _without_comment(found: re.Match[str]) -> str:
    text = found[0]
    if text.startswith("//"):
        return ""
    if not text.startswith("/*"):
        return text
    if len(text) == 2:
        raise UnfinishedComment(found.string.count("\n", 0, found.start()) + 1)
    return re.sub(r"[^\n]", " ", text).replace("\n", BREAK)


def _joined(text: str) -> tuple[str, dict[int, list[int]]]:
    """``text`` with the lines joined that a backslash continues."""
    if "\\" not in text:
        return text, {}
    rows = [*text.split("\n"), ""]
    joints: dict[int, list[int]] = {}
    for number in range(len(rows)):
        end = number
        while rows[end].rstrip().endswith("\\") and end + 1 < len(rows):
            end += 1
        if end > number:
            parts = [row.rstrip()[:-1] for row in rows[number:end]]
            joints[number + 1] = list(itertools.accumulate(map(len, parts)))
            rows[number : end + 1] = ["".join((*parts, rows[end])), *[""] * (end - number)]
    return "\n".join(rows), joints


def tokens_of(row: Row) -> list[Token]:
    """The tokens of a row, each with its place in the file."""
    result: list[Token] = []
    blank = False
    number, begins = row.number, row.begins
    for found in _TOKEN.finditer(row.text):
        kind, start = found.lastgroup, found.start()
        if kind == "blank":
            blank = True
            continue
        line, begin = number, 0
        if begins:
            at = bisect_right(begins, start)
            line, begin = (row.numbers[at - 1], begins[at - 1]) if at else (number, 0)
        result.append(Token(str(kind), found[0], blank, line, start - begin + 1))
        blank = False
    return result


def kind_of(text: str) -> str:
    """The kind of the token that ``text`` is; '' where it is not exactly one."""
    found = _TOKEN.match(text)
    if found is None or found.end() < len(text) or found.lastgroup == "blank":
        return ""
    return "" if found.lastgroup == OTHER and len(text) > 1 else str(found.lastgroup)


def spelled(tokens: Sequence[Token]) -> str:
    """The text of tokens, with a blank wherever white space stood or two would run into one."""
    text, before, blank = "", None, False
    for token in tokens:
        if token.kind == PADDING:
            blank = blank or bool(token.blank)
            continue
        apart = blank or token.blank or (before is not None and run_together(before, token))
        text += (" " if text and apart else "") + token.text
        before, blank = token, False
    return text


_SIGNS = frozenset("+-*/%<>=!&|^#.:")


def run_together(left: Token, right: Token) -> bool:
    """Whether two tokens may read as something else without a blank between them."""
    last, first = left.text[-1], right.text[0]
    if right.kind in (WORD, NUMBER, STRING_, CHARACTER):
        return left.kind in (WORD, NUMBER) or (last == "." and right.kind == NUMBER)
    return (left.kind == NUMBER and first in "+-.") or (last in _SIGNS and first in _SIGNS)


def character(text: str, char_signed: bool) -> int:
    """The value of a constant such as ``'a'``, ``'\\377'`` or ``L'a'``; SyntaxError where it has none."""
    wide = text.startswith("L")
    units: list[int] = []
    for octal, digits, escape, plain in CHARACTERS.findall(text[2 if wide else 1 : -1]):
        if octal or digits:
            units.append(int(octal, 8) if octal else int(digits, 16))
        elif escape:
            units.append(ESCAPES.get(escape, ord(escape)))
        else:
            units += [ord(plain)] if wide else plain.encode("utf-8", "surrogateescape")
    if len(units) != 1 or units[0] > (0x7FFFFFFF if wide else 255):
        raise SyntaxError(f"character constant {text}")
    return units[0] - 256 if char_signed and not wide and units[0] > 127 else units[0]


BLANK_LINES = 8
"""So many lines without text are written as they are; more become a line marker."""


class Text:
    """The preprocessed text, line by line as in the files; markers say where it goes on elsewhere."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.place = ("", 0)
        self.column = 0
        self.last: Token | None = None

    def go(self, file: str, line: int) -> None:
        """Go on in this line of a file."""
        at, number = self.place
        if file == at and number <= line <= number + BLANK_LINES:
            self.parts.append("\n" * (line - number))
        elif file != at or line > number:
            self.parts.append(f'{chr(10) if self.parts and self.column else ""}#line {line} "{marked(file)}"\n')
        if file != at or line > number:
            self.place, self.column, self.last = (file, line), 0, None

    def write(self, token: Token, column: int = 0, blank: bool | None = False) -> None:
        """Write a token of a line, in this column (from 1 on) where it is not passed."""
        apart = self.last is not None and (blank or run_together(self.last, token))
        gap = max(column - 1 - self.column, int(bool(apart)))
        text = DIGRAPHS.get(token.text, token.text)
        self.parts += [" " * gap, text]
        self.column += gap + len(text)
        self.last = token

    def row(self, text: str) -> None:
        """Write a whole line."""
        self.parts.append(text)
        self.column = len(text)
