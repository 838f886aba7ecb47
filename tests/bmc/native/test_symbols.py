"""What lies where in a library: as pyelftools tells it, for what compilers make of programs."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import elftools_reader
import pytest
from c_support import own_environment  # noqa: F401
from command_line import MODELS
from debugged_programs import asked, library, written
from hypothesis import given, settings
from hypothesis import strategies as st
from native_programs import needs_compiler

from bmc.native import symbols
from bmc.native.build import Builder, compiler_words
from bmc.native.cache import Cache
from bmc.native.elf import ElfFile, Malformed
from bmc.system.original import NativeInterface
from chaincover.project.load import Program, Request

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="needs ELF")]

WAYS = {
    "dwarf 2": "-gdwarf-2 -gstrict-dwarf",
    "dwarf 3": "-gdwarf-3",
    "dwarf 4": "-gdwarf-4",
    "dwarf 5": "-gdwarf-5",
    "offsets of 64 bits": "-gdwarf-4 -gdwarf64",
    "macros": "-g3 -gdwarf-5",
    "compressed": "-gdwarf-4 -gz",
    "compressed in the old way": "-gdwarf-4 -gz=zlib-gnu",
    "types in units of their own": "-gdwarf-4 -fdebug-types-section",
    "words of 32 bits": "-gdwarf-4 -m32 -ffreestanding",
    "words of 32 bits, dwarf 5": "-gdwarf-5 -m32 -ffreestanding",
    "addresses of 32 bits": "-gdwarf-4 -mx32",
    "optimised when linked": "-gdwarf-5 -flto",
    "lines alone": "-g1",
    "without debug information": "-g0",
}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("way", WAYS)
def test_as_pyelftools_tells(tmp_path: Path, way: str, level: str) -> None:
    made = library(tmp_path, *WAYS[way].split(), level)
    if made is None:
        return  # this compiler has no such way
    for interface in asked(tmp_path):
        assert symbols.read_library(made, interface) == elftools_reader.read_library(made, interface)
    if "debug" not in way and "lines" not in way and level == "-O0":
        assert {len(symbols.read_library(made, interface).objects) for interface in asked(tmp_path)} > {0}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("way", "like"),
    [
        ("-gdwarf-5 -gdwarf64", "-gdwarf-5"),  # the assembler writes line tables with offsets of 32 bits even so
        ("-gdwarf-5 -fdebug-types-section", "-gdwarf-4 -fdebug-types-section"),  # types are in .debug_info
    ],
)
def test_what_pyelftools_cannot_read_is_as_with_another_layout(tmp_path: Path, way: str, like: str, level: str) -> None:
    maps = []
    for options in (way, like):
        made = library(tmp_path, level, *options.split())
        if made is not None:
            maps.append([symbols.read_library(made, interface) for interface in asked(tmp_path)])
    assert all(each == maps[0] for each in maps)


def test_variables_are_told_apart_by_file_function_and_block(tmp_path: Path) -> None:
    made = library(tmp_path, "-gdwarf-4")
    assert made is not None
    first, second = written(tmp_path)
    once, _, _, four_times = (symbols.read_library(made, interface).objects for interface in asked(tmp_path))
    assert once[f"same  {first} 0"] != once[f"same  {second} 0"]
    assert f"local step {first} 0" not in once, "it has four of that name"
    blocks = [four_times[f"local step {first} {number}"] for number in range(4)]
    assert len(set(blocks)) == 4
    assert once[f"local next {second} 0"] not in blocks


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(folder.name for folder in MODELS.iterdir()))
def test_bundled_models(tmp_path: Path, model: str) -> None:
    native = Program.of(Request(str(MODELS / model)).project()).model.native
    builder = Builder(compiler_words(), native, tmp_path)
    made, read = builder.library(Cache())
    assert read == elftools_reader.read_library(made, native)


def test_undefined_symbols(tmp_path: Path) -> None:
    text = """extern int missing, other[]; int called(int); int called_too(void); extern int taken(void);
    extern double sin(double); extern void *stdout; __attribute__((weak)) extern int may_be_missing;
    void *use(void) { (void)sin(called(missing)); other[0] = called_too() + may_be_missing; return stdout ? 0 : taken; }
    """
    (tmp_path / "a.c").write_text(text, encoding="utf-8")
    for options in (["-lm"], ["-nostdlib"], ["-nostdlib", "-lm"], ["-lm", "-m32"]):
        made = tmp_path / "a.so"
        command = [*compiler_words(), "-shared", "-fPIC", "-w", str(tmp_path / "a.c"), "-o", str(made), *options]
        if not subprocess.run(command, capture_output=True, check=False).returncode:
            functions, others = told = symbols.undefined_symbols(made)
            assert told == elftools_reader.undefined_symbols(made)
            assert {"called", "called_too"} <= {*functions}
            assert {"missing", "other", "taken"} <= {*others}


@pytest.mark.parametrize("options", ["", "-m32"])
def test_weaken(tmp_path: Path, options: str) -> None:
    source, made = tmp_path / "a.c", tmp_path / "a.o"
    source.write_text("int main(void) { return 0; } int other(void); int use(void) { return other(); }", "utf-8")
    command = [*compiler_words(), "-c", str(source), "-o", str(made), *options.split()]
    assert not subprocess.run(command, capture_output=True, check=False).returncode
    before = made.read_bytes()
    for name in ("main", "use", "other", "absent"):
        results = []
        for reader in (symbols, elftools_reader):
            made.write_bytes(before)
            reader.weaken(made, name)
            results.append(made.read_bytes())
        assert results[0] == results[1]
        assert (results[0] != before) == (name in ("main", "use"))


@pytest.fixture(scope="module")
def compiled_libraries(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, list[NativeInterface]]]:
    made = []
    for options in (["-gdwarf-4"], ["-gdwarf-5", "-O2"], ["-gdwarf-4", "-gz"], ["-gdwarf-2", "-m32", "-ffreestanding"]):
        folder = tmp_path_factory.mktemp("library")
        file = library(folder, *options)
        if file is not None:
            made.append((file.read_bytes(), asked(folder)))
    return made


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_is_told_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory,
    compiled_libraries: list[tuple[bytes, list[NativeInterface]]],
    data: st.DataObject,
) -> None:
    """The reader ends, with a result or with its one class of error, whatever is changed or cut off."""
    whole, interfaces = data.draw(st.sampled_from(compiled_libraries))
    damaged, file = bytearray(whole), tmp_path_factory.getbasetemp() / "damaged.so"
    with io.BytesIO(whole) as stream:
        sections = [each for each in ElfFile(stream).sections if each.name.startswith((".debug", ".symtab"))]
    for _ in range(data.draw(st.integers(0, 5))):
        section = data.draw(st.sampled_from(sections))
        damaged[section.offset + data.draw(st.integers(0, section.size - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    file.write_bytes(damaged)
    with contextlib.suppress(Malformed):
        symbols.read_library(file, interfaces[0])
    with contextlib.suppress(Malformed):
        symbols.undefined_symbols(file)
