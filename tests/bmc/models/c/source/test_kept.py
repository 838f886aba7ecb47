"""What is used again of an earlier reading is what reading anew would give."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pycparser import c_parser

from bmc.errors import InputRefused
from bmc.models.c.controller.reading import SourceConfig, read_program
from bmc.models.c.source.pieces import PIECE, OwnNodes, Parser, pieces_of
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.program import nodes
from bmc.models.c.source.types import DATA_MODELS

LP64 = DATA_MODELS["lp64"]
FILLER = "".join(f"extern int filler_{n};\n" for n in range(PIECE // 20))
SHORT = "\n".join(FILLER[: PIECE - 20].split("\n")[:-1]) + "\n"
"""A little less than a piece: what comes behind it is at a boundary."""
TEXTS = {
    "functions, structs and initialisers": (
        '#line 1 "a.c"\nint a; struct s { int x; } b = { 1 };\nint f(int q) { return q; }\n'
        f"{FILLER}int *p = (int[]){{1, 2}};\n{FILLER}int g(void)\n{{\n  return a;\n}}\n{FILLER}int h;\n"
    ),
    "an old-style definition at a boundary": f'#line 1 "a.c"\n{SHORT}'
    f"int f(x, y)\nint x;\nint y;\n{{ return x; }}\n{FILLER}",
    "a typedef that a later piece uses": f'#line 1 "a.c"\ntypedef int T;\n{FILLER}'
    "T a; int f(void) { int T = 1; return T * a; }\n",
    "several files": f'#line 1 "h.h"\ntypedef int T;\n#line 1 "i.h"\n{FILLER}'
    '#line 3 "h.h"\nT a;\n#line 2 "a.c"\nT b;\n',
    "a marker within a declaration": '#line 1 "a.c"\nint a = \n#line 1 "v.h"\n3\n#line 3 "a.c"\n;\n\nint b;\n',
}


def shown(tree: Any) -> list[object]:
    """All nodes of a tree with their places and values."""
    found: list[object] = []
    todo = [tree]
    while todo:
        node = todo.pop()
        values = tuple(repr(getattr(node, name)) for name in node.attr_names)
        found.append((type(node).__name__.removeprefix("_Own"), str(node.coord), values))
        todo += [child for _, child in node.children()]
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_pieces_have_the_tree_of_the_whole(name: str) -> None:
    text = TEXTS[name]
    whole = shown(c_parser.CParser().parse(text, "a.c"))
    for _ in range(2):  # read, and read again
        assert shown(Parser().pieces(text, "a.c")) == whole


def executed(tree: Any) -> set[int]:
    """The nodes of bodies and initialisers."""
    parts = [getattr(node, "body", None) or getattr(node, "init", None) for node in tree.ext]
    return {id(node) for part in parts if part is not None for node in nodes(part)}


def test_the_files_of_a_program_share_declarations_and_nothing_that_is_executed() -> None:
    text = TEXTS["functions, structs and initialisers"]
    assert len(list(pieces_of(text))) > 2
    own = OwnNodes()
    trees = [own.unit(Parser().pieces(text, "a.c")) for _ in range(3)]
    assert shown(trees[0]) == shown(trees[1]) == shown(trees[2])
    assert any(node in trees[1].ext for node in trees[0].ext)
    assert executed(trees[0])
    assert all(not executed(a) & executed(b) for a, b in combinations(trees, 2))


def test_a_header_without_a_guard_defines_its_structs_twice(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("struct twice { int n; };\n")
    file = tmp_path / "a.c"
    file.write_text('#include "h.h"\n#include "h.h"\n#include "h.h"\nstruct twice held;\n')
    with pytest.raises(InputRefused, match="struct 'twice' is defined twice"):
        read_program(SourceConfig("p", (str(file),)))


@pytest.mark.parametrize(("second", "bits"), [("short", 16), ("int", 32)])
def test_a_struct_of_a_header_has_the_types_that_each_file_gives_it(tmp_path: Path, second: str, bits: int) -> None:
    (tmp_path / "h.h").write_text("struct pair { word a; word b; };\n")
    for name, kind in (("first", "int"), ("second", second)):
        (tmp_path / f"{name}.c").write_text(f'typedef {kind} word;\n#include "h.h"\nstatic struct pair {name};\n')
    program, _, _ = read_program(SourceConfig("p", tuple(str(tmp_path / f"{n}.c") for n in ("first", "second"))))
    types = [unit.scope.names[name].ctype for unit, name in zip(program.units, ("first", "second"), strict=True)]
    assert [member.type.bits for ctype in types for member in ctype.fields] == [32, 32, bits, bits]


def test_a_name_that_is_a_type_in_one_file_alone_is_told_apart() -> None:
    same = '#line 1 "same.h"\nint f(int x) { return (T) * x; }\n'
    trees = [
        Parser().pieces(f'#line 1 "{n}.c"\n{head}\n{same}', "a.c")
        for n, head in enumerate(("typedef int T;", "int T;"))
    ]
    casts = [any(kind == "Cast" for kind, _, _ in shown(tree)) for tree in trees]  # type: ignore[misc]
    assert casts == [True, False]


def test_a_changed_header_is_read_again(tmp_path: Path) -> None:
    file, header = tmp_path / "a.c", tmp_path / "h.h"
    file.write_text('#include "h.h"\nint n = N;\n')
    with pytest.raises(InputRefused, match="not found"):
        preprocess(str(file), Given(), LP64)
    for value in ("1", "2"):
        header.write_text(f"#define N {value}\n")
        assert f"n = {value};" in preprocess(str(file), Given(), LP64).text
    header.unlink()
    with pytest.raises(InputRefused, match="not found"):
        preprocess(str(file), Given(), LP64)
