"""The comparison of two revisions: what counts as worse, and how a command is run and told."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.measures.revisions.outcome import Facts, verified
from benchmarks.measures.revisions.run import revision, run
from benchmarks.measures.revisions.table import Measured, Process, as_good, proved, read, report, worse

PROCESS = Process(0, 3.0, 4.0, 80, False, [])
FACTS = Facts(9, 8, False, {"a": "covered", "b": "unreachable"}, 1, "")
ROW = Measured("cruise", "limit", PROCESS, FACTS)


@pytest.mark.parametrize(
    ("changed", "reasons"),
    [
        (FACTS, []),
        (replace(FACTS, length=8, minimal=True), []),
        (replace(FACTS, length=10), ["longer"]),
        (replace(FACTS, lower=7), ["lower bound"]),
        (replace(FACTS, verdicts={"a": "undecided", "b": "unreachable"}), ["1 fewer covered", "1 fewer decided"]),
        (replace(FACTS, length=20, verdicts={"a": "covered", "b": "covered"}), ["CONTRADICTION on b"]),
        (replace(FACTS, length=7), ["CONTRADICTION of bounds"]),
        (replace(FACTS, chains=2, length=9), ["longer"]),
        (None, ["no result"]),
    ],
)  # fmt: skip
def test_what_is_worse(changed: Facts | None, reasons: list[str]) -> None:
    assert list(worse(ROW, replace(ROW, facts=changed))) == reasons


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([], 3.0),
        ([(0.5, "0 s  x: 1 of 2 goals in 12 steps, none below 4"), (1.5, "1 of 2 goals in 9 steps, minimal")], 1.5),
        ([(0.5, "1 of 2 goals in 9 steps, none below 7 (gap 22%)")], 3.0),
        ([(0.5, "1 of 2 goals in 9 steps, none below 8 (gap 11%)")], 0.5),
        ([(0.5, "2 of 2 goals in 20 steps, none below 3")], 0.5),
        ([(0.5, "0 of 2 goals in 1 step, minimal")], 3.0),
    ],
)  # fmt: skip
def test_when_a_run_is_as_good_as_the_old_one(lines: list[tuple[float, str]], seconds: float) -> None:
    assert as_good(ROW, replace(ROW, generate=replace(PROCESS, progress=lines))) == seconds


@pytest.mark.parametrize(
    ("found", "is_proved"),
    [
        (FACTS, False),
        (None, False),
        (replace(FACTS, minimal=True), True),
        (replace(FACTS, length=None, verdicts={"a": "excluded", "b": "unreachable"}), True),
        (replace(FACTS, length=None, verdicts={"a": "excluded", "b": "undecided"}), False),
        (replace(FACTS, length=None, verdicts={"a": "not-within-bound"}), False),
    ],
)
def test_what_counts_as_a_proof(found: Facts | None, is_proved: bool) -> None:
    assert proved(replace(ROW, facts=found)) == is_proved


def test_a_row_that_is_measured_again_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in (ROW, replace(ROW, verify=PROCESS))))
    assert read(file) == [replace(ROW, verify=PROCESS)]
    assert read(tmp_path / "none.jsonl") == []


def test_two_revisions_in_one_table() -> None:
    new = replace(ROW, generate=replace(PROCESS, seconds=1.5), facts=replace(FACTS, length=8, minimal=True))
    text = "\n".join(report([ROW, replace(ROW, row="only old")], [new]))
    assert "| cruise | 9 (≥ 8) → **8** | 1 covered, 1 unreachable | 3.0 → 1.5 |" in text
    assert "1 rows. Nothing is worse" in text
    assert "2.00 times faster in the median of the 1 rows" in text
    assert "only old" not in text


def test_a_command_is_run_with_its_own_variables_and_measured(tmp_path: Path) -> None:
    words = f"PYTHONPATH={tmp_path} {sys.executable} -c"
    revised = revision(words, "limit", 120, clock=False, patience=60)
    program = "import os, sys; print(os.environ['PYTHONPATH']); print('8 steps', file=sys.stderr); sys.exit(5)"
    process = run(revised, [program], tmp_path / "out.txt")
    assert (process.code, process.expired) == (5, False)
    assert (tmp_path / "out.txt").read_text() == f"{tmp_path}\n"
    assert [line for _, line in process.progress] == ["8 steps"]
    assert process.seconds > 0


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    revised = revision(f"{sys.executable} -c", "limit", 120, clock=False, patience=0.2)
    process = run(revised, ["while True: pass"], tmp_path / "out.txt")
    assert process.expired
    assert process.code < 0


def test_the_processors_clock_takes_the_place_of_pythons(tmp_path: Path) -> None:
    revised = revision(f"{sys.executable} -c", "limit", 120, clock=True, patience=60)
    program = "import time; print(time.monotonic.__name__, time.perf_counter.__name__)"
    assert run(revised, [program], tmp_path / "out.txt").code == 0
    assert (tmp_path / "out.txt").read_text() == "processor processor\n"


def test_the_checks_of_several_chains_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "verify.json"
    chains = [[{"check": "chain", "verdict": verdict}] for verdict in ("holds", "WRONG")]
    file.write_text(json.dumps({"chains": chains}))
    assert verified(file) == {"chain": "holds", "chain 2": "WRONG"}
