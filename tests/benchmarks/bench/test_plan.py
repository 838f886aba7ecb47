"""The names of runs: what they follow from, and what they do not."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from command_line import write_files

from benchmarks.bench.plan import plan
from benchmarks.bench.suite import read_suite

SUITE = """\
[limits]
seconds = 5
[[models]]
projects = "m"
[[configurations]]
name = "c"
tool = "chaincover"
several = true
"""
FILES = {
    "m/chaincover.toml": '[sources]\nfiles = ["m.c"]\ninclude = ["inc"]\n',
    "m/m.c": '#include <stdint.h>\n#include "m.h"\n',
    "m/inc/m.h": '#  include "deep.h"\n',
    "m/inc/deep.h": "int x;\n",
    "m/other.c": "int y;\n",
    "s.toml": SUITE,
}


def names(folder: Path) -> list[str]:
    return [run.id for run in plan(read_suite(str(folder / "s.toml")))]


def test_the_same_suite_in_another_place_has_the_same_names(tmp_path: Path) -> None:
    write_files(tmp_path / "a", FILES)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert names(tmp_path / "a") == names(tmp_path / "b")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("m/m.c", '#include "m.h"\nint z;'),
        ("m/inc/m.h", "int z;"),
        ("m/inc/deep.h", "int z;"),
        ("m/chaincover.toml", FILES["m/chaincover.toml"] + 'defines = { A = "1" }\n'),
        ("s.toml", SUITE.replace("several = true", "several = false")),
        ("s.toml", SUITE.replace("several = true", "seed = 1\nseveral = true")),
        ("s.toml", SUITE.replace('"m"\n', '"m"\ngoals = ["a*"]\n')),
        ("s.toml", SUITE.replace("seconds = 5", "seconds = 6")),
    ],
    ids=lambda text: text.partition("\n")[0],
)
def test_another_run_has_another_name(file: str, text: str, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    before = names(tmp_path)
    write_files(tmp_path, {file: text})
    assert not set(before) & set(names(tmp_path))


@pytest.mark.parametrize("change", [{"m/other.c": "int z;"}, {"s.toml": f'title = "New"\n{SUITE}'}], ids=str)
def test_what_is_not_run_changes_no_name(change: dict[str, str | bytes], tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    before = names(tmp_path)
    write_files(tmp_path, change)
    assert before == names(tmp_path)


def test_a_missing_source_is_told_with_its_origin(tmp_path: Path) -> None:
    digest = hashlib.sha256(FILES["m/m.c"].encode()).hexdigest()
    row = f'[[source]]\nfile = "m/m.c"\nsha256 = "{digest}"\nobtain = "from its author"\n'
    suite = SUITE.replace('"m"\n', '"m"\nsources = "sources.toml"\n')
    write_files(tmp_path, {**FILES, "s.toml": suite, "sources.toml": row})
    (run,) = plan(read_suite(str(tmp_path / "s.toml")))
    assert run.code.missing == ""
    assert run.code.sha256
    (tmp_path / "m" / "m.c").write_text("int other;\n")
    (run,) = plan(read_suite(str(tmp_path / "s.toml")))
    assert run.code.missing == "the source m.c is not the one with the SHA-256 of the suite: from its author"
    (tmp_path / "m" / "m.c").unlink()
    (run,) = plan(read_suite(str(tmp_path / "s.toml")))
    assert run.code.missing == "the source m.c is not there: from its author"


def test_a_missing_header_beside_a_source_is_told(tmp_path: Path) -> None:
    row = '[[source]]\nfile = "m/types.h"\nsha256 = "00"\nobtain = "from its author"\n'
    suite = SUITE.replace('"m"\n', '"m"\nsources = "sources.toml"\n')
    write_files(tmp_path, {**FILES, "s.toml": suite, "sources.toml": row})
    (run,) = plan(read_suite(str(tmp_path / "s.toml")))
    assert run.code.missing == "the source types.h is not there: from its author"


def test_sources_of_other_models_need_not_be_there(tmp_path: Path) -> None:
    row = '[[source]]\nfile = "n/n.c"\nsha256 = "00"\nobtain = "from its author"\n'
    suite = SUITE.replace('"m"\n', '"m"\nsources = "sources.toml"\n')
    write_files(tmp_path, {**FILES, "s.toml": suite, "sources.toml": row})
    (run,) = plan(read_suite(str(tmp_path / "s.toml")))
    assert run.code.missing == ""
