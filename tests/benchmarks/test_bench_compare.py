"""The tool ``compare`` of a suite: its command line, and its outcomes, one for each ordering."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MODELS, chaincover

from benchmarks.bench.tools.compare import Compare
from benchmarks.bench.tools.protocol import CRASHED, FINISHED, TIME_OUT, Outcome, Task


def run(project: Path, folder: Path, selection: tuple[str, ...] = (), **settings: str | int | bool) -> list[Outcome]:
    tool = Compare()
    assert settings.keys() <= tool.settings
    command = tool.command(Task(project, selection, settings, 0, 600.0, 3000), folder)
    outcome = chaincover(*command[3:])
    return list(tool.read(folder, outcome.code, outcome.stderr))


def test_each_ordering_has_an_outcome_on_the_same_graph(tmp_path: Path) -> None:
    exact, local = run(MODELS / "latch", tmp_path, ordering="exact local", seeds=2)
    assert [exact.ordering, local.ordering] == ["exact", "local"]
    for outcome in (exact, local):
        assert outcome.status == FINISHED
        assert (outcome.chains, outcome.length, outcome.lower, outcome.minimal) == (1, 6, 6, True)
        assert (outcome.path_cost, outcome.K) == (0, 3)
        assert {*outcome.verdicts.values()} == {"covered"}
        assert {*outcome.stages} == {"graph", "order", "chain", "final"}
        assert "chain along an order, repaired: median " in outcome.note
    assert "2 of 2 orders proved least" in exact.note
    assert "0 of 2 orders proved least" in local.note


def test_goals_can_be_selected_and_several_chains_asked_for(tmp_path: Path) -> None:
    (outcome,) = run(MODELS / "cruise", tmp_path, ("--goal", "p_1"), ordering="exact", several=True, overlap="forbid")
    assert outcome.verdicts == {"p_1": "covered"}
    assert outcome.fewest


def test_the_time_is_divided_among_all_that_is_done() -> None:
    command = [*Compare().command(Task(Path("p"), (), {"ordering": "tsp exact"}, 0, 100.0, 1000), Path("out"))]
    assert float(command[command.index("--time-limit") + 1]) * (1 + 2 * 2) == pytest.approx(90.0)


def test_what_left_no_result_is_an_outcome_without_a_chain(tmp_path: Path) -> None:
    tool = Compare()
    assert tool.read(tmp_path, 70, "one\nlast words\n") == (Outcome(CRASHED),)
    (tmp_path / "compare.json").write_text('{"schema": "chaincover/compare/1"}')
    assert tool.read(tmp_path, 2, "") == (Outcome(CRASHED),)


def test_a_run_that_was_called_off_in_the_graph_is_a_time_out(tmp_path: Path) -> None:
    assert chaincover("compare", MODELS / "latch", "--ordering", "exact", "-o", tmp_path, "-q").code == 0
    place = tmp_path / "compare.json"
    text = place.read_text().replace('"stopped_by": ""', '"stopped_by": "terminated"')
    place.write_text(text[: text.index('"orderings": [')] + '"orderings": []}')
    (outcome,) = Compare().read(tmp_path, 143, "")
    assert (outcome.status, outcome.chains, outcome.note) == (TIME_OUT, None, "terminated")


def test_orderings_that_were_not_compared_any_more_are_time_outs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def terminated(*given: object) -> None:
        raise KeyboardInterrupt("terminated")

    monkeypatch.setattr("chaincover.orderings.local.LocalOrdering.solve", terminated)
    options = ("--ordering", "exact", "--ordering", "local", "-o", tmp_path, "-q")
    assert chaincover("compare", MODELS / "cruise", *options).code == 143
    exact, local = Compare().read(tmp_path, 143, "")
    assert (exact.status, exact.length) == (FINISHED, 9)
    assert (local.status, local.length, local.note) == (TIME_OUT, None, "not compared")
    assert Compare.ends_when_asked
