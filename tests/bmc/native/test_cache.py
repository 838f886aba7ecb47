"""Built programs that are kept: found again by what they are made from, believed only from a folder of one's own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from native_programs import Write, counter, needs_compiler, writer

from bmc.native import cache
from bmc.native.original import compiled, find_compiler

pytestmark = [needs_compiler, pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX users")]

ONE, TWO = "int n; void step(void) { n += 1; }", "int n; void step(void) { n += 2; }"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "some" / "kept"
    monkeypatch.setenv(cache.VARIABLE, str(place))
    return place


def after_three(sources: tuple[str, ...], kept: bool = True) -> tuple[int, str]:
    """``n`` after three steps, and the note of the program."""
    with compiled(counter(sources), kept) as program:
        return program.run([{}] * 3)[-1]["n"], program.note


def exchange(folder: Path, sources: tuple[str, ...], another: str) -> None:
    """What is kept for ``sources`` becomes the library of ``another`` program, its sum included."""
    (own,) = folder.iterdir()
    text = Path(sources[0]).read_text()
    Path(sources[0]).write_text(another)
    after_three(sources)
    (other,) = set(folder.iterdir()) - {own}
    other.rename(own)
    Path(sources[0]).write_text(text)


def test_what_is_kept_serves_again_and_only_where_that_is_asked_for(write: Write, folder: Path) -> None:
    sources = write(a=ONE)
    assert after_three(sources) == (3, "")
    assert folder.stat().st_mode & 0o777 == 0o700
    exchange(folder, sources, TWO)
    assert after_three(sources) == (6, ""), "the kept library was not taken"
    assert after_three(sources, kept=False) == (3, "")


def test_statics_of_a_kept_library_are_found_as_in_a_built_one(write: Write, folder: Path) -> None:
    sources = write(a="static int n; static void step(void) { n += 5; } void (*keep)(void) = step;")
    assert after_three(sources) == after_three(sources) == (15, "")


def test_a_program_with_files_that_the_assembler_reads_is_not_kept(write: Write, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    text = f"""
    asm(".data\\n.globl own\\nown: .incbin \\"{data}\\"\\n.text");
    extern const char own[] __attribute__((visibility("hidden")));
    int n; void step(void) {{ n = own[0]; }}
    """
    for number in (3, 5):
        data.write_bytes(bytes([number]))
        assert after_three(write(a=text)) == (number, "")


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:-9] + b"x" + data[-8:], lambda data: b""]
)
def test_damaged_files_are_built_anew(write: Write, folder: Path, damage: Callable[[bytes], bytes]) -> None:
    sources = write(a=ONE)
    after_three(sources)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert after_three(sources) == (3, "")
    digest, _, rest = kept.read_bytes().partition(b"\n")
    assert hashlib.sha256(rest).hexdigest().encode() == digest


def test_a_kept_file_that_others_may_write_is_not_believed(write: Write, folder: Path) -> None:
    sources = write(a=ONE)
    after_three(sources)
    exchange(folder, sources, TWO)
    (kept,) = folder.iterdir()
    kept.chmod(0o620)
    assert after_three(sources) == (3, "")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda place: place.mkdir(mode=0o755, parents=True), "others may read or write it"),
        (lambda place: (place.parent.mkdir(), place.symlink_to(place.parent)), "is not used"),
        (lambda place: (place.parent.mkdir(), place.write_text("")), "is not used"),
    ],
)
def test_a_folder_that_is_not_private_is_not_used_and_told(
    write: Write, folder: Path, make: Callable[[Path], object], why: str
) -> None:
    make(folder)
    number, note = after_three(write(a=ONE))
    assert number == 3
    assert f"{folder}, is not used" in note
    assert why in note
    assert cache.VARIABLE in note
    assert not folder.is_dir() or folder.is_symlink() or not [*folder.iterdir()]


def test_a_folder_of_somebody_else_is_not_used(write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700, parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    number, note = after_three(write(a=ONE))
    assert (number, [*folder.iterdir()]) == (3, [])
    assert "belongs to somebody else" in note


@pytest.mark.parametrize("setting", ["", "off"])
def test_switched_off(write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str) -> None:
    monkeypatch.setenv(cache.VARIABLE, setting)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert after_three(write(a=ONE)) == (3, "")
    assert not (tmp_path / "caches").exists()


def test_by_default_it_is_in_the_folder_for_caches(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(cache.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert after_three(write(a=ONE)) == (3, "")
    assert len([*(tmp_path / "caches" / "chaincover").iterdir()]) == 1


def test_headers_options_and_compiler_count(write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = write(a='#include <assert.h>\n#include "b.h"\nint n; void step(void) { assert(n >= 0); n += BY; }')
    header = Path(sources[0]).with_name("b.h")
    for number, text in enumerate(("#define BY 4\n", "#define BY 5\n"), 1):
        header.write_text(text)
        assert after_three(sources)[0] == after_three(sources)[0] == 3 * (3 + number)
        assert len([*folder.iterdir()]) == number
    monkeypatch.setenv("CC", f"{find_compiler()} -fno-common")
    assert after_three(sources)[0] == 15
    assert len([*folder.iterdir()]) == 3


def test_files_not_used_for_longest_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 4)
    with cache.open_cache() as kept:
        for number in range(4):
            kept.put(str(number), number, b"library")
            os.utime(folder / str(number), (number, number))
        assert kept.get("0") == (0, b"library")
        kept.put("4", 4, b"library")
        assert sorted(file.name for file in folder.iterdir()) == ["0", "4"]
