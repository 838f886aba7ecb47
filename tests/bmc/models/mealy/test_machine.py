"""Machines as models: variables, values, notes, and the size that they may have."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from drawn_machines import own_environment

from bmc.errors import InputRefused, Location
from bmc.explicit.enumeration import Enumeration
from bmc.models.mealy.dot import read_machine
from bmc.models.mealy.machine import MachineModel
from bmc.system.simulation import Simulator
from bmc.system.transition import BOOLEAN

__all__ = ["own_environment"]
WHERE = Location("project.toml", 7)
MACHINES = Path(__file__).parents[4] / "benchmarks" / "machines"
MEALY = """digraph {
s -> t [label="a..b/x"]; s -> s [label="b/y"]; t -> s [label="a..b/y"]; u -> s [label="b/x"]
__start0 -> s
}"""


def model_of(folder: Path, text: str) -> MachineModel:
    file = folder / "door lock.dot"
    file.write_text(text, encoding="utf-8")
    return MachineModel(read_machine(str(file), partial=True))


def test_variables_of_a_mealy_machine(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)
    assert model.system.name == "door lock"
    assert [(var.name, var.role, var.type.name) for var in model.variables] == [
        ("input", "input", "input"),
        ("state", "state", "state"),
        ("output", "output", "output"),
    ]
    assert [[*model.declared(var).values()] for var in model.variables] == [  # type: ignore[union-attr]
        ["a..b", "b"],
        ["s", "t", "u"],
        ["no output yet", "x", "y"],
    ]
    assert [var.role for var in model.system.state] == ["state", "output"]
    assert [var.values for var in model.system.inputs] == [((0, 1),)]
    assert model.decisions == ()


def test_a_moore_machine_has_an_output_at_its_start() -> None:
    model = MachineModel(read_machine(str(MACHINES / "aalpy" / "coffee_moore.dot")))
    assert model.declared(model.variables[2]) == {0: "init", 1: "beep", 2: "coffee"}
    assert Simulator(model.system).initial() == {"state": 0, "output": 0}
    assert model.notes == ()


def test_an_output_may_be_called_like_the_one_before_the_first_step(tmp_path: Path) -> None:
    model = model_of(tmp_path, 'digraph { s -> s [label="a/no output yet"]; __start0 -> s }')
    assert model.declared(model.variables[2]) == {0: "no output yet'", 1: "no output yet"}


def test_inputs_that_a_state_lacks_are_not_allowed_and_told(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)
    assert model.notes == ("in 2 pairs of a state and an input no arrow has the input, which is not allowed there",)
    simulator = Simulator(model.system)
    allowed = [[simulator.allowed({"state": state}, {"input": value}) for value in range(3)] for state in range(3)]
    assert allowed == [[True, True, False], [True, False, False], [False, True, False]]


def test_values_by_name(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)
    given, state, output = model.variables
    assert [model.constant(state, text, WHERE) for text in ("t", " t ", '"t"')] == [1, 1, 1]
    assert model.constant(output, '"no output yet"', WHERE) == 0
    assert model.ranges(given, "a..b", WHERE) == ((0, 0),)
    assert model.ranges(state, "s..t", WHERE) == ((0, 1),)
    assert model.ranges(state, ("u", "s"), WHERE) == ((0, 0), (2, 2))
    for values in ("t..s", "s..t..u", "v", "", ("s", "v")):
        with pytest.raises(InputRefused) as caught:
            model.ranges(state, values, WHERE)
        assert caught.value.where == WHERE


def test_values_of_a_condition(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)

    class Condition:
        name, type = "state == s", BOOLEAN

    assert model.declared(Condition()) is None
    assert [model.constant(Condition(), text, WHERE) for text in ("false", "true")] == [0, 1]


@pytest.mark.parametrize("file", sorted(MACHINES.glob("*/*.dot")), ids=lambda file: file.stem)
def test_what_is_enumerated_is_what_the_arrows_reach(file: Path) -> None:
    machine = read_machine(str(file), partial=True)
    reached = [machine.start]
    for state in reached:
        reached += {each.target for each in machine.transitions if each.source == state} - {*reached}
    model = MachineModel(machine)
    language = model.language(WHERE, ())
    goals = [
        language.holds(language.parse(f'state == "{each.source}" && input == "{each.input}"'), 0, None)  # type: ignore
        for each in machine.transitions
    ]
    enumeration = Enumeration(model.system, goals)
    enumeration.advance(10**12)
    assert enumeration.graph is not None
    assert len(enumeration.graph.states) == len(reached)


def large(states: int, inputs: int, padding: int = 0) -> str:
    """A machine as DOT with ``states`` times ``inputs`` arrows, each with so many more characters."""
    rng = random.Random(1)
    note = f', note="{"x" * padding}"' if padding else ""
    lines = [
        f's{state} -> s{rng.randrange(states)} [label="in {value} / out {rng.randrange(9)}"{note}];'
        for state in range(states)
        for value in range(inputs)
    ]
    return "digraph {\n__start0 -> s0;\n" + "\n".join(lines) + "\n}\n"


def agree_on(folder: Path, text: str, arrows: int) -> None:
    model = model_of(folder, text)
    assert model.notes == ()
    simulator, rng = Simulator(model.system), random.Random(2)
    inputs = [{"input": rng.randrange(model.system.inputs[0].count)} for _ in range(200)]
    with model.original(False) as original:
        assert original.run(inputs) == [*simulator.run(simulator.initial(), inputs).states]
        assert len(original._moves) == arrows


def test_a_large_machine(tmp_path: Path) -> None:
    agree_on(tmp_path, large(200, 50), 10_000)


@pytest.mark.evidence
def test_a_hundred_thousand_arrows_in_ten_megabytes(tmp_path: Path) -> None:
    text = large(1000, 100, padding=60)
    assert len(text) > 10_000_000
    agree_on(tmp_path, text, 100_000)
