"""What does not fit into memory, or is not installed: another way is taken, or the message names the package."""

from __future__ import annotations

import importlib.util

import pytest
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise

from bmc import engines
from bmc.errors import UsageError
from chaincover.graph import goal_runs
from chaincover.graph import source as graph_source
from chaincover.graph.reachability import GraphBuilder
from chaincover.options import Options
from chaincover.pipeline import generate


def test_what_takes_too_much_memory_with_the_goals_is_left_for_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    whole = generate(cruise(), PROPERTIES, RESTED, Options(exhaust=0, explore=0))
    enumerated = generate(cruise(), PROPERTIES, RESTED, Options(), told.append)
    assert enumerated.graph.queries == 0, "the enumerated states tell every weight"
    assert not any("too much memory" in text for text in told)
    monkeypatch.setattr(goal_runs, "MOST_STEPS", 0)
    builders = []
    make = graph_source.GraphSource._asking
    monkeypatch.setattr(
        graph_source.GraphSource, "_asking", lambda *given: builders.append(make(*given)) or builders[-1]
    )
    asked = generate(cruise(), PROPERTIES, RESTED, Options(), told.append)
    assert any("too much memory" in text for text in told)
    assert [type(builder) for builder in builders] == [GraphBuilder]
    assert asked.graph.queries > 0
    assert asked.chain is not None
    assert whole.chain is not None
    assert asked.chain.length == whole.chain.length
    assert asked.bounds.minimal


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "pysat" else importlib.util.find_spec(name))
    with pytest.raises(UsageError, match="python-sat"):
        engines.choose("sat")
