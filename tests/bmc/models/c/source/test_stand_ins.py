"""Bundled stand-ins for missing vendor headers: read for every target, used only where nothing else is found."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import ROOT, chaincover, write_files

from bmc.models.c.source.headers import VENDOR_STAND_INS, stand_in
from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.program import parse_file
from bmc.models.c.source.types import DATA_MODELS
from bmc.native.build import find_compiler

HEADERS = sorted(place.relative_to(VENDOR_STAND_INS).as_posix() for place in VENDOR_STAND_INS.rglob("*.h"))
PROJECT = '[sources]\nfiles = ["src/x.c"]\n{more}[functions]\nstep = "X_step"\ninit = []\n'
CODE = """\
#include "rtwtypes.h"
#include "X_MemMap.h"
static uint8_T n;
#include "X_MemMap.h"
void X_step(boolean_T on) { n = on ? (uint8_T)(n + 1U) : MAX_uint8_T; }
"""
MINE = "typedef unsigned char uint8_T;\ntypedef _Bool boolean_T;\n#define MAX_uint8_T ((uint8_T)7)\n"
NOTE = "note: rtwtypes.h: bundled stand-in for a header"


@pytest.mark.parametrize("name", HEADERS)
def test_each_is_read_for_every_target(name: str, tmp_path: Path) -> None:
    """Alone, and twice."""
    file = tmp_path / "x.c"
    file.write_text(f'#include "{name}"\n#include "{name}"\nint x;\n')
    for model in DATA_MODELS.values():
        source, _ = parse_file(str(file), Given(), model)
        assert (name, str(VENDOR_STAND_INS / name)) in source.stand_ins


@pytest.mark.needs_compiler
def test_all_together_compile(tmp_path: Path) -> None:
    """As strict C11, except for what our own reader does not need either."""
    file = tmp_path / "x.c"
    file.write_text("".join(f"#include <{name}>\n" for name in HEADERS) + "int x;\n")
    compiler = find_compiler()
    assert compiler is not None
    words = [*compiler.split(), "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-idirafter", str(VENDOR_STAND_INS)]
    done = subprocess.run([*words, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("model", DATA_MODELS.values(), ids=DATA_MODELS)
def test_integer_types_have_the_sizes_in_their_names(model: object, tmp_path: Path) -> None:
    """Static assertions that the reader checks, for every target."""
    names = [f"{sign}int{bits}_T" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    names += [f"{sign}int{bits}" for sign in ("s", "u") for bits in (8, 16, 32, 64)]
    checks = [
        f'_Static_assert(sizeof({name}) == {int("".join(filter(str.isdigit, name))) // 8}, "{name}");' for name in names
    ]
    code = '#include "rtwtypes.h"\n#include "Platform_Types.h"\n' + "\n".join(checks) + "\nvoid X_step(int a) { }\n"
    target = model.name  # type: ignore[attr-defined]
    write_files(tmp_path, {"src/x.c": code, "p.toml": PROJECT.format(more=f'target = "{target}"\n')})
    checked = chaincover("generate", "p.toml", "--property", "g: cover(a == 1)", "--no-replay", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")


@pytest.mark.needs_compiler
def test_a_missing_header_is_stood_in_for_on_both_sides(tmp_path: Path) -> None:
    write_files(tmp_path, {"src/x.c": CODE, "p.toml": PROJECT.format(more="")})
    checked = chaincover("check", "p.toml", "--compare", "100", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    assert NOTE in checked.out
    assert "note: X_MemMap.h: bundled stand-in for a header" in checked.out
    assert "equal on 50 steps along random runs and 50 from random states" in checked.out


@pytest.mark.needs_compiler
@pytest.mark.parametrize("place", ["src/rtwtypes.h", "rtwtypes.h", "inc/rtwtypes.h"])
def test_a_header_of_the_project_goes_before(place: str, tmp_path: Path) -> None:
    """Beside the file, in the project's folder, in an include folder; for the compiled original, too."""
    more = 'include = ["inc"]\n'
    write_files(tmp_path, {"src/x.c": CODE, place: MINE, "p.toml": PROJECT.format(more=more)})
    checked = chaincover("check", "p.toml", "--compare", "100", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    assert NOTE not in checked.out
    assert "DISAGREES" not in checked.out
    reach = ("--property", "seven: cover(n == 7 && X(n == 8))")
    assert chaincover("generate", "p.toml", *reach, cwd=tmp_path).code == 0


def test_a_stand_in_takes_the_projects_header_where_it_includes_one(tmp_path: Path) -> None:
    """Std_Types.h is missing, Platform_Types.h is not."""
    (tmp_path / "Platform_Types.h").write_text(
        "typedef unsigned char uint8;\ntypedef unsigned short uint16;\n#define MINE\n"
    )
    file = tmp_path / "x.c"
    file.write_text("#include <Std_Types.h>\n#ifndef MINE\n#error theirs\n#endif\nStd_ReturnType x;\n")
    unit = preprocess(str(file), Given([str(tmp_path)]), DATA_MODELS["lp64"])
    assert {name for name, _ in unit.stand_ins} == {"Std_Types.h", "Compiler.h", "Compiler_Cfg.h"}


@pytest.mark.parametrize("name", ["Rte_Door.h", "Door_MemMap.h", "MemMap.h"])
def test_headers_named_after_a_component(name: str) -> None:
    assert stand_in(name).parent == VENDOR_STAND_INS


@pytest.mark.parametrize("name", ["Door.h", "Rte_.c", "MyMemMap.hpp", "sub/rtwtypes2.h"])
def test_other_headers_have_none(name: str) -> None:
    with pytest.raises(FileNotFoundError):
        stand_in(name)


def test_a_header_without_stand_in_is_missing(tmp_path: Path) -> None:
    write_files(tmp_path, {"src/x.c": '#include "vendor.h"\n' + CODE, "p.toml": PROJECT.format(more="")})
    refused = chaincover("check", "p.toml", cwd=tmp_path)
    assert refused.code == 3
    assert "src/x.c:1: header 'vendor.h' not found" in refused.err


def test_the_page_lists_each() -> None:
    page = (ROOT / "docs" / "reference" / "stand-ins.md").read_text()
    assert [name for name in HEADERS if f"`{name}`" not in page] == []
