"""The syntax trees of preprocessed C, piece by piece: what was parsed before, such as a header that several files
include, or a file that is read for other word sizes, is not parsed again.

A piece is some declarations of one file outside of all functions. Its tree depends on its text, its place, and on which
of its words are names of types where it begins; under these it is kept, packed, and each use unpacks nodes of its own.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from typing import Any

from pycparser import c_ast, c_parser

from bmc.models.c.source.tokens import WORDS

PIECE = 2_000
"""A piece has at least so many characters, but at the end of a file. Of pieces that are twice as long there are fewer
to look up, and more is parsed again where one of them differs."""
MOST_KEPT = 64_000_000
"""Bytes of packed trees that are kept; with more, all are forgotten. A header of 27,000 lines takes three million."""

_SIGN = re.compile(r'#line (\d+)(?: "([^"\n]*)")?[^\n]*\n|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}=;]')
_OLD = re.compile(r"\)\s*[A-Za-z_]")

Names = tuple[tuple[str, bool], ...]
"""Names outside of all functions, and whether each is that of a type."""


class Parser(c_parser.CParser):  # type: ignore[misc]
    """A parser that goes through a text piece by piece."""

    def pieces(self, text: str, file: str) -> Any:
        """The syntax tree of ``text``; ParseError where a piece has none."""
        known: dict[str, bool] = {}
        ext: list[Any] = []
        for piece in pieces_of(text):
            ext += self._piece(piece, file, known)
        return c_ast.FileAST(ext)

    def _piece(self, text: str, file: str, known: dict[str, bool]) -> list[Any]:
        names = tuple((word, known[word]) for word in dict.fromkeys(WORDS.findall(text)) if word in known)
        file = "" if text.startswith("#line") else file
        kept = _kept.get((text, file, names))
        if kept is None:
            self._scope_stack = [dict(known)]
            self._typedef_checked_token = None
            self.clex.input(text, file)
            self._tokens: Any = type(self._tokens)(self.clex.token)
            ext: list[Any] = self._parse_translation_unit_or_empty().ext
            new = {name: is_type for name, is_type in self._scope_stack[0].items() if known.get(name) != is_type}
            known.update(new)
            _kept.keep((text, file, names), ext, new)
            return ext
        packed, new = kept
        known.update(new)
        found: list[Any] = pickle.loads(packed)
        return found


class _Kept:
    """Packed trees of pieces, each with the names that it declares."""

    def __init__(self) -> None:
        self.trees: dict[tuple[str, str, Names], tuple[bytes, dict[str, bool]]] = {}
        self.size = 0

    def get(self, key: tuple[str, str, Names]) -> tuple[bytes, dict[str, bool]] | None:
        return self.trees.get(key)

    def keep(self, key: tuple[str, str, Names], ext: list[Any], names: dict[str, bool]) -> None:
        try:
            packed = pickle.dumps(ext, pickle.HIGHEST_PROTOCOL)
        except RecursionError:  # code nested so deep is parsed again
            return
        if self.size + len(packed) > MOST_KEPT:
            self.trees.clear()
            self.size = 0
        if len(packed) <= MOST_KEPT:
            self.trees[key] = packed, names
            self.size += len(packed)


_kept = _Kept()


def pieces_of(text: str) -> Iterator[str]:
    """The pieces of preprocessed ``text``, each beginning with a line marker of its own."""
    begin, depth, before, at, line = 0, 0, 0, 0, 1
    marker = head = ""
    function = value = old = False
    ready = True
    for sign in _SIGN.finditer(text):
        if sign[1]:  # a line marker, which may lead to another file
            if ready and sign[2] not in (None, marker) and not text[before : sign.start()].strip():
                if text[begin : sign.start()].strip():
                    yield head + text[begin : sign.start()]
                begin, head = sign.start(), ""
            marker, at, line = sign[2] or marker, sign.end(), int(sign[1])
            before = sign.end() if ready else before
            continue
        mark = sign[0]
        if mark == "{":
            behind = text[before : sign.start()].rstrip()
            function = (behind.endswith(")") or (old and not behind)) if not depth else function
        elif mark == "=":
            value = value or not depth
        elif mark == ";" and not depth:  # what may be the first declaration behind an old-style list of parameters
            old = old or _OLD.search(text, before, sign.start()) is not None
        depth += {"{": 1, "}": -1}.get(mark, 0)
        before = sign.end()
        old = old and not (mark == "}" and not depth and function)
        ready = not depth and not old and (mark == ";" or (mark == "}" and function and not value))
        if ready:
            function = value = False
            end = text.find("\n", before) + 1
            if marker and end - begin >= PIECE and not text[before:end].strip():
                yield head + text[begin:end]
                begin, head = end, f'#line {line + text.count(chr(10), at, end)} "{marker}"\n'
    if text[begin:].strip():
        yield head + text[begin:]
