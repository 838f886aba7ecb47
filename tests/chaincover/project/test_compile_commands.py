"""Options of the compiler, from the project file or from compile_commands.json, mean what they mean to the compiler."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment  # noqa: F401

from bmc.errors import InputRefused
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import c_model
from bmc.models.c.controller.reading import SourceConfig
from bmc.models.c.source.options import Dialect, Options
from bmc.system.simulation import Simulator
from chaincover.project.compile_commands import options_of
from chaincover.project.load import Program as Loaded
from chaincover.project.project_file import read_project

PROGRAM = """
#include "limit.h"
typedef enum { IDLE, RUN = 200 } mode;
typedef enum { LOW = -3, HIGH = 300 } level;
struct pair { char a; int b; double d; };
struct { int s : 3; signed t : 3; } field;
mode m; char c; int n; unsigned size; level l; long edition; int wrapped;
void step(unsigned char x, int y) {
  c = x; n = c > 100 ? LIMIT : 2; m = x > 7 ? RUN : IDLE; l = x & 1 ? LOW : HIGH;
  size = sizeof m * 10000 + sizeof l * 1000 + sizeof(struct pair) * 10 + (m < 0);
  edition = __STDC_VERSION__ + (sizeof(TEXT) << 20);
  wrapped = (y + x) * 3 - y;
  field.s = y; field.t = y; n += field.s < field.t;
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
    "-funsigned-bitfields --std=gnu99",
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
    "-fshort-wchar": "-fshort-wchar",
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
    "another machine": ([entry("absent-none-eabi-gcc -c p.c")], "compiled by absent-none-eabi-gcc"),
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


CROSS = """#!/bin/sh
echo "$@" >> {folder}/asked
for kind in "SHORT__ 2" "INT__ 4" "LONG__ 4" "LONG_LONG__ 8" "POINTER__ 4" "DOUBLE__ {double}"; do
  echo "#define __SIZEOF_$kind"
done
echo "#define __BYTE_ORDER__ __ORDER_{order}_ENDIAN__"
echo "#define __BIGGEST_ALIGNMENT__ 8"
echo "#define __ARM_SIZEOF_MINIMAL_ENUM 1"
echo "#define __CHAR_UNSIGNED__ 1"
echo "#define __arm__ 1"
echo "#define __ARM_ARCH 7"
echo "#define __INT_MAX__ 5"
printf '#include <...> search starts here:\\n {folder}/headers\\n {folder}/none\\nEnd of search list.\\n' >&2
"""


def cross_compiler(folder: Path, name: str, double: int = 8, order: str = "LITTLE") -> Path:
    """A compiler for another machine, as far as its macros go; it writes with what it was called."""
    place = folder / name
    place.write_text(CROSS.format(folder=folder, double=double, order=order))
    place.chmod(0o755)
    return place


@pytest.mark.needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_word_sizes_and_macros_of_an_installed_compiler_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cross_compiler(tmp_path, "arm-none-eabi-gcc")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    words = "/opt/arm/bin/arm-none-eabi-gcc -mcpu=cortex-m4 -D__ARM_ARCH=8 -std=c99 -c p.c"
    (tmp_path / "c.json").write_text(json.dumps([entry(words)]))
    options, dialect = options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "")
    assert dialect == Dialect("ilp32", char_signed=False, short_enums=True, aligned=True)
    macros = next(iter(options.values())).macros
    assert ("__arm__", "1") in macros
    assert [value for name, value in macros if name == "__ARM_ARCH"] == ["7", "8"]
    assert "__INT_MAX__" not in dict(macros)
    asked = (tmp_path / "asked").read_text().split()
    assert asked == ["-mcpu=cortex-m4", "-std=c99", "-v", "-dM", "-E", "-x", "c", "/dev/null"]
    with pytest.raises(InputRefused, match=r"sources.target is ip16, but arm-none-eabi-gcc has the word sizes ilp32"):
        options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "ip16")


@pytest.mark.needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_headers_of_an_installed_compiler_are_read_where_no_other_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By model and original; those of the standard library stay ours, and those of the program go first."""
    cross_compiler(tmp_path, "arm-none-eabi-gcc")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "headers" / "chip").mkdir(parents=True)
    (tmp_path / "headers" / "stdint.h").write_text("#error not this one\n")
    (tmp_path / "headers" / "chip" / "io.h").write_text(
        "#include <stdint.h>\n#define FACTOR 3\ntypedef int16_t word;\n"
    )
    (tmp_path / "headers" / "own.h").write_text("#error not this one\n")
    (tmp_path / "own.h").write_text("#define OFFSET 4\n")
    (tmp_path / "p.c").write_text(
        "#include <chip/io.h>\n#include <own.h>\nint r; void step(word x) { r = FACTOR * x + OFFSET; }"
    )
    (tmp_path / "c.json").write_text(json.dumps([entry("arm-none-eabi-gcc -I. -c p.c")]))
    text = '[sources]\nfiles = ["p.c"]\ncompile_commands = "c.json"\n[functions]\nstep = "step"\n'
    (tmp_path / "chaincover.toml").write_text(text)
    fresh_environment()
    model = c_model(Loaded.of(read_project(str(tmp_path))).model)
    assert f"headers of the installed compiler are read, from {tmp_path / 'headers'}" in model.notes
    found = agreement(model, pairs=40)
    assert (found.steps, found.differences) == (40, [])


@pytest.mark.needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_only_compilers_on_the_path_are_asked_and_of_no_types_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cross_compiler(tmp_path, "short-gcc", double=4)
    cross_compiler(tmp_path, "ppc-gcc", order="BIG")
    cross_compiler(tmp_path, "evil.sh")
    (tmp_path / "elsewhere").mkdir()
    cross_compiler(tmp_path / "elsewhere", "hidden-gcc")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "c.json").write_text(json.dumps([entry("short-gcc -c p.c")]))
    assert options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "")[1].short_double
    for compiler, message in (
        ("ppc-gcc", "double 8, highest byte first"),
        (f"{tmp_path}/evil.sh", "is compiled by evil.sh, whose word sizes are not known here"),
        (f"{tmp_path}/elsewhere/hidden-gcc", "is compiled by hidden-gcc, whose word sizes are not known here"),
    ):
        (tmp_path / "c.json").write_text(json.dumps([entry(f"{compiler} -c p.c")]))
        with pytest.raises(InputRefused, match=message):
            options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "")
    assert not (tmp_path / "elsewhere" / "asked").exists()


BYTEWISE = """
#include <stdint.h>
struct frame { uint8_t id; uint16_t value; uint8_t crc; uint32_t time; };
struct fields { unsigned a : 3; unsigned b : 14; unsigned c : 5; unsigned : 0; unsigned char d; };
_Static_assert(sizeof(struct frame) == 8, "members lie at any byte");
_Static_assert(sizeof(struct fields) == 4, "bit-fields lie side by side");
_Static_assert(_Alignof(long) == 1 && _Alignof(void *) == 1, "nothing is aligned");
union { struct frame f; uint8_t raw[8]; } u;
int out;
void step(int x) { u.f.value = x; out = u.raw[1]; }
"""
"""A program for AVR: avr-gcc accepts it."""


@pytest.mark.needs_compiler
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_nothing_is_aligned_where_the_compiler_for_another_machine_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = cross_compiler(tmp_path, "avr-gcc", double=4)
    text = place.read_text().replace("INT__ 4", "INT__ 2").replace("POINTER__ 4", "POINTER__ 2")
    place.write_text(text.replace("ALIGNMENT__ 8", "ALIGNMENT__ 1"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "p.c").write_text(BYTEWISE)
    (tmp_path / "c.json").write_text(json.dumps([entry("avr-gcc -mmcu=atmega328p -c p.c")]))
    text = '[sources]\nfiles = ["p.c"]\ncompile_commands = "c.json"\n[functions]\nstep = "step"\n'
    (tmp_path / "chaincover.toml").write_text(text)
    config = read_project(str(tmp_path)).config
    fresh_environment()
    model = read_c(config)
    start = Simulator(model.system).initial()
    assert Simulator(model.system).step(start, {"x": 0x1234})["out"] == 0x34


EMBEDDED = (
    "--specs=nano.specs --sysroot=/opt/arm -mthumb -march=armv7e-m -mlong-calls -fcyclomatic-complexity"
    " -T flash.ld -Tram.ld -u _printf_float -Xlinker -Map=x.map -masm-syntax-unified -fno-move-loop-invariants"
)


def test_what_builds_for_boards_say_of_machine_and_linker_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([entry(f"absent-none-eabi-gcc {EMBEDDED} -DX=1 -c p.c")]))
    options, dialect = options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "ilp32")
    assert next(iter(options.values())).macros == (("X", "1"),)
    assert dialect == Dialect()
    (tmp_path / "c.json").write_text(json.dumps([entry("gcc -march=native -c p.c")]))
    with pytest.raises(InputRefused, match="-march=native: it may change what the program means"):
        options_of(tmp_path / "c.json", [str(tmp_path / "p.c")], (), "")


def test_the_sign_of_a_bit_field_without_one_is_not_guessed_behind_a_typedef(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("typedef int small; struct { small s : 3; } f; void step(int x) { f.s = x; }")
    fresh_environment()
    dialect = Options(["-funsigned-bitfields"], ".", None).dialect
    with pytest.raises(InputRefused, match="the sign of the bit-field 's' depends on its typedef"):
        read_c(SourceConfig("p", (str(tmp_path / "p.c"),), step="step", dialect=dialect))


@pytest.mark.needs_narrow
def test_a_program_of_this_machine_for_32_bits_sees_its_platform_and_one_for_a_target_does_not(tmp_path: Path) -> None:
    code = "int seen; void step(int x) {\n#ifdef __linux__\n  seen = x;\n#else\n  seen = -(long)(x & 3);\n#endif\n}\n"
    (tmp_path / "p.c").write_text(code)
    (tmp_path / "c.json").write_text(json.dumps([entry("gcc -m32 -c p.c")]))
    for build, seen in (('compile_commands = "c.json"', 7), ('target = "ilp32"', -3)):
        text = f'[sources]\nfiles = ["p.c"]\n{build}\n[functions]\nstep = "step"\n'
        (tmp_path / "chaincover.toml").write_text(text)
        fresh_environment()
        model = c_model(Loaded.of(read_project(str(tmp_path))).model)
        after = Simulator(model.system).step({"seen": 0}, {"x": 7})["seen"]
        assert after == seen & 0xFFFFFFFF
        assert agreement(model, pairs=40).differences == []


SHORT = """
#include <float.h>
#include <math.h>
typedef struct { char c; double d; } record;
double sum, most; int sizes, large; long rounded; float narrow;
static double eased(double x) { return x + 1.0000001; }
void step(signed char x, double y) {
  const char *text = "double sqrt(1)";
  sum = eased(y) * 0.1 + sqrt(fabs(sum)) / 3.0 + text[7] * 1e-3;
  sizes = sizeof(double) * 1000 + sizeof(record) * 100 + sizeof 1.0 * 10 + (sizeof "double" == 7) + (DBL_DIG << 20);
  large = sum > DBL_MAX / 2 || y > HUGE_VAL;
  most = DBL_EPSILON * x + DBL_MAX;
  if (y > -1e6 && y < 1e6) rounded = lround(y * 1.5);
  narrow = (float)y + floor(sum);
}
"""


@pytest.mark.needs_compiler
def test_a_double_of_four_bytes_is_float_everywhere_but_in_headers_of_the_system(tmp_path: Path) -> None:
    fresh_environment()
    (tmp_path / "p.c").write_text(SHORT)
    read = Options(["-fshort-double"], str(tmp_path), None)
    file = str(tmp_path / "p.c")
    config = SourceConfig("p", (file,), step="step", options={file: read.of_file}, dialect=read.dialect)
    model = read_c(config)
    after = Simulator(model.system).step(Simulator(model.system).initial(), {"x": 1, "y": 0})
    assert after["sizes"] == 4000 + 800 + 40 + 1 + (6 << 20)
    found = agreement(model, pairs=200)
    assert (found.differences, found.traps) == ([], [])
    assert found.steps == 200
