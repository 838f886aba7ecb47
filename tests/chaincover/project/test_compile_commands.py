"""Options of the compiler, from the project file or from compile_commands.json, mean what they mean to the compiler."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment  # noqa: F401

from bmc.errors import InputRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.options import Options
from bmc.system.simulation import Simulator
from chaincover.project.compile_commands import options_of
from chaincover.project.project_file import read_project

PROGRAM = """
#include "limit.h"
typedef enum { IDLE, RUN = 200 } mode;
typedef enum { LOW = -3, HIGH = 300 } level;
struct pair { char a; int b; double d; };
mode m; char c; int n; unsigned size; level l; long edition; int wrapped;
void step(unsigned char x, int y) {
  c = x; n = c > 100 ? LIMIT : 2; m = x > 7 ? RUN : IDLE; l = x & 1 ? LOW : HIGH;
  size = sizeof m * 10000 + sizeof l * 1000 + sizeof(struct pair) * 10 + (m < 0);
  edition = __STDC_VERSION__ + (sizeof(TEXT) << 20);
  wrapped = (y + x) * 3 - y;
}
"""
FORCED = '#define TEXT "given"\n#define LIMIT 0\n#undef LIMIT\n'


def written(folder: Path, words: str, **more: str) -> Path:
    """A program in ``src`` with a database that compiles it so; the database's place."""
    for name, text in {
        "src/program.c": PROGRAM,
        "inc/limit.h": "#define LIMIT 5\n",
        "build/first.h": FORCED,
        **more,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    entry = {
        "directory": str(folder / "build"),
        "file": "../src/program.c",
        "command": f"gcc {words} -c ../src/program.c -o p.o",
    }
    place = folder / "build" / "compile_commands.json"
    place.write_text(json.dumps([entry]))
    return place


OPTIONS = (
    "",
    "-funsigned-char",
    "-fsigned-char -fshort-enums",
    "-fwrapv -fpack-struct",
    "-fpack-struct=2 -std=gnu99",
    "-std=c17 -O2 -Wall -MMD -MF x.d -g3",
    "-fshort-enums -funsigned-char -fwrapv -fno-wrapv",
    '-DLIMIT2=3 -UTEXT -D TEXT=\'"a \\" b"\' -isystem ../inc',
)


@pytest.mark.needs_compiler
@pytest.mark.parametrize("words", OPTIONS)
def test_a_program_is_read_as_its_entry_compiles_it(words: str, tmp_path: Path) -> None:
    place = written(tmp_path, f"-I../inc -include first.h {words}")
    file = str(tmp_path / "src/program.c")
    options, dialect = options_of(place, [file], (), "")
    fresh_environment()
    model = read_c(SourceConfig("p", (file,), step="step", options=options, dialect=dialect))
    found = agreement(model, pairs=100)
    assert found.steps > (90 if "-fwrapv" in words.split()[-1:] else 20)
    assert not found.differences, found.differences[0]


def test_signed_sums_that_wrap_are_defined(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int n; void step(int x) { n = x * 3 + n - x; n = -n; }")
    fresh_environment()
    given = Options(["-fwrapv"], ".", None)
    files = (str(tmp_path / "p.c"),)
    wraps = read_c(SourceConfig("p", files, step="step", dialect=given.dialect))
    assert wraps.system.defined.is_true()
    fresh_environment()
    assert not read_c(SourceConfig("p", files, step="step")).system.defined.is_true()


def test_a_project_names_options_for_all_files(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("char c; void step(void) { c = 200; }")
    project = tmp_path / "chaincover.toml"
    project.write_text(
        '[sources]\nfiles = ["p.c"]\noptions = ["-funsigned-char", "-m32"]\n[functions]\nstep = "step"\n'
    )
    config = read_project(project).config
    assert (config.target, config.dialect.char_signed) == ("ilp32", False)
    fresh_environment()
    model = read_c(config)
    assert Simulator(model.system).step({"c": 0}, {})["c"] == 200
    assert model.described["options"] == ["-funsigned-char"]


def test_files_of_options_and_launchers(tmp_path: Path) -> None:
    place = written(tmp_path, "@flags", **{"build/flags": "-I../inc @more\n", "build/more": "-DA='x y'"})
    data = json.loads(place.read_text())
    data[0]["arguments"] = ["ccache", *shlex.split(data[0].pop("command"))]
    place.write_text(json.dumps(data))
    file = str(tmp_path / "src/program.c")
    options, _ = options_of(place, [file], (), "")
    assert options[file].include == (str(tmp_path / "inc"),)
    assert options[file].macros == (("A", "x y"),)


REFUSED = {
    "-ffast-math": "-ffast-math: it may change what the program means",
    "-x c++": "the language is not C",
    "-std=gnu++17": "this edition of C is not known",
    "-I": "its value is missing",
    "-fshort-double": "-fshort-double",
    "@flags": "names itself",
    "'": "cannot be read",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_followed_is_refused_by_name(words: str, tmp_path: Path) -> None:
    place = written(tmp_path, words, **{"build/flags": "@flags"})
    if words == "-I":
        place.write_text(json.dumps([{"directory": ".", "file": "../src/program.c", "arguments": ["cc", "-I"]}]))
    with pytest.raises(InputRefused, match=REFUSED[words]) as caught:
        options_of(place, [str(tmp_path / "src/program.c")], (), "")
    assert caught.value.where is not None
    assert caught.value.where.file == str(place)
    assert caught.value.hint


def entry(command: str) -> dict[str, str]:
    return {"directory": ".", "file": "p.c", "command": command}


DATABASES = {
    "two that differ": ([entry("cc -DA=1 p.c"), entry("cc -DA=2 p.c")], "2 entries are for"),
    "another machine": ([entry("arm-none-eabi-gcc -c p.c")], "compiled by arm-none-eabi-gcc"),
    "no entry": ([{"directory": ".", "file": "q.c", "command": "cc q.c"}], "no entry is for"),
    "no list": ({}, "a list of entries"),
    "lacks": ([{"file": "p.c"}], "entry 1 lacks"),
}


@pytest.mark.parametrize("name", DATABASES)
def test_a_database_that_cannot_be_followed_is_refused(name: str, tmp_path: Path) -> None:
    data, message = DATABASES[name]
    (tmp_path / "c.json").write_text(json.dumps(data))
    with pytest.raises(InputRefused, match=message):
        options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "")


def test_two_entries_that_agree_and_a_target_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([entry("arm-none-eabi-gcc -mcpu=cortex-m4 -c p.c")] * 2))
    options, _ = options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "ilp32")
    assert len(options) == 1


def test_files_of_different_languages_are_refused(tmp_path: Path) -> None:
    two = [entry("cc -funsigned-char -c p.c"), {"directory": ".", "file": "q.c", "command": "cc -c q.c"}]
    (tmp_path / "c.json").write_text(json.dumps(two))
    with pytest.raises(InputRefused, match="different targets or types"):
        options_of(tmp_path / "c.json", [str(tmp_path / "p.c"), str(tmp_path / "q.c")], (), "")
