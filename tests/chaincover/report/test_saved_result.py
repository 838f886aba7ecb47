"""The face of results in Python: length, steps with decoded values, tables, graphs, notebooks, and saved ones again."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx
import pytest
from command_line import MODELS, chaincover, fresh_names
from findings import results

import chaincover as library
from chaincover.chain import Bounds, Chain, Verdict
from chaincover.notebook import MOST_ROWS, verdict_table


@pytest.fixture(scope="module")
def cruise() -> Iterator[tuple[library.Subject, library.ChainResult]]:
    with fresh_names():
        subject = library.load(MODELS / "cruise")
        yield subject, library.generate(subject.problem)


def steps_in(place: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.read_text())["chain"]["steps"]
    return found


def test_a_chain_and_its_file_have_the_same_steps(
    cruise: tuple[library.Subject, library.ChainResult], tmp_path: Path
) -> None:
    subject, result = cruise
    chain = result.chain
    assert chain is not None
    library.save(subject, result, tmp_path)
    saved = library.read(tmp_path)
    records = steps_in(tmp_path / "chain.json")
    assert len(chain) == len(saved) == len(records) == chain.length == saved.bounds.length
    assert [*chain] == [*saved] == [*saved.chains[0]]
    for step, record in zip(chain, records, strict=True):
        assert (step.number, step.inputs, step.state) == (record["step"], record["inputs"], record["state"])
        assert (step.outputs, [*step.goals]) == (record["outputs"], record["goals"])
        assert step["s->mode"] == record["state"]["s->mode"]
        assert step["i->gas"] == record["inputs"]["i->gas"]
    with pytest.raises(KeyError):
        next(iter(chain))["nothing"]
    assert (saved.verdicts, saved.bounds) == (result.verdicts, result.bounds)
    assert [ruling.ruling for ruling in saved.requirements] == [r.status for r in result.requirements.rulings]
    assert saved.name == "cruise"
    assert [step.number for step in saved.chains[0][2:4]] == [2, 3]
    assert len(repr(saved)) <= 800


def test_tables_have_a_row_for_each_step_and_need_pandas(
    cruise: tuple[library.Subject, library.ChainResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = cruise[1].chain
    assert chain is not None
    frame = chain.to_frame()
    assert frame.index.name == "step"
    assert [*frame["s->mode"]] == [step["s->mode"] for step in chain]
    assert [*frame.columns] == [*chain.run.inputs[0], "s->mode", "s->speed", "s->enable", "goals"]
    covered = {step: goals for step, goals in frame["goals"].items() if goals}
    assert covered == {hit.step: hit.goal for hit in chain.hits}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(library.UsageError, match="pandas, which is not installed") as refused:
        chain.to_frame()
    assert refused.value.hint == "pip install pandas"


def test_what_notebooks_show(cruise: tuple[library.Subject, library.ChainResult], tmp_path: Path) -> None:
    subject, result = cruise
    assert result.chain is not None
    library.save(subject, result, tmp_path)
    svg = result.chain._repr_svg_()
    assert svg is not None
    names = [each.text for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert {"gas", "mode", "speed", "DIS", *result.chain.goals} <= {*names}
    assert pickle.loads(pickle.dumps(result)).chain._repr_svg_() == svg
    assert {"mode", "DIS"} <= {*library.read(tmp_path).chains[0]._repr_svg_().replace("<", ">").split(">")}
    assert "<caption>length 9, proved minimal</caption>" in result._repr_html_()
    assert result._repr_html_() == library.read(tmp_path)._repr_html_()
    verification = library.verify(MODELS / "cruise", tmp_path)
    shown = ElementTree.fromstring(verification._repr_html_())
    assert len([*shown.iter("tr")]) == 1 + len(verification.lines)
    matrix = ElementTree.fromstring(result.graph._repr_html_())
    assert len([*matrix.iter("tr")]) == 1 + len(result.graph.nodes)


def test_a_table_in_a_notebook_is_short_and_holds_names_as_text() -> None:
    verdicts = [Verdict(f"<script>{k}", "undecided") for k in range(MOST_ROWS + 5)]
    table = ElementTree.fromstring(verdict_table(Bounds(3, None, ""), verdicts))
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    assert rows[1][0] == "<script>0"
    assert rows[-1] == ["and 5 more"]
    assert len(rows) == MOST_ROWS + 2


def test_a_graph_for_networkx(cruise: tuple[library.Subject, library.ChainResult]) -> None:
    graph = cruise[1].graph
    made = graph.to_networkx()
    assert [*made.nodes] == [*graph.nodes]
    assert {(a, b): data["weight"] for a, b, data in made.edges(data=True) if "weight" in data} == graph.weights
    order = ["init", *(hit.goal for hit in cruise[1].chain.hits), "final"]  # type: ignore[union-attr]
    assert networkx.path_weight(made, order, "weight") <= 9
    assert [kind for _, kind in made.nodes(data="kind")] == ["init", *["goal"] * len(graph.goals), "end"]


@pytest.mark.slow
def test_better_answers_have_their_steps_too(cruise: tuple[library.Subject, library.ChainResult]) -> None:
    class Watching:
        def __init__(self) -> None:
            self.lengths: list[tuple[int, int]] = []

        def __call__(self, text: str) -> None: ...

        def improved(self, result: Callable[[], library.ChainResult]) -> None:
            chain = result().chain
            if chain is not None:
                self.lengths.append((len(chain), len([*chain])))

    watching = Watching()
    library.generate(cruise[0].problem, listener=watching)
    assert watching.lengths
    assert all(steps == length for length, steps in watching.lengths)
    most = library.generate_most(cruise[0].problem)
    assert most.chain is not None
    assert [*most.chain] == [*cruise[1].chain]  # type: ignore[misc]
    several = library.generate_several(cruise[0].problem)
    assert [len([*one.chain]) for one in several.results if one.chain is not None] == [9]
    assert several._repr_html_().count("<tr>") == 5


def test_a_chain_that_knows_no_variables_says_what_to_do(cruise: tuple[library.Subject, library.ChainResult]) -> None:
    chain = cruise[1].chain
    assert chain is not None
    bare = Chain(chain.run, chain.order, chain.hits)
    assert bare == Chain(chain.run, chain.order, chain.hits, decoded=chain.decoded)
    assert len(bare) == 9
    assert bare._repr_svg_() is None
    with pytest.raises(library.UsageError, match="does not know what its variables are"):
        next(iter(bare))


@pytest.mark.slow
def test_saved_results_of_several_chains_and_of_none(tmp_path: Path) -> None:
    out = results(tmp_path)
    failing = library.read(out)
    assert [ruling.goal for ruling in failing.requirements if ruling.ruling == "can fail"] == ["falls"]
    assert failing.goals[2].verdict == "unreachable"
    assert chaincover("generate", tmp_path, "--several", "--no-replay", "-q", "-o", tmp_path / "s").code == 1
    several = library.read(tmp_path / "s")
    assert [[*one] for one in several.chains] == [[*failing]]
    assert several.to_frame().equals(failing.to_frame())
    assert (several.bounds.length, several.name) == (4, "level")
    data = json.loads((out / "chain.json").read_text())
    (out / "chain.json").write_text(json.dumps({**data, "chain": None}))
    none = library.read(out / "chain.json")
    assert (len(none), bool(none), none.chains) == (0, True, ())
    with pytest.raises(library.UsageError, match="no chain"):
        none.to_frame()
    with pytest.raises(library.InputRefused):
        library.read(tmp_path / "nowhere")
