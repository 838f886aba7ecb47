"""What does not fit into memory, or is not installed: another way is taken, or the message names the package."""

from __future__ import annotations

import importlib.util

import pytest
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise

from bmc import engines
from bmc.errors import UsageError
from chaincover.graph import enumerated as explicit_graph
from chaincover.graph import enumerated_exact as explicit_exact
from chaincover.graph import enumerated_goals as explicit_watch
from chaincover.graph import source as graph_source
from chaincover.graph.enumerated import ListedGraphBuilder
from chaincover.graph.explored import Reachable
from chaincover.graph.reachability import GraphBuilder
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem


def test_a_list_that_takes_too_much_memory_with_goals_is_left_for_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    whole = generate(Problem(cruise(), tuple(PROPERTIES), RESTED), Options(engine="sat"))
    monkeypatch.setattr(explicit_graph, "ONE_BY_ONE", 0)
    listed = generate(Problem(Problem(cruise(), tuple(PROPERTIES), RESTED), tuple(Options()), told.append))
    assert listed.graph.queries == 0, "the list tells every weight"
    assert not any("too much memory" in text for text in told)
    monkeypatch.setattr(explicit_watch, "MOST_ARROWS", 0)
    builders = []
    make = graph_source.GraphSource._asking
    monkeypatch.setattr(
        graph_source.GraphSource, "_asking", lambda *given: builders.append(make(*given)) or builders[-1]
    )
    asked = generate(Problem(Problem(cruise(), tuple(PROPERTIES), RESTED), tuple(Options()), told.append))
    assert any("too much memory" in text for text in told)
    assert [type(builder) for builder in builders] == [GraphBuilder]
    assert asked.graph.queries > 0
    assert asked.chain is not None
    assert whole.chain is not None
    assert asked.chain.length == whole.chain.length
    assert asked.bounds.minimal


def test_the_first_builder_is_the_one_from_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    extend = ListedGraphBuilder.extend
    monkeypatch.setattr(explicit_graph, "ONE_BY_ONE", 0)
    monkeypatch.setattr(ListedGraphBuilder, "extend", lambda *given: seen.append(1) or extend(*given))
    assert generate(Problem(cruise(), tuple(PROPERTIES), RESTED), Options()).chain is not None
    assert seen


def test_more_nodes_and_goals_than_numbers_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    system, goals = cruise(), PROPERTIES
    graph = Reachable(system, goals, RESTED, 100_000).graph
    assert graph is not None
    known = system, graph, goals, RESTED, "allow", 1_000_000
    found = explicit_exact.least_run(*known)
    assert found is not None
    assert found.run is not None
    monkeypatch.setattr(explicit_exact, "MOST_KEYS", 3)
    assert explicit_exact.least_run(*known) is None


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "pysat" else importlib.util.find_spec(name))
    with pytest.raises(UsageError, match="python-sat"):
        engines.choose("sat")
