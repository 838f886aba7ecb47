"""All that is wrong with a program, where its reading would end at the first refusal.

What cannot be read is noted and passed over: a header that is missing is empty, an unknown word that stands where a
type does is guessed to be ``int``, a definition with a syntax error is left out, a statement that is refused has no
effect. These guesses serve the list alone: whatever is wrong is refused in the end. What is said of a name that was
guessed is no news, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pycparser import c_ast
from pysmt.environment import get_env, pop_env, push_env

from bmc.errors import InputRefused, Location, Refusals
from bmc.models.c.source.extensions import define_away, read_over_extensions
from bmc.models.c.source.program import nodes, parse_unit

MOST_GUESSES = 200
"""Definitions of one file that are guessed or left out. With twice as many, a file that is no C is looked at longer."""

_GUESSED_TYPE = re.compile(r"'(\w+)' may be a type that nothing defines")
_DEFINE = "include the header that defines it, or define it with typedef"
_PLAIN_TYPES = {
    "char",
    "short",
    "int",
    "long",
    "unsigned",
    "signed",
    "float",
    "double",
    "void",
    "struct",
    "union",
    "enum",
}
_STANDARD = {
    "<stdint.h>": r"u?int(_least|_fast)?(8|16|32|64)_t|u?int(ptr|max)_t",
    "<stdbool.h>": "bool",
    "<stddef.h>": "size_t|ptrdiff_t|wchar_t",
}
"""The headers of the standard library that define types, and which."""
_LINE = re.compile(r'#line (\d+)(?: "([^"\n]*)")?[^\n]*\n')
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{};]')


class Survey(Refusals):
    """Gathers what a program is refused for; ``guessed`` are the names of which nothing is known for certain."""

    def __init__(self) -> None:
        super().__init__()
        self.guessed: set[str] = set()
        self.cut = False
        """Whether definitions were left out."""
        self._new: list[Any] = []
        """Trees whose declarations are not among these yet."""
        self._declared: list[tuple[str, set[str]]] = []

    def read_over_extensions(self, text: str, file: str) -> str:
        """Preprocessed text without what the parser cannot read; definitions that this cannot be left out of are."""
        while True:
            try:
                return read_over_extensions(text, file)
            except InputRefused as error:
                self.add(error)
                left_out = _without_definition(text, error.where or Location(file))
                if left_out is None:
                    return ""
                text, name = left_out
                self.guessed.add(name)
                self.cut = True

    def parse(self, text: str, file: str) -> Any:
        """The syntax tree of preprocessed C, as far as it can be parsed; what cannot is noted."""
        for _ in range(MOST_GUESSES):
            try:
                return self._learnt(parse_unit(text, file))
            except InputRefused as error:
                known = _GUESSED_TYPE.match(error.hint)
                keyword = known is not None and _is_keyword(known[1], text)
                self._note(error, known[1] if known else "", keyword)
                left_out = None if known else _without_definition(text, error.where or Location(file))
                if known and keyword:
                    text = re.sub(rf"\b{known[1]}\b", " " * len(known[1]), text)
                elif known and known[1] not in self.guessed:
                    self.guessed.add(known[1])
                    text = f"typedef int {known[1]};\n{text}"
                elif left_out is None:
                    break
                else:
                    text, name = left_out
                    self.guessed |= {name}
                    self.cut = True
        return c_ast.FileAST([])

    def _note(self, error: InputRefused, word: str, keyword: bool) -> None:
        """Note a syntax error, of which ``word`` may be the reason: a type, or a ``keyword`` of another compiler.

        Where a header is missing, whatever else is no C may come of a macro that the header defines.
        """
        if keyword:
            self.add(InputRefused(f"unknown word '{word}' before a type", error.where, define_away(word, word)))
        elif word:
            header = next((header for header, names in _STANDARD.items() if re.fullmatch(names, word)), "")
            hint = f"include {header}, or the header that does" if header else _DEFINE
            self.add(InputRefused(f"unknown type '{word}'", error.where, hint))
        elif not self.lacks_headers or "defines" in error.hint:
            self.add(error)

    @property
    def lacks_headers(self) -> bool:
        """Whether a header was not found."""
        return any(re.match("header '.*' not found", each.message) for each in self.errors)

    def _learnt(self, tree: Any) -> Any:
        """``tree``, of which what is declared with a guessed type is guessed as well."""
        self._new.append(tree)
        if not self.guessed:
            return tree
        for each in self._new:
            self._declared += [(node.name, _types(node.type)) for node in _declarations(each)]
        self._new.clear()
        before = -1
        while before != len(self.guessed):
            before = len(self.guessed)
            self.guessed |= {name for name, types in self._declared if types & self.guessed}
        return tree

    @staticmethod
    def within(node: Any) -> list[Any]:
        """What is still looked at in a statement that is refused: its calls, and the statements within it."""
        return [*calls(node), *statements(node)]

    def note(self, error: InputRefused, node: Any) -> None:
        """Note why a statement is refused, unless that may come of a guess; what it declares is guessed."""
        if isinstance(node, c_ast.Break | c_ast.Continue):  # of a loop that is not followed
            return
        head = node.init if isinstance(node, c_ast.For) and node.init is not None else node
        if isinstance(head, c_ast.Decl | c_ast.Typedef | c_ast.DeclList):
            self.guessed |= {each.name for each in _declarations(head)}
        names = {*re.findall(r"'(\w+)'", error.message), *(() if statements(node) else _names(node))}
        if not names & self.guessed:
            self.add(error)


@contextmanager
def apart() -> Iterator[None]:
    """An environment of pysmt for what is read with guesses: what is cut short there leaves pysmt's walks half done."""
    push_env()
    get_env().enable_infix_notation = True
    try:
        yield
    finally:
        pop_env()


def statements(node: Any) -> list[Any]:
    """The statements within one, without those within these; those at the labels of a switch without the labels."""
    if isinstance(node, c_ast.If):
        return [node.iftrue, node.iffalse]
    if not hasattr(node, "stmt"):
        return []
    items = node.stmt.block_items or () if isinstance(node.stmt, c_ast.Compound) else (node.stmt,)
    if not isinstance(node, c_ast.Switch):
        return [node.stmt]
    labels = c_ast.Case | c_ast.Default
    inner = [each for item in items for each in (item.stmts or () if isinstance(item, labels) else (item,))]
    return [each for each in inner if not isinstance(each, c_ast.Break)]


def calls(node: Any) -> list[Any]:
    """The calls in a statement that are in no other call and in no statement within it."""
    found: list[Any] = []
    todo = [] if isinstance(node, c_ast.FuncCall) else [node]
    inside = statements(node)
    while todo:
        for _, child in todo.pop().children():
            if isinstance(child, c_ast.FuncCall):
                found.append(child)
            elif not any(child is each for each in inside) and not isinstance(child, c_ast.Compound):
                todo.append(child)
    return found


def _is_keyword(word: str, text: str) -> bool:
    """Whether an unknown word of a preprocessed text stands before a type there, and can be no type itself."""
    for behind in set(re.findall(rf"\b{word}[ \t]+([A-Za-z_]\w*)[ \t*]+[A-Za-z_]", text)):
        if behind in _PLAIN_TYPES or re.search(rf"\btypedef\b[^;{{}}]*\b{behind}\s*;", text):
            return True
    return False


def _declarations(tree: Any) -> list[Any]:
    return [node for node in nodes(tree) if isinstance(node, c_ast.Decl | c_ast.Typedef) and node.name]


def _types(node: Any) -> set[str]:
    return {name for inner in nodes(node) if isinstance(inner, c_ast.IdentifierType) for name in inner.names}


def _names(node: Any) -> set[str]:
    return _types(node) | {inner.name for inner in nodes(node) if isinstance(inner, c_ast.ID)}


def _without_definition(text: str, place: Location) -> tuple[str, str] | None:
    """``text`` without the definition outside of all functions in which ``place`` lies, and what that is called.

    None where nothing is there.
    """
    at = _offset(text, place)
    if at is None:
        return None
    begin, depth = 0, 0
    for sign in _TOKEN.finditer(text):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth > 0 or sign[0] not in ";}":
            continue
        end = sign.end()
        if end > at:
            break
        begin, depth = end, 0
    else:
        end = len(text)
    rows = [row if row.startswith("#line") else "\n" for row in text[begin:end].splitlines(keepends=True)]
    found = re.search(r"(\w+)\s*\(", re.sub(_LINE, "", text[begin:end]))
    blank = "".join(rows)
    if blank == text[begin:end]:
        return None
    return text[:begin] + blank + text[end:], found[1] if found else ""


def _offset(text: str, place: Location) -> int | None:
    """Where the line of ``place`` begins in preprocessed ``text``; its last copy, for a header may be read twice."""
    file, line, found, at = "", 1, None, 0
    for row in text.splitlines(keepends=True):
        marker = _LINE.match(row)
        if marker:
            line, file = int(marker[1]), marker[2] or file
        else:
            if line == place.line and (not file or not place.file or Location(file).file == place.file):
                found = at + max(place.column - 1, 0)
            line += 1
        at += len(row)
    return found
