"""What lies where in a library, for what compilers make of programs: the same addresses in every layout."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path

import pytest
from c_support import own_environment  # noqa: F401
from debugged_programs import FUNCTIONS, asked, library, written
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st
from native_programs import needs_compiler

from bmc.native import symbols
from bmc.native.build import compiler_words
from bmc.native.symbols import LibraryMap, Malformed
from bmc.system.original import NativeInterface

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


@pytest.mark.slow
@pytest.mark.parametrize("level", [pytest.param("-O0", marks=pytest.mark.evidence), "-O2"])
@pytest.mark.parametrize("way", WAYS)
def test_addresses_are_those_of_the_table_of_symbols(tmp_path: Path, way: str, level: str) -> None:
    """A variable whose name is unique lies where ``nm`` says, whatever the layout of the debug information."""
    made = library(tmp_path, *WAYS[way].split(), level)
    if made is None:
        return  # this compiler has no such way
    listed = subprocess.run(["nm", str(made)], capture_output=True, text=True, check=True).stdout
    places: dict[str, set[int]] = {}
    for address, _, name in (line.split() for line in listed.splitlines() if len(line.split()) == 3):
        places.setdefault(name.split(".")[0], set()).add(int(address, 16))
    once = symbols.read_library(made, asked(tmp_path)[0])
    assert {places[name].pop() for name in FUNCTIONS if len(places.get(name, ())) == 1} <= {
        place.address for functions in once.functions.values() for place in functions
    }
    for name, address in once.objects.items():
        assert address in places[name.split()[0]]
    assert bool(once.objects) == ("without" not in way)


def test_every_layout_has_the_same_objects_and_signatures(tmp_path: Path) -> None:
    """The layouts are of one program: only their encoding differs."""
    maps: dict[str, list[LibraryMap]] = {}
    for version in ("4", "3", "4 -gz", "5"):
        made = library(tmp_path, "-O0", *f"-gdwarf-{version}".split())
        if made is not None:
            maps[version] = [symbols.read_library(made, interface) for interface in asked(tmp_path)]
    first = maps.pop("4")
    for version, each in maps.items():
        assert [one.objects for one in each] == [one.objects for one in first], version
        assert [one.functions for one in each] == [one.functions for one in first], version


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
            functions, others = symbols.undefined_symbols(made)
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
        made.write_bytes(before)
        symbols.weaken(made, name)
        listed = subprocess.run(["nm", str(made)], capture_output=True, text=True, check=True).stdout
        kinds = {line.split()[-1]: line.split()[-2] for line in listed.splitlines()}
        assert {each for each, kind in kinds.items() if kind == "W"} == {name} & {"main", "use"}


@pytest.fixture(scope="module")
def compiled_libraries(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[bytes, list[NativeInterface]]]:
    made = []
    for options in (["-gdwarf-4"], ["-gdwarf-5", "-O2"], ["-gdwarf-4", "-gz"], ["-gdwarf-2", "-m32", "-ffreestanding"]):
        folder = tmp_path_factory.mktemp("library")
        file = library(folder, *options)
        if file is not None:
            made.append((file.read_bytes(), asked(folder)))
    return made


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_damage_is_told_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory,
    compiled_libraries: list[tuple[bytes, list[NativeInterface]]],
    data: st.DataObject,
) -> None:
    """The reader ends, with a result or with its one class of error, whatever is changed or cut off."""
    whole, interfaces = data.draw(st.sampled_from(compiled_libraries))
    damaged, file = bytearray(whole), tmp_path_factory.getbasetemp() / "damaged.so"
    sections = [
        each for each in ELFFile(io.BytesIO(whole)).iter_sections() if each.name.startswith((".debug", ".symtab"))
    ]
    for _ in range(data.draw(st.integers(0, 5))):
        section = data.draw(st.sampled_from(sections))
        damaged[section["sh_offset"] + data.draw(st.integers(0, section["sh_size"] - 1))] = data.draw(
            st.integers(0, 255)
        )
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    file.write_bytes(damaged)
    with contextlib.suppress(Malformed):
        symbols.read_library(file, interfaces[0])
    with contextlib.suppress(Malformed):
        symbols.undefined_symbols(file)
