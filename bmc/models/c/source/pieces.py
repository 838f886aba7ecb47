"""The syntax trees of preprocessed C, piece by piece: what was parsed before, such as a header that several files
include, or a file that is read for other word sizes, is not parsed again.

A piece is some declarations of one file outside of all functions. Its trees depend on its text, its place, and on which
of its words are names of types where it begins; under these they are kept, and all files share them. What a program
executes is known by its nodes, so that each of its files needs nodes of its own for that: ``OwnNodes``.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from pycparser import c_ast, c_lexer, c_parser

from bmc.stack import with_deep_stack

PIECE = 2_000
"""A piece has at least so many characters, but at the end of a file. Of pieces that are twice as long there are fewer
to look up, and more is parsed again where one of them differs."""
MOST_KEPT = 4_000_000
"""Characters of pieces whose trees are kept; with more, all are forgotten. Twice as many take twice the memory."""

_SIGN = re.compile(r'#line (\d+)(?: "([^"\n]*)")?[^\n]*\n|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}=;]')
_NAME = re.compile(r"[A-Za-z_$][0-9A-Za-z_$]*")
_OLD = re.compile(r"\)\s*[A-Za-z_]")

_PLAIN = re.compile(
    r"""([ \t\f\v\n]*)
    ([A-Za-z_$][0-9A-Za-z_$]*+(?!["'])
    |[0-9]++(?![\w.'])
    |[(){};,?~\]]|\[(?!\s*\[)
    |(?:->|&&|\|\||\+\+|--|[-+*/%&|^=!<>]=|[-+*/%&|^=!<>.:])(?![-+*/%&|^=!<>.:0-9]))""",
    re.X,
)
"""White space and a token that ends there, whatever stands behind it."""

Names = tuple[tuple[str, bool], ...]
"""Names outside of all functions, and whether each is that of a type."""


class PlainLexer(c_lexer.CLexer):  # type: ignore[misc]
    """A lexer that knows a plain token again, which takes a third of the time."""

    _pos: int

    def __init__(self, error_func: Any, **options: Any) -> None:
        super().__init__(error_func, **options)
        self._kinds: dict[str, str] = {}

    def token(self) -> Any:
        """The next token, None at the end."""
        apart = self._in_attribute or self._pending_tok is not None
        found = None if apart else _PLAIN.match(self._lexdata, self._pos)
        kind = None if found is None else self._kinds.get(found[2])
        if found is None or kind is None:
            token = super().token()
            if found is not None and token is not None and token.value == found[2]:
                self._kinds[token.value] = token.type
            return token
        lines = found[1].count("\n")
        if lines:
            self._lineno += lines
            self._line_start = self._pos + found[1].rfind("\n") + 1
        self._pos = found.end()
        return c_lexer.Token(kind, found[2], self._lineno, found.start(2) - self._line_start + 1, self._filename)


class Parser(c_parser.CParser):  # type: ignore[misc]
    """A parser that goes through a text piece by piece."""

    def __init__(self) -> None:
        super().__init__(lexer=PlainLexer)

    def pieces(self, text: str, file: str) -> Any:
        """The syntax tree of ``text``; ParseError where a piece has none."""
        known: dict[str, bool] = {}
        parts: dict[int, list[Any]] = {}
        for piece in pieces_of(text):
            part = self._piece(piece, file, known)
            part = _copied(part) if id(part) in parts else part  # a header without a guard that is included again
            parts[id(part)] = part
        return c_ast.FileAST([node for part in parts.values() for node in part])

    def _piece(self, text: str, file: str, known: dict[str, bool]) -> list[Any]:
        names = tuple((word, known[word]) for word in dict.fromkeys(_NAME.findall(text)) if word in known)
        file = "" if text.startswith("#line") else file
        kept = _kept.trees.get((text, file, names))
        if kept is None:
            self._scope_stack = [dict(names)]
            self._typedef_checked_token = None
            self.clex.input(text, file)
            self._tokens: Any = type(self._tokens)(self.clex.token)
            ext: list[Any] = self._parse_translation_unit_or_empty().ext
            kept = ext, {name: is_type for name, is_type in self._scope_stack[0].items() if known.get(name) != is_type}
            _kept.keep((text, file, names), kept)
        known.update(kept[1])
        return kept[0]


class _Kept:
    """The trees of pieces, each with the names that it declares."""

    def __init__(self) -> None:
        self.trees: dict[tuple[str, str, Names], tuple[list[Any], dict[str, bool]]] = {}
        self.size = 0

    def keep(self, key: tuple[str, str, Names], trees: tuple[list[Any], dict[str, bool]]) -> None:
        if self.size + len(key[0]) > MOST_KEPT:
            self.trees.clear()
            self.size = 0
        self.trees[key] = trees
        self.size += len(key[0])


_kept = _Kept()


class _OwnFuncDef(c_ast.FuncDef):  # type: ignore[misc]
    """The definition of a function in a further file that includes it; its body is copied when it is looked at."""

    def __init__(self, shared: Any) -> None:
        self.decl, self.param_decls, self.coord, self.shared = shared.decl, shared.param_decls, shared.coord, shared

    @cached_property
    def body(self) -> Any:
        """The statements, whose nodes no other file has."""
        return _copied(self.shared.body)


class OwnNodes:
    """Gives each file of one program nodes of its own for all that is executed, or whose value is an initialiser."""

    def __init__(self) -> None:
        self._used: set[Any] = set()

    def unit(self, tree: Any) -> Any:
        """The tree of a further file, which shares declarations without values with others at most."""
        used, self._used = self._used, self._used.union(tree.ext)
        return c_ast.FileAST([_own(node) if node in used else node for node in tree.ext])


def _own(node: Any) -> Any:
    if isinstance(node, c_ast.FuncDef):
        return _OwnFuncDef(node)
    if isinstance(node, c_ast.Decl) and node.init is not None:
        return _copied(node)
    return node


def _copied(nodes: Any) -> Any:
    return with_deep_stack(lambda: pickle.loads(pickle.dumps(nodes, pickle.HIGHEST_PROTOCOL)))


def shared_body(definition: Any) -> Any:
    """The body of a function for who reads it alone: all files that include it share one."""
    return definition.shared.body if isinstance(definition, _OwnFuncDef) else definition.body


class _Place:
    """Where a reader of ``text`` is, from sign to sign."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        """How many braces are open."""
        self.before = 0
        """The end of the last sign; of a line marker only where a declaration may begin."""
        self.function = self.value = self.old = False
        """Whether the last braces were those of a function; whether the declaration has a value; whether it may be the
        first one behind an old-style list of parameters."""
        self.ready = True
        """Whether a declaration may begin."""

    def leads_elsewhere(self, sign: re.Match[str], file: str) -> bool:
        """Whether a line marker begins another file than ``file``, and no declaration goes on there."""
        return self.ready and sign[2] not in (None, file) and not self.text[self.before : sign.start()].strip()

    def go(self, sign: re.Match[str]) -> None:
        """Go behind a sign that is no line marker."""
        mark = sign[0]
        if mark == "{":
            behind = self.text[self.before : sign.start()].rstrip()
            self.function = (behind.endswith(")") or (self.old and not behind)) if not self.depth else self.function
        elif mark == "=":
            self.value = self.value or not self.depth
        elif mark == ";" and not self.depth:
            self.old = self.old or _OLD.search(self.text, self.before, sign.start()) is not None
        self.depth += {"{": 1, "}": -1}.get(mark, 0)
        self.before = sign.end()
        self.old = self.old and not (mark == "}" and not self.depth and self.function)
        ends = mark == ";" or (mark == "}" and self.function and not self.value)
        self.ready = ends and not self.depth and not self.old
        if self.ready:
            self.function = self.value = False


def pieces_of(text: str) -> Iterator[str]:
    """The pieces of preprocessed ``text``, each beginning with a line marker of its own."""
    begin, at, line = 0, 0, 1
    marker = head = ""
    place = _Place(text)
    for sign in _SIGN.finditer(text):
        if sign[1]:  # a line marker, which may lead to another file
            if place.leads_elsewhere(sign, marker):
                if text[begin : sign.start()].strip():
                    yield head + text[begin : sign.start()]
                begin, head = sign.start(), ""
            marker, at, line = sign[2] or marker, sign.end(), int(sign[1])
            place.before = sign.end() if place.ready else place.before
            continue
        place.go(sign)
        if place.ready:
            end = text.find("\n", place.before) + 1
            if marker and end - begin >= PIECE and not text[place.before : end].strip():
                yield head + text[begin:end]
                at, line = end, line + text.count("\n", at, end)
                begin, head = end, f'#line {line} "{marker}"\n'
    if text[begin:].strip():
        yield head + text[begin:]
