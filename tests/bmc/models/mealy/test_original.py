"""The second reader of machines, beside the first one, pydot and a walk through the plain table."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pydot
import pytest
from drawn_machines import Drawn, as_dot, drawn_machine, own_environment
from drawn_seeds import seeds

from bmc.errors import CheckDisagreed, LimitReached
from bmc.models.mealy.dot import read_machine
from bmc.models.mealy.machine import NO_OUTPUT, MachineModel
from bmc.models.mealy.original import RunningMachine
from bmc.models.model import Model
from bmc.system.simulation import Simulator
from bmc.system.transition import Valuation

FILES = sorted((Path(__file__).parents[4] / "benchmarks" / "machines").glob("*/*.dot"))
MEALY = """digraph {
s -> t [label="a/x"]; s -> s [label="b/y"]; t -> s [label="a / y"];
t -> t [label="b/z"];
__start0 -> s
}"""

__all__ = ["own_environment"]


def model_of(folder: Path, text: str, partial: bool = False) -> MachineModel:
    file = folder / "machine.dot"
    file.write_text(text, encoding="utf-8")
    return MachineModel(read_machine(str(file), partial))


def reread(model: Model, file: Path) -> RunningMachine:
    """The second reading of ``file`` with the numbers of ``model``."""
    return RunningMachine(str(file), "/", {each.name: each.type for each in model.variables})


def raw(model: Model, variable: str, name: str) -> int:
    """The number of a value."""
    return dict(model.system.variable(variable).type.labels)[name]


def named(model: Model, state: Valuation) -> tuple[str, str]:
    """State and output by name."""
    return tuple(model.system.variable(name).type.show(state[name]) for name in ("state", "output"))  # type: ignore


def drawn_inputs(drawn: Drawn, rng: random.Random, steps: int) -> list[str]:
    """Inputs of a run, each of which its state allows; fewer where there is none."""
    inputs: list[str] = []
    for _ in range(steps):
        state = drawn.walk(inputs)[-1][0]
        possible = [value for source, value in drawn.table if source == state]
        if not possible:
            break
        inputs.append(rng.choice(possible))
    return inputs


@seeds(60)
def test_system_second_reader_and_table_agree(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    agree(seed, tmp_path_factory.mktemp("drawn"))


@pytest.mark.slow
@seeds(20)
def test_system_second_reader_and_table_agree_on_many(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    agree(seed, tmp_path_factory.mktemp("drawn"), most=60)


def agree(seed: int, folder: Path, most: int = 9) -> None:
    rng = random.Random(seed)
    drawn = drawn_machine(rng, moore=rng.random() < 0.5, partial=rng.random() < 0.5, most=most)
    model = model_of(folder, as_dot(drawn, rng), partial=True)
    simulator = Simulator(model.system)
    words = drawn_inputs(drawn, rng, 30)
    inputs = [{"input": raw(model, "input", word)} for word in words]
    run = simulator.run(simulator.initial(), inputs)
    walk = drawn.walk(words)
    expected = [(state, NO_OUTPUT if output is None else output) for state, output in walk]
    assert [named(model, state) for state in run.states] == expected
    with model.original(False) as original:
        assert original.run(inputs) == list(run.states)
        assert original.steps(list(zip(run.states, inputs, strict=False))) == list(run.states[1:])
    for state in drawn.states:
        for value in drawn.inputs:
            here = {"state": raw(model, "state", state), "output": run.states[0]["output"]}
            assert simulator.allowed(here, {"input": raw(model, "input", value)}) == ((state, value) in drawn.table)


def pydot_arrows(text: str) -> set[tuple[str, str, str]]:
    """Source, target and label of each arrow, as pydot reads them."""
    (graph,) = pydot.graph_from_dot_data(text)
    ends = [(edge.get_source(), edge.get_destination(), edge.get("label") or "") for edge in graph.get_edge_list()]
    return {(plain(source), plain(target), plain(label)) for source, target, label in ends}


def plain(written: str) -> str:
    """A name of pydot without its quotes and its port."""
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', written, re.S)
    return quoted[1].replace('\\"', '"') if quoted else written.split(":")[0]


@pytest.mark.slow
@seeds(2)
def test_pydot_reads_the_same_arrows(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    rng = random.Random(seed)
    drawn = drawn_machine(rng, moore=True, partial=True, most=5)
    text = as_dot(drawn, rng).replace("; color=red]", ", color=red]")  # pydot knows no semicolon there
    file = tmp_path_factory.mktemp("drawn") / "machine.dot"
    file.write_text(text, encoding="utf-8")
    machine = read_machine(str(file), partial=True)
    arrows = {(each.source, each.target, each.input) for each in machine.transitions}
    assert {arrow for arrow in pydot_arrows(text) if arrow[2]} == arrows
    assert [target for _, target, label in pydot_arrows(text) if not label] == [machine.start]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=pytest.mark.evidence) if number % 3 else file for number, file in enumerate(FILES)],
    ids=lambda file: file.stem,
)
def test_both_readers_and_pydot_read_the_same_files(file: Path) -> None:
    machine = read_machine(str(file), partial=True)
    model = MachineModel(machine)
    simulator = Simulator(model.system)
    pairs = [
        ({"state": raw(model, "state", each.source), "output": 0}, {"input": raw(model, "input", each.input)})
        for each in machine.transitions
    ]
    with model.original(False) as original:
        assert original.run([]) == [simulator.initial()]
        assert original.steps(pairs) == [simulator.step(*pair) for pair in pairs]
    if len(machine.transitions) > 60:  # pydot takes 3 ms for each
        return
    read = pydot_arrows(file.read_text(encoding="utf-8"))
    mealy = machine.first is None
    arrows = {
        (e.source, e.target, re.sub(" *\n* */ *", "/", f"{e.input}/{e.output}" if mealy else e.input))
        for e in machine.transitions
    }
    assert {(source, target, re.sub(" */ *", "/", label)) for source, target, label in read if label} == arrows


def test_a_run_from_another_state(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)
    with model.original(False) as original:
        (before, after) = original.run([{"input": raw(model, "input", "b")}], {"state": raw(model, "state", "t")})
    assert (named(model, before), named(model, after)) == (("t", NO_OUTPUT), ("t", "z"))
    assert original.name == "machine.dot read a second time"
    assert (original.unreadable, original.notes) == ((), ())


def test_an_input_that_no_arrow_has(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY.replace('t -> t [label="b/z"];', ""), partial=True)
    with (
        model.original(False) as original,
        pytest.raises(CheckDisagreed, match="an input that no arrow from its state"),
    ):
        original.run([{"input": raw(model, "input", word)} for word in "ab"])


def test_a_run_ends_with_its_time(tmp_path: Path) -> None:
    model = model_of(tmp_path, MEALY)
    with model.original(False) as original, pytest.raises(LimitReached):
        original.run([{"input": 0}] * 1000, time_limit=0.0)


@pytest.mark.parametrize(
    "changed",
    [
        MEALY.replace("a/x", "c/x"),
        MEALY.replace("a/x", "a/w"),
        MEALY.replace("s -> t", "s -> u"),
        MEALY.replace("__start0 -> s", ""),
        MEALY.replace("__start0 -> s", "__start0 -> s; i -> t"),
        'digraph { s [label="s|x"]; s -> t [label=a]; t -> s [label=a]; __start0 -> s }',
    ],
)
def test_what_the_first_reader_did_not_find_is_a_disagreement(tmp_path: Path, changed: str) -> None:
    model = model_of(tmp_path, MEALY)
    (tmp_path / "machine.dot").write_text(changed, encoding="utf-8")
    with pytest.raises(CheckDisagreed, match="read a second time it is no such machine"):
        reread(model, tmp_path / "machine.dot")
