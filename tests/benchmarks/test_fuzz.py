"""Random inputs of every kind: no internal error, no message without a next step, no answer but the reference's.

``python -m benchmarks fuzz`` takes as many as one likes; what it found is in ``benchmarks/checks/fuzz/found.json``.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest import mock

import pytest
from command_line import ROOT, fresh_names, write_files
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from small_programs import GOOD

from benchmarks.checks.fuzz import properties
from benchmarks.checks.fuzz.commands import run
from benchmarks.checks.fuzz.conditions import BOOL, INT, UCHAR, Names, Reader, holds
from benchmarks.checks.fuzz.documents import Kept, made
from benchmarks.checks.fuzz.examine import (
    ACCEPTED,
    AGREE,
    DIFFER,
    FAILED,
    FAULTS,
    LATE,
    REFUSED,
    Kind,
    examine,
    rows_of,
)
from benchmarks.checks.fuzz.faults import STATEMENTS, with_statement
from benchmarks.checks.fuzz.kinds import KINDS
from chaincover.verification.orders import CHECK as ORDER
from chaincover.verification.report import HOLDS, Line, Verification

FOUND = json.loads((ROOT / "benchmarks" / "checks" / "fuzz" / "found.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _own_names() -> Iterator[None]:
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_CACHE="off"):
        yield


def outcomes(kind: Kind, count: int) -> Counter[str]:
    """The outcomes of ``count`` inputs, the same ones in every run; a finding fails, made as small as possible.

    Which ones depends on the constants in the project's code, too, so that numbers of outcomes vary from revision to
    revision: what is asked of them below is far from what is usual.
    """
    counts: Counter[str] = Counter()

    @settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def check(random: Random) -> None:
        data = kind.draw(random)
        row = examine(kind, data)
        assert row.outcome not in FAULTS, f"{row.detail}\n{json.dumps(data, indent=1)}"
        counts[row.outcome] += 1

    check()
    return counts


@pytest.mark.evidence
def test_properties() -> None:
    counts = outcomes(KINDS["property"], 80)
    assert counts[AGREE] > 3
    assert counts[REFUSED] > 3


@pytest.mark.slow
def test_deadlines() -> None:
    """Of the 2,000 that ``python -m benchmarks fuzz --kind deadline --count 200`` takes the first 120."""
    rows = [examine(KINDS["deadline"], KINDS["deadline"].draw(Random(seed))) for seed in range(12)]
    assert [row.detail for row in rows if row.outcome != AGREE] == []
    assert sum(row.steps for row in rows) > 4_000


def test_tables_of_inputs() -> None:
    counts = outcomes(KINDS["csv"], 80)
    assert counts[AGREE] > 10
    assert counts[REFUSED] > 3


@pytest.mark.evidence
def test_result_files() -> None:
    assert outcomes(KINDS["json"], 15)[AGREE] > 1


@pytest.mark.slow
@pytest.mark.needs_abc
def test_changed_certificates() -> None:
    counts = outcomes(KINDS["claims"], 5)
    assert counts[AGREE] > 1


@pytest.mark.slow
@pytest.mark.needs_abc
@pytest.mark.parametrize(("bound", "outcome"), [(1, ACCEPTED), (2, DIFFER)])
def test_an_untrue_claim_that_is_accepted_is_found(bound: int, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if ``verify`` accepted all: one step leads to one goal, and no chain is shorter than one step."""
    monkeypatch.setattr(Kept, "verify_text", lambda *_: Verification("", (Line(ORDER, HOLDS, ""),)))
    claims = made("open")[1]["certificate"]["claims"]
    place = next(place for place, claim in enumerate(claims) if claim.get("of") == "orders")
    data = {"document": "open", "changes": [[["certificate", "claims", place, "bound"], bound]], "gone": []}
    assert examine(KINDS["claims"], data).outcome == outcome


@pytest.mark.slow
def test_project_files() -> None:
    assert outcomes(KINDS["toml"], 8)[REFUSED] > 3


@pytest.mark.slow
@pytest.mark.parametrize("name", list(STATEMENTS)[::8])
def test_an_undefined_statement_is_refused_or_excluded(name: str) -> None:
    row = examine(KINDS["c-faults"], with_statement(name, Random(1)))
    assert row.outcome in (AGREE, REFUSED), row.detail


def test_a_statement_that_is_defined_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STATEMENTS, "none", ("", "s->x32 = 1;"))
    row = examine(KINDS["c-faults"], with_statement("none", Random(1)))
    assert row.outcome == DIFFER
    assert row.detail.startswith("none: allowed in the state")


def test_command_lines() -> None:
    assert outcomes(KINDS["command"], 40)[REFUSED] > 15


@pytest.mark.slow
def test_commands_on_mutated_programs() -> None:
    counts = outcomes(KINDS["source"], 3)
    assert counts[ACCEPTED] + counts[REFUSED] == 3


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_mutated_programs() -> None:
    assert outcomes(KINDS["c-mutants"], 4)[AGREE] > 0


def test_another_meaning_of_a_property_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"properties": ["G(n == 3 && !b -> X(m >> 1 == 0))"]}
    assert examine(KINDS["property"], data).outcome == AGREE
    monkeypatch.setattr(properties, "holds", lambda node, lookup: not holds(node, lookup))
    assert examine(KINDS["property"], data).outcome == DIFFER


def test_an_internal_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert examine(KINDS["command"], {"command": ["check", "c.c"]}).outcome == ACCEPTED
    monkeypatch.setattr("chaincover.cli.options.load_request", lambda *request: {}["x"])
    row = examine(KINDS["command"], {"command": ["check", "c.c"]})
    assert row.outcome == FAILED
    assert "exit code 70: internal error: KeyError" in row.detail


def test_nothing_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    write_files(tmp_path, {"in/c.c": GOOD})
    told = run(["init", "c.c", "-o", "../p.toml"], tmp_path / "in")
    assert str(told.code).startswith("wrote outside: ")
    assert not (tmp_path / "p.toml").exists()
    assert run(["init", "c.c"], tmp_path / "in").code == 0


def test_an_input_that_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.checks.fuzz.examine.SECONDS", 1e-6)
    monkeypatch.setattr("benchmarks.checks.fuzz.examine.PATIENCE", 1e8)
    assert [(row.seed, row.outcome) for row in rows_of(KINDS["csv"], [5])] == [(5, LATE)]


# text ¦ whether it holds where x is 200 in an unsigned char, i is INT_MAX, and b is true after the first step only
MEANINGS = """
x + 100 > 255 ¦ True
(u8)(x + 100) > 255 ¦ False
i + 1 < 0 ¦ False
!(i + 1 < 0) ¦ False
b && 1 / b ¦ False
X(b) && !b ¦ True
-1 < 0u ¦ False
1 << 31 != 0 ¦ False
1u << 31 != 0 ¦ True
-7 / 2 == -3 && -7 % 2 == -1 ¦ True
(b ? 0u : -1) > 0 ¦ True
X(x) == 200 ? X(X(0)) : 1 ¦ False
"""


@pytest.mark.parametrize("row", MEANINGS.strip().splitlines())
def test_the_reference_has_the_meaning_of_c(row: str) -> None:
    text, expected = row.rsplit("¦", 1)
    names = Names({"x": UCHAR, "i": INT, "b": BOOL}, frozenset("b"), {})
    values = {"x": 200, "i": 2**31 - 1}
    assert str(holds(Reader(names).read(text), lambda name, step: values.get(name, step > 0))) == expected.strip()


@pytest.mark.slow
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in FOUND])
def test_what_was_found_stays_mended(case: dict[str, object]) -> None:
    row = examine(KINDS[str(case["kind"])], case["input"])  # type: ignore[arg-type]
    assert (row.outcome, row.detail) == (case["outcome"], case["detail"])
