"""What processes take of the memory, and how much of it they may take: containers, children, shares, the hard limit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bmc import footprint
from bmc.footprint import MB, allow, allowed, container_limits, machine, part, taken

linux = pytest.mark.skipif(sys.platform != "linux", reason="the system tells of processes otherwise")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    allow(None)


def groups(folder: Path, lines: str, **limits: str) -> list[int]:
    """The limits of a process in the groups ``lines``, where files of these names (``/`` as ``__``) have limits."""
    (folder / "cgroup").write_text(lines)
    for name, text in limits.items():
        place = folder / "root" / name.replace("__", "/").replace("_DOT_", ".")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")
    return [*container_limits(folder / "cgroup", folder / "root")]


def test_the_limit_of_a_container_and_of_those_around_it(tmp_path: Path) -> None:
    inner, outer = {"a__b__memory_DOT_max": "1000"}, {"a__memory_DOT_max": "700"}
    assert groups(tmp_path, "0::/a/b\n", **inner, **outer, memory_DOT_max="max") == [1000, 700]


def test_the_limit_of_a_container_of_version_1(tmp_path: Path) -> None:
    own = {"memory__docker__x__memory_DOT_limit_in_bytes": "5000"}
    assert groups(tmp_path, "7:cpu:/docker/x\n4:hugetlb,memory:/docker/x\n", **own) == [5000]


def test_a_container_that_is_told_the_path_of_its_host(tmp_path: Path) -> None:
    """The path is not there; the root is the container's own."""
    own = {"memory__memory_DOT_limit_in_bytes": "6000"}
    assert groups(tmp_path, "4:memory:/docker/x\n0::/\n", **own, memory_DOT_max="8000") == [6000, 8000]


def test_no_container(tmp_path: Path) -> None:
    assert [*container_limits(tmp_path / "not there")] == []
    assert groups(tmp_path, "0::/\n", memory_DOT_max="max") == []


def test_half_of_the_machine_unless_something_else_is_said() -> None:
    assert allowed() == machine() // 2
    allow(100)
    assert (allowed(), part(10 * MB), part(1 << 40)) == (100 * MB, 10 * MB, 50 * MB)


@linux
def test_children_and_their_children_count() -> None:
    """A child with 30 MB, whose child has as much."""
    hold = "x = bytearray(30_000_000); print(flush=True); input()"
    both = f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {hold!r}]); {hold}"
    before = taken()
    with subprocess.Popen([sys.executable, "-c", both], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
        grown = taken() - before
        process.communicate(b"\n\n")
    assert 60 * MB < grown < 150 * MB
    assert taken() - before < 20 * MB


@linux
def test_an_array_that_is_far_too_large_is_refused_until_the_limit_is_taken_back() -> None:
    program = """
from bmc import footprint
import numpy
footprint.allow(200)
footprint.limit_data()
try:
    numpy.zeros(3 << 30, numpy.uint8)
except MemoryError:
    footprint.unlimit_data()
    print(len(numpy.zeros(3 << 30, numpy.uint8)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{3 << 30}\n"


def test_where_the_system_tells_nothing_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(process: str) -> Iterator[str]:
        raise FileNotFoundError(process)

    monkeypatch.setattr(footprint, "_family", nothing)
    assert 10 * MB < taken() < 100_000 * MB
