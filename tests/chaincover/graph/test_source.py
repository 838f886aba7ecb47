"""What does not fit into memory, or is not installed: another way is taken, or the message names the package."""

from __future__ import annotations

import importlib.util

import pytest
from cruise import INIT as RESTED
from cruise import PROPERTIES, cruise
from problems import problem_of

from bmc import engines
from bmc.errors import UsageError
from bmc.explicit.layers import NotInLayers
from chaincover.graph import enumerated, layered
from chaincover.options import Options
from chaincover.pipeline import generate


class TooMany:
    """An enumeration that ends without all states."""

    graph, done, states, reason = None, True, 0, "too many"

    def __init__(self, *given: object, **named: object) -> None:
        pass


def refused(*_: object) -> None:
    raise NotInLayers("they are not to be")


def test_states_that_are_too_many_to_be_enumerated_are_searched_in_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = generate(problem_of(cruise(), PROPERTIES, RESTED))
    assert (listed.graph.queries, listed.answered.exact) == (0, True)
    monkeypatch.setattr(enumerated, "Enumeration", TooMany)
    found = generate(problem_of(cruise(), PROPERTIES, RESTED))
    assert (found.graph.weights, found.graph.lower) == (listed.graph.weights, listed.graph.lower)
    assert found.certificate.invariants == ("one of 8 reachable states",)
    assert found.bounds.minimal
    assert listed.chain is not None
    assert found.chain is not None
    assert found.chain.length == listed.chain.length


def test_states_that_are_too_many_are_left_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = generate(problem_of(cruise(), PROPERTIES, RESTED))
    monkeypatch.setattr(enumerated, "Enumeration", TooMany)
    monkeypatch.setattr(layered, "LayeredGoals", refused)
    asked = generate(problem_of(cruise(), PROPERTIES, RESTED))
    assert not asked.answered.exact
    assert asked.graph.queries > 0
    assert listed.chain is not None
    assert asked.chain is not None
    assert asked.chain.length == listed.chain.length
    assert asked.bounds.minimal


def test_a_solver_that_is_named_answers_all_questions() -> None:
    result = generate(problem_of(cruise(), PROPERTIES, RESTED), Options(engine="sat"))
    assert (result.answered.engine, result.answered.exact) == ("sat", False)
    assert result.graph.queries > 0


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "pysat" else importlib.util.find_spec(name))
    with pytest.raises(UsageError, match="python-sat"):
        engines.choose("sat")
