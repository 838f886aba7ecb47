"""Faults put into modules, and whether tests find them out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.measures.mutants import run as mutants
from benchmarks.measures.mutants.faults import faults
from benchmarks.measures.mutants.run import EQUAL, FOUND, ROOMS, SURVIVES, Room, equivalent, main, modules_of

MODULE = '''"""A module."""

LIMIT = 3


def larger(a: int, b: int) -> bool:
    """Whether it is."""
    if a and b:
        raise ValueError(f"{a + 1}")
    return a > b or not b
'''


def test_the_faults_of_a_module() -> None:
    """Annotations, docstrings and messages have none; each one is a module that can be compiled."""
    assert [str(fault) for fault in faults(MODULE)] == [
        "line 3: 3 -> 4",
        "line 8: a and b -> (a or b)",
        "line 8: a and b -> (a)",
        "line 8: a and b -> (b)",
        "line 8: a and b -> not (a and b)",
        "line 10: a > b -> (a >= b)",
        "line 10: a > b or not b -> ((a > b) and not b)",
        "line 10: a > b or not b -> ((a > b))",
        "line 10: a > b or not b -> (not b)",
        "line 10: not b -> bool(b)",
    ]
    for fault in faults(MODULE):
        compile(fault.in_(MODULE), "mutant", "exec")


def test_a_place_counts_characters_where_the_tree_counts_bytes() -> None:
    (fault,) = faults('x = "ü"; y = 1 + z\n'.replace("1 + z", "a + z"))
    assert fault.in_('x = "ü"; y = a + z\n') == 'x = "ü"; y = (a - z)\n'


@pytest.mark.evidence
def test_the_faults_that_make_no_difference_are_faults_that_there_are() -> None:
    named = {module for module, _, _ in equivalent()}
    texts = {module: (mutants.CHECKOUT / module).read_text(encoding="utf-8") for module in named}
    rows = {row for _, row, _ in equivalent()}
    there = {(module, fault.row, fault.change) for module, text in texts.items() for fault in faults(text, rows)}
    assert named <= {module for room in ROOMS.values() for module in modules_of(room)}
    assert equivalent().keys() <= there
    assert all(equivalent().values())


@pytest.mark.parametrize("name", ROOMS)
def test_the_modules_and_tests_of_a_room_are_there(name: str) -> None:
    assert all((mutants.CHECKOUT / place).exists() for place in (*modules_of(ROOMS[name]), *ROOMS[name].tests))


@pytest.mark.evidence
def test_a_fault_is_found_out_or_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a checkout of one module and one test, which looks at the limit alone."""
    checkout = tmp_path / "checkout"
    (checkout / "bmc").mkdir(parents=True)
    (checkout / "tests").mkdir()
    (checkout / "bmc" / "__init__.py").touch()
    (checkout / "bmc" / "small.py").write_text("LIMIT = 3\nOTHER = 5\n")
    (checkout / "tests" / "test_small.py").write_text("from bmc.small import LIMIT\ndef test_it(): assert LIMIT == 3\n")
    monkeypatch.setattr(mutants, "CHECKOUT", checkout)
    monkeypatch.setattr(mutants, "COPIED", ("bmc", "tests"))
    monkeypatch.setitem(ROOMS, "small", Room(("bmc/small.py",), ("tests/test_small.py",)))
    keep = tmp_path / "kept.jsonl"
    found = list(mutants.searched("small", 0, 0, keep))
    assert [(each.fault, each.end) for each in found] == [("line 1: 3 -> 4", FOUND), ("line 2: 5 -> 6", SURVIVES)]
    assert "test_small.py::test_it" in found[0].by
    assert [json.loads(line)["end"] for line in keep.read_text().splitlines()] == [FOUND, SURVIVES]
    rows = [{"module": "bmc/small.py", "line": "OTHER = 5", "change": "5 -> 6", "reason": "nobody reads it"}]
    (tmp_path / "equal.json").write_text(json.dumps(rows))
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "equal.json")
    assert [each.end for each in mutants.searched("small", 0, 0, keep)] == [FOUND, EQUAL]


def test_an_unknown_room_is_refused() -> None:
    assert CliRunner().invoke(main, ["nowhere"]).exit_code == 2
