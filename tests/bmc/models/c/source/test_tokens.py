"""The parser goes through a text piece by piece; its lexer tells the tokens of pycparser, with their places."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycparser.c_lexer import CLexer

from bmc.models.c.source.pieces import Parser, PlainLexer

PARTS = [
    *"ab1 08.\n\t\"'[]()+-=<>!&|^/*%:;,?~#{}L_$xuU8eE\\@é",
    *("==", "[[", "]]", "->", "...", "<<=", "0x1F", "1.5f", "10u", "int ", "case ", "u8", '#line 3 "other.c"\n'),
    "#pragma once\n",
]


def told(lexer: type[CLexer], text: str) -> tuple[list[Any], list[Any]]:
    """The tokens of ``text`` with their places, and what is refused."""
    refused: list[Any] = []
    reader = lexer(lambda *error: refused.append(error))
    reader.input(text, "first.c")
    tokens = iter(reader.token, None)
    return [(each.type, each.value, each.lineno, each.column, each.filename) for each in tokens], refused


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_tokens_are_those_of_pycparser(text: str) -> None:
    assert told(PlainLexer, text) == told(CLexer, text)


def test_a_plain_token_is_recognised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two equal statements the second one costs no search through all kinds of tokens."""
    asked, match = 0, CLexer._match_token

    def counted(lexer: CLexer) -> Any:
        nonlocal asked
        asked += 1
        return match(lexer)

    monkeypatch.setattr(CLexer, "_match_token", counted)
    tokens, _ = told(PlainLexer, "if (s->mode == 2) s->t++;\n" * 100)
    assert (len(tokens), asked) == (1300, 11)


def test_a_piece_of_a_long_file_knows_its_place_and_the_names_in_it() -> None:
    """Not all names before it, nor all lines, so that reading grows as the file does."""
    functions = 1_000
    text = "".join(f"int f{n}(int a)\n{{\n  return a + {n};\n}}\n" for n in range(functions))
    parser = Parser()
    tree = parser.pieces(f'#line 1 "first.c"\n{text}', "first.c")
    assert [node.coord.line for node in tree.ext] == [1 + 4 * n for n in range(functions)]
    assert len(parser._scope_stack[0]) < functions // 10
