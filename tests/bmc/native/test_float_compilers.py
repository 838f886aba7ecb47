"""Where compilers get floating point wrong: the original is built so that they do not, or the replay is refused."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from c_support import agreement, own_environment, read  # noqa: F401

from bmc.errors import InputRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.native.build import compiler_words
from bmc.native.original import compiled

SUMS = (
    "0.0f - (float)n",
    "0 - (float)n",
    "NONE - (float)n",
    "0.0 - (double)k",
    "0.0f - fabsf(x)",
    "-(float)n + 0.0f",
    "0.0f + -fabsf(x)",
    "(-0.0f - (float)n) - -0.0f",
    "(n, 0.0f) - (float)n",
    "(float)(n - n) - (float)k",
    "(float)((unsigned char)(k << 8)) - (float)n",
    "(float)(u * 2 - u - u) - (float)n",
    "((float)k - (float)k) - (float)n",
    "((n & 1) >> 1) - (float)n",
    "(p.a ? 0 : k - k) - (float)n",
    "(float)1e-50 - (float)k",
    "floorf(0.5f) - (float)n",
    "(x = 0.0f) - (double)k",
    "!1 - (double)n",
)
"""Sums to whose zeros gcc 12 gives the wrong sign without -frounding-math, for n, k or x = 0."""
OTHERS = (
    "1.0f - (float)n",
    "2.0f * x - (float)n",
    "(x * x) - (float)n",
    "(float)n * 0.5f + p.a",
    "(p.a - p.b) - x",
    "x - (float)n",
    "fabsf(x) - (float)n",
    "-(float)n",
    "0.0f * (float)n",
    "n - 0",
)
STEP = """
#include <math.h>
enum none { NONE };
struct pair { float a, b; } p;
double r[20];
void step(int n, unsigned u, unsigned char k, float x) { BODY }
"""
RANGES = {"n": "-1..1", "k": "0..1", "u": "0..2", "x": ("0", "-0.0", "1.5")}

ROW = "struct row { int key; float value; };"
ROWS = ", ".join(f"{{{n}, {n}.1}}" for n in range(40))
TABLES = f"""
{ROW}
int key; float value; float plain; float literal;
void look(unsigned char n) {{
  struct row rows[40] = {{ {ROWS} }};
  float flat[200] = {{ {", ".join(f"{n}.3" for n in range(200))} }};
  key = rows[n % 40].key;
  value = rows[n % 40].value;
  plain = flat[n % 200];
  literal = ((struct row[]) {{ {ROWS} }})[n % 40].value;
}}
"""
"""Initialisers that gcc 12 lays out wrongly with -frounding-math."""


@pytest.mark.parametrize("expression", SUMS)
def test_sums_of_zero_are_noted(tmp_path: Path, expression: str) -> None:
    """The file is noted with the line of the sum."""
    model = read(tmp_path, STEP.replace("BODY", f"\n  r[0] = {expression};\n"))
    (found,) = model.native.compilation.zero_sums
    assert found.source.endswith("program.c")
    assert (found.place.line, found.narrowed) == (7, None)


@pytest.mark.parametrize("expression", OTHERS)
def test_other_expressions_are_not_noted(tmp_path: Path, expression: str) -> None:
    assert not read(tmp_path, STEP.replace("BODY", f"r[0] = {expression};")).native.compilation.zero_sums


@pytest.mark.needs_compiler
def test_signs_of_zero(tmp_path: Path) -> None:
    """Without -frounding-math gcc 12 gives most of these zeros the wrong sign."""
    body = "".join(f"r[{n}] = {expression};\n" for n, expression in enumerate(SUMS))
    model = read(tmp_path, STEP.replace("BODY", body), ranges=RANGES)
    found = agreement(model, pairs=200)
    assert found.steps == 200
    assert not found.differences


@pytest.mark.needs_compiler
def test_tables(tmp_path: Path) -> None:
    """With -frounding-math gcc 12 puts doubles where floats should be."""
    found = agreement(read(tmp_path, TABLES, step="look"), pairs=200)
    assert found.steps == 200
    assert not found.differences


@pytest.mark.needs_compiler
def test_sums_and_tables_in_different_files(tmp_path: Path) -> None:
    """Each file is compiled with what it needs."""
    sums = (
        "float r; void look(unsigned char n); void step(signed char n) { r = 0.0f - (float)n; look((unsigned char)n); }"
    )
    files = tmp_path / "sums.c", tmp_path / "tables.c"
    files[0].write_text(sums)
    files[1].write_text(TABLES)
    model = read_c(SourceConfig("program", tuple(map(str, files)), step="step", ranges={"n": "-3..100"}))
    assert [each.source for each in model.native.compilation.zero_sums] == [str(files[0])]
    found = agreement(model, pairs=200)
    assert found.steps == 200
    assert not found.differences


def both(folder: Path, initialised: str) -> CModel:
    """A program with a sum of a constant zero, and an initialiser in line 4."""
    return read(
        folder,
        f"""{ROW}
    #define TENTH 0.1
    float r, v; void step(int n, unsigned char k) {{ r = 0.0f - (float)n;
    {initialised}
    v = rows[k & 1].value; }}""",
    )


WRONG = (
    "struct row rows[2] = {{1, 0.1}, {2, 0.5}};",
    "struct row rows[2] = {{1, (float)TENTH}, {2, 0.5}};",
    "const struct row rows[2] = {[1] = {.value = 1.0 / 3}};",
    "struct row rows[2] = {{1, -0.1}};",
    "struct row rows[2] = {{1, 1e300}};",
    "struct row rows[2] = {{1, k ? 0.5f : 1}, {.value = 1 ? 0.1 : 0.2}};",
    "struct { float value; } rows[2] = {16777217.0};",
    "struct row *rows = (struct row[2]){{1, 0.1}};",
    "struct row rows[2]; rows[0] = rows[1] = (struct row){1, 0.1};",
)
RIGHT = (
    "struct row rows[2] = {{1, 0.1f}, {2, 0.5}};",
    "struct row rows[2] = {{1, 16777217}, {2, 0.1f * 3}};",
    "static struct row rows[2] = {{1, 0.1}, {2, 0.3}};",
    "struct row rows[2] = {{0.1, 1.0f}, {k, n}}; float scalar = 0.1; rows[1].value = scalar;",
    "struct row rows[2] = {{1, 1}, {2, 2}}; rows[1].value = 0.1; rows[0].value += 0.7;",
)


@pytest.mark.needs_compiler
@pytest.mark.parametrize("initialised", WRONG)
def test_what_no_option_gets_right_is_refused(
    tmp_path: Path, initialised: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is read, but no replay runs on what gcc makes of it."""
    model = both(tmp_path, initialised)
    if "clang" in version(compiler_words()):
        monkeypatch.setenv("CC", wrapped(tmp_path, "gcc"))
    with pytest.raises(InputRefused, match="gcc may compile the original wrongly") as caught, compiled(model.native):
        pass
    assert caught.value.where is not None
    assert caught.value.where.line == 4
    assert "suffix f" in caught.value.hint
    assert "program.c:3:" in caught.value.message


@pytest.mark.needs_compiler
@pytest.mark.parametrize("initialised", RIGHT)
def test_other_initialisers_are_not_refused(tmp_path: Path, initialised: str) -> None:
    model = both(tmp_path, initialised)
    (found,) = model.native.compilation.zero_sums
    assert found.narrowed is None
    if initialised == RIGHT[0]:
        assert not agreement(model, pairs=50).differences


@pytest.mark.needs_compiler
def test_clang_needs_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is refused for clang, and it gets no -frounding-math."""
    model = both(tmp_path, WRONG[0])
    monkeypatch.setenv("CC", wrapped(tmp_path, "clang"))
    with compiled(model.native) as original:
        assert original.name == "clang version 1"
    assert "-frounding-math" not in (tmp_path / "options").read_text()


def version(words: list[str]) -> str:
    return subprocess.run([*words, "--version"], capture_output=True, text=True, check=False).stdout


def wrapped(folder: Path, name: str) -> str:
    """The system's compiler under another name; it writes its options to a file."""
    script = folder / "compiler"
    script.write_text(
        f"""#!/bin/sh
        [ "$1" = --version ] && echo "{name} version 1" && exit
        echo "$@" >> {shlex.quote(str(folder / "options"))}
        for word do shift; [ "$word" = -femit-all-decls ] || set -- "$@" "$word"; done
        exec {shlex.join(compiler_words())} "$@"
        """
    )
    script.chmod(0o755)
    return shlex.quote(str(script))
