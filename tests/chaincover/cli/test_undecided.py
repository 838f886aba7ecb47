"""What the solver gives up on is told as undecided everywhere, by every command, and never as out of reach."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from command_line import chaincover, write_files

from bmc.engines.protocol import Status
from bmc.engines.sat import SatSession
from bmc.engines.sat_encoding import solver

FILES: dict[str, str | bytes] = {
    "lock.c": """\
typedef unsigned char u8; typedef unsigned int u32; typedef unsigned long long u64;
static u8 open;
void lock_step(u32 one, u32 other)
{
  if (one == 7) open = 1;
  else if (one > 1 && other >= one && (u64)one * other == 9345208821757322069ull)
    open = 3; /* 2860486313 * 3267000013 */
}
""",
    "chaincover.toml": """\
name = "lock"
[sources]
files = ["lock.c"]
[functions]
step = "lock_step"
properties = []
[interface]
input = ["one", "other"]
state = ["open"]
[[property]]
text = "easy: cover(open == 1)"
[[property]]
text = "hard: cover(open == 3)"
""",
}
LITTLE = ("--effort", "0.005")
NEVER_SAID = ("unreachable", "not-within-bound", "not reached", "excluded", "no-way-to-final", "no chain covers")


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A controller with a goal that takes more work than there is; the work is counted, so that it is repeatable."""
    solve = SatSession._solve

    def briefly(
        session: SatSession, assumptions: Sequence[int], time_limit: float | None, effort: float | None
    ) -> tuple[Status, Collection[int]]:
        return solve(session, assumptions, time_limit, 1)

    monkeypatch.setattr(SatSession, "_solve", briefly)
    monkeypatch.setattr(solver, "CONFLICTS", 20)
    monkeypatch.setattr(solver, "WORK", 1)
    write_files(tmp_path, FILES)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--several",), ("--most",)])
def test_a_goal_that_the_solver_gave_up_on_is_undecided_in_every_search(lock: Path, more: tuple[str, ...]) -> None:
    given = ("generate", lock, *more, *LITTLE, "--bound", "1", "--engine", "sat", "--no-replay")
    outcome = chaincover(*given, "-o", lock / "out")
    assert outcome.code == 5
    assert "undecided" in outcome.out
    documents = [json.loads(place.read_text()) for place in sorted((lock / "out").glob("chain*.json"))]
    rows = [row for document in documents for row in document.get("verdicts", document.get("goals"))]
    verdicts = {row.get("goal", row.get("name")): row["verdict"] for row in rows if isinstance(row, dict)}
    assert verdicts["easy"] == "covered"
    assert verdicts["hard"] == "undecided"
    claims = [{**document, "certificate": None} for document in documents]
    written = outcome.out + outcome.stderr + json.dumps(claims)
    assert not [text for text in NEVER_SAID if text in written]


def test_the_graph_names_the_edges_that_were_given_up(lock: Path) -> None:
    outcome = chaincover("graph", lock, "--engine", "sat", "--bound", "1")
    assert outcome.code == 5
    assert {"from": "init", "to": "hard"} in outcome.json["unknown"]


def test_a_comparison_over_a_graph_that_is_not_finished_does_not_say_that_there_is_no_order(lock: Path) -> None:
    given = ("--ordering", "exact", "--engine", "sat", "--bound", "1", "-o", lock / "out")
    outcome = chaincover("compare", lock, *LITTLE, *given)
    shown = outcome.out
    assert "whether there is a covering path is not known: the graph was not finished" in shown
    assert "no covering path" not in shown
    assert " or fewer" not in shown
    assert " so far" in shown
    document = json.loads((lock / "out" / "compare.json").read_text())
    assert (outcome.code, document["exit_code"], document["covering_path"]) == (5, 5, False)
    verdicts = {row["final"]["verdicts"]["hard"] for row in document["orderings"]}
    assert (verdicts, {len(row["runs"]) for row in document["orderings"]}) == ({"undecided"}, {0})
