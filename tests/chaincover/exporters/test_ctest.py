"""Harnesses as tests of CTest: built and run by CMake, with JUnit, coverage, and names that CMake takes apart."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS, fresh_names, write_files
from harnesses import chain_of, export, model, needs_compiler
from hostile_names import HOSTILE

from bmc.errors import UsageError
from bmc.system.simulation import Simulator
from chaincover.exporters.ctest import CTest, quoted
from chaincover.exporters.protocol import ExportedChain
from chaincover.formats.chain_file import read_stimulus
from chaincover.project.load import Request, load_request
from properties.monitor import Monitor

needs_cmake = pytest.mark.skipif(shutil.which("ctest") is None, reason="needs CMake")
needs_gcovr = pytest.mark.skipif(shutil.which("gcovr") is None, reason="needs gcovr")


def made(folder: Path, *options: str) -> Path:
    """The folder in which the tests were built."""
    build = folder / "build"
    for words in (["cmake", "-S", str(folder), "-B", str(build), *options], ["cmake", "--build", str(build)]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return build


def junit(build: Path) -> dict[str, bool]:
    """The tests by their names, each with whether it passed."""
    subprocess.run(["cmake", "--build", str(build), "--target", "junit"], capture_output=True, check=False)
    cases = ET.parse(build / "junit.xml").getroot().iter("testcase")
    return {case.get("name", ""): case.find("failure") is None for case in cases}


@needs_compiler
@needs_cmake
def test_each_line_of_the_harness_is_a_test(tmp_path: Path) -> None:
    project = tmp_path / "a folder" / "latch"
    shutil.copytree(MODELS / "latch", project)
    folder = export(project, chain_of(project, tmp_path / "chain"), tmp_path / "out", "ctest")
    found = junit(made(folder))
    assert [name for name, passed in found.items() if not passed] == ["9.requirement.reset_wins"]
    assert len(found) == 11
    source = project / "latch.c"
    source.write_text(source.read_text().replace("l->changes++", "for (;;) l->changes++, *(volatile int *)0 = 0"))
    assert not any(junit(made(folder)).values())  # a program that ends before its time passes nothing


@needs_compiler
@needs_cmake
def test_headers_sources_and_stand_ins_are_found(tmp_path: Path) -> None:
    for name in ("pump", "fan"):  # with headers that are found nowhere; with a second source file
        folder = export(MODELS / name, chain_of(MODELS / name, tmp_path / name), tmp_path / f"{name}.out", "ctest")
        assert all(junit(made(folder)).values())


@needs_compiler
@needs_cmake
def test_names_are_no_commands_of_cmake(tmp_path: Path) -> None:
    with fresh_names():
        subject = load_request(Request(str(MODELS / "latch" / "chaincover.toml")))
        simulator = Simulator(subject.system)
        run = simulator.run(simulator.initial({}), ({"set": 1, "reset": 0}, {"set": 1, "reset": 1}))
        goals = tuple(replace(subject.goals[0], name=name) for name in HOSTILE)
        files = CTest().files(ExportedChain(replace(subject, goals=goals), run, (), {}, "in.csv"))
        sources = tuple(replace(each, path="/tmp/a;b/latch.c") for each in subject.sources)
        with pytest.raises(UsageError, match="CMake cannot hold the path '/tmp/a;b"):
            CTest().files(ExportedChain(replace(subject, sources=sources), run, (), {}, "in.csv"))
    write_files(tmp_path, dict(files))
    found = junit(made(tmp_path))
    assert len(found) == 2 + 2 * len(HOSTILE)
    assert all(found.values())
    assert b"HOME" not in files["CMakeLists.txt"].replace(b"goal.-HOME-", b"").replace(b"requirement.-HOME-", b"")


def test_arguments_of_cmake_are_plain_text() -> None:
    assert quoted("a]=]${b};c\\") == "[==[a]=]${b};c\\]==]"


@needs_compiler
@needs_cmake
@needs_gcovr
@pytest.mark.parametrize("name", ["latch", pytest.param("kiln", marks=pytest.mark.evidence)])
def test_branches_covered_are_those_that_we_count(name: str, tmp_path: Path) -> None:
    """gcc's branches are both outcomes of each condition, and the labels of each switch."""
    project = tmp_path / name
    shutil.copytree(MODELS / name, project)
    chain = chain_of(project, tmp_path / "chain")
    folder = export(project, chain, tmp_path / "out", "ctest")
    build = made(folder)
    done = subprocess.run(
        ["cmake", "--build", str(build), "--target", "coverage"], capture_output=True, text=True, check=False
    )
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith(f"{name}.c"))
    with fresh_names():
        criteria = ("conditions()", "branches()")
        subject = load_request(Request(str(project / "chaincover.toml"), cover=criteria))
        stimulus = read_stimulus(str(chain / "chain.json"), subject.system)
        simulator = Simulator(subject.system)
        run = simulator.run(simulator.initial(stimulus.initial), stimulus.inputs)
        goals = [goal for goal in subject.goals if goal.generated == "conditions()" or is_label(goal.name)]
        covered = Monitor(goals).covered(run)
        assert [int(row[1]), int(row[2])] == [len(goals), sum(map(bool, covered.values()))]
    assert (build / "coverage.xml").read_text().startswith("<?xml")


def is_label(name: str) -> bool:
    """Whether a goal is a label of a switch."""
    return name.startswith("branch:") and not name.endswith(("=true", "=false"))


def test_the_same_chain_gives_the_same_bytes(tmp_path: Path) -> None:
    project, _ = model("latch", tmp_path)
    first, second = (export(project, tmp_path / "chain", tmp_path / name, "ctest") for name in ("one", "two"))
    for place in first.iterdir():
        assert place.read_bytes() == (second / place.name).read_bytes()
