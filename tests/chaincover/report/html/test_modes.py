"""Diagrams of modes: each transition names the chain that took it first, and of many modes there is the table."""

from __future__ import annotations

from chaincover.report.html.modes import MOST_MODES, diagrams
from chaincover.report.html.trace import Trace, Variable


def test_a_transition_is_linked_to_the_chain_that_took_it() -> None:
    mode = Variable("mode", "mode", "state", "Mode", {"0": "OFF", "1": "ON"})
    first = Trace("chain-1.json", "chain", 2, {"mode": [0, 1, 1]})
    second = Trace("chain-2.json", "chain", 2, {"mode": [0, 1, 0]})
    (found,) = diagrams([(first, [mode]), (second, [mode])])
    assert found.steps == (("OFF", "ON", 2, 0, "chain-1.json"), ("ON", "OFF", 1, 1, "chain-2.json"))


def test_of_many_modes_there_is_the_table_alone() -> None:
    count = MOST_MODES + 1
    mode = Variable("mode", "mode", "state", "int", {str(value): f"M{value}" for value in range(count)})
    (found,) = diagrams([(Trace("chain.json", "chain", count - 1, {"mode": [*range(count)]}), [mode])])
    assert found.svg == ""
    assert len(found.steps) == count - 1
