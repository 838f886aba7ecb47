"""ABC as a judge of results: what is asked of a row, what is a contradiction, and the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.checks.foreign import run
from benchmarks.checks.foreign.abc import Answer
from benchmarks.checks.foreign.rows import ROWS
from benchmarks.checks.foreign.run import CHAIN, Judged, chain_line, chosen, judged, kind_lines
from bmc.errors import CheckDisagreed

YES, NO, OPEN = Answer(True, 4, 1.0), Answer(False, None, 2.0), Answer(None, None, 60.0)


def claim(kind: str, frames: Any) -> dict[str, Any]:
    return {"file": f"{kind}.aig", "kind": kind, "text": kind, "frames": frames}


@pytest.mark.parametrize(
    ("answer", "expected", "verdict"),
    [
        (NO, None, "agrees"),
        (YES, None, "CONTRADICTS"),
        (OPEN, None, "open"),
        (YES, 4, "agrees"),
        (YES, 5, "CONTRADICTS"),
        (NO, 5, "CONTRADICTS"),
        (OPEN, 5, "open"),
    ],
)
def test_verdicts(answer: Answer, expected: int | None, verdict: str) -> None:
    assert Judged("row", "edge", "text", 3, answer, expected).verdict == verdict


def test_the_first_claims_of_each_kind_are_taken() -> None:
    claims = [claim("edge", 3), claim("edge", 4), claim("edge", "ever"), claim("length", 9), claim("edge", 5)]
    assert chosen(claims, 1) == [claims[0], claims[2], claims[3]]
    assert chosen(claims, 9) == claims


def test_tables() -> None:
    claims = [
        Judged("cruise", "length", "text", 9, NO),
        Judged("cruise", CHAIN, "text", 10, YES, 4),
        Judged("cruise", "edge", "text", None, OPEN),
        Judged("cruise", "edge", "text", 2, NO),
    ]
    assert chain_line("cruise", claims) == "| cruise | 9 | agrees | 2.0 | agrees | 1.0 |"
    assert chain_line("cruise", claims[2:]) == ""
    assert [*kind_lines(claims)][2:] == [
        "| length | frames | 1 | 1 | 0 | 0 | 2.0 |",
        f"| {CHAIN} | frames | 1 | 1 | 0 | 0 | 1.0 |",
        "| edge | ever | 1 | 0 | 1 | 0 | 60.0 |",
        "| edge | frames | 1 | 1 | 0 | 0 | 2.0 |",
    ]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """A result of one claim on its length and an edge, without a run of ChainCover; the questions asked of ABC."""
    asked: list[tuple[str, int | None]] = []

    def chaincover(*words: str) -> None:
        folder = Path(words[-1])
        folder.mkdir()
        if words[0] == "generate":
            (folder / "chain.json").write_text(json.dumps({"bounds": {"minimal": True, "length": 4}}))
        else:
            claims = [claim("length", 4), claim("edge", "ever")]
            (folder / "index.json").write_text(json.dumps({"questions": claims}))

    def decide(file: Path, frames: int | None, limit: float) -> Answer:
        asked.append((file.name, frames))
        return YES if frames == 5 else NO

    monkeypatch.setattr(run, "_chaincover", chaincover)
    monkeypatch.setattr(run, "decide", decide)
    monkeypatch.setattr(run, "place", lambda: "abc")
    return asked


def test_a_row_is_asked_for_its_length_and_for_a_chain(made: list[tuple[str, int | None]]) -> None:
    assert [each.verdict for each in judged(ROWS[0], 3, 60)] == ["agrees"] * 3
    assert made == [("length.aig", 4), ("length.aig", 5), ("edge.aig", None)]


def test_a_contradiction_ends_with_1(made: list[tuple[str, int | None]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert CliRunner().invoke(run.main, ["latch"]).exit_code == 0
    monkeypatch.setattr(run, "decide", lambda file, frames, limit: YES)
    outcome = CliRunner().invoke(run.main, ["latch"])
    assert outcome.exit_code == 1
    assert "CONTRADICTS: latch: edge: edge" in outcome.output
    assert made


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CliRunner().invoke(run.main, ["no such row"]).exit_code == 1
    monkeypatch.setattr(run, "_chaincover", lambda *words: None)
    with pytest.raises(CheckDisagreed, match=r"no chain\.json"):
        list(judged(ROWS[0], 3, 60))
    monkeypatch.setattr(run, "place", lambda: None)
    assert "there is no ABC" in CliRunner().invoke(run.main).output
