"""``chaincover graph PATH CHAIN``: the chain is drawn bold on the graph, with the steps that it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

from chaincover.formats.drawing import to_dot, to_svg

CRUISE = MODELS / "cruise"


def test_a_chain_is_bold_on_the_graph_of_its_goals(tmp_path: Path) -> None:
    more = ("--property", "twice: cover(mode == DIS && gas)")
    made = chaincover("generate", CRUISE, *more, "-o", tmp_path, "--no-replay", "--json").json
    steps = {hit["goal"]: hit["step"] for hit in made["chain"]["hits"]}
    data = chaincover("graph", CRUISE, tmp_path).json
    order = ["init", *made["chain"]["order"], "final"]
    at = [0, *(steps[goal] for goal in order[1:-1]), made["chain"]["length"]]
    edges = [{"from": order[n], "to": order[n + 1], "steps": at[n + 1] - at[n]} for n in range(len(order) - 1)]
    assert data["chain"] == edges
    assert "twice" in data["nodes"]
    drawn = chaincover("graph", CRUISE, tmp_path / "chain.json", "--format", "dot").out
    bold = re.findall(r'"(\w+)" -> "(\w+)" \[label=\S.*style=bold', drawn)
    assert sorted(bold) == sorted((edge["from"], edge["to"]) for edge in edges)
    assert "bold" not in chaincover("graph", CRUISE, "--format", "dot").out
    (tmp_path / "chain.json").write_text((tmp_path / "chain.json").read_text().replace('"chain": {', '"chain_": {', 1))
    assert chaincover("graph", CRUISE, tmp_path).code == 3


def test_more_steps_than_needed_and_edges_that_the_graph_lacks() -> None:
    edges = [{"from": "init", "to": "a", "weight": 1}, {"from": "a", "to": "b", "weight": 2}]
    steps = {("init", "a"): 4, ("a", "b"): 2, ("b", "end"): 3}
    chain = [{"from": a, "to": b, "steps": count} for (a, b), count in steps.items()]
    data = {"nodes": ["init", "a", "b", "end"], "edges": edges, "chain": chain}
    dot, svg = to_dot("t", data), to_svg("t", data)
    assert '"init" -> "a" [label="4 (fewest 1)", style=bold' in dot
    assert '"a" -> "b" [label=2, style=bold' in dot
    assert '"b" -> "end" [label="3 (?)", style=bold' in dot
    assert svg.count('class="edge path"') == 3
    assert ">4 (fewest 1)</text>" in svg


def test_on_a_terminal_it_is_a_table_with_the_way_of_the_chain(tmp_path: Path) -> None:
    """Goals are in the order of the chain; what it goes along is marked, and told with its own steps."""
    model, out = MODELS / "cruise", tmp_path / "out"
    assert chaincover("generate", model, "--no-replay", "-q", "-o", out).code == 0
    lines = chaincover("graph", model, out, "--format", "text", "-q").out.splitlines()
    assert lines[0] == "cruise: fewest steps between 4 goals, init and final"
    assert lines[1].split() == ["step", "taken", "fewest", "the", "chain", "covers"]
    assert lines[3].split() == ["2", "2", "2", "p_4"]
    assert ["from", "p_4", "p_1", "p_2", "p_3", "final"] in [line.split() for line in lines]
    assert ["init", "2*", "2", "3", "2"] in [line.split() for line in lines]
    assert chaincover("graph", model, out, "-q").json["k"] == 4, "a pipe gets what programs read"


def test_a_matrix_that_is_too_large_leaves_out_goals_that_others_imply(tmp_path: Path) -> None:
    """Thirty conditions on a counter, each of which the last one implies."""
    (tmp_path / "c.c").write_text(
        "static int count; void init(void) { count = 0; }\n"
        "void step(_Bool up) { if (up && count < 40) count++; else count = 0; }\n"
    )
    (tmp_path / "chaincover.toml").write_text(
        '[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "step"\n'
        '[interface]\ninput = ["up"]\nstate = ["count"]\n'
    )
    more = [word for n in range(30) for word in ("--property", f"g{n}: cover(count >= {n})")]
    lines = chaincover("graph", tmp_path, *more, "--format", "text", "-q").out.splitlines()
    assert ["from", "g29", "end"] in [line.split() for line in lines]
    assert ["init", "29"] in [line.split() for line in lines]
    assert any(line.startswith("29 goals are not in it: wherever another goal of it is covered") for line in lines)


FEW = ("--effort", "0.0013", "--format", "text", "-q")
"""So little effort that the states are not enumerated, and the search ends at K = 0."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of the model, with all distances."""
    out = tmp_path_factory.mktemp("made")
    assert chaincover("generate", CRUISE, "--no-replay", "-q", "-o", out).code == 0
    return out


def told(*words: object) -> list[str]:
    return chaincover("graph", CRUISE, *words, *FEW).out.splitlines()


def test_goals_that_are_chosen_are_the_only_ones_whose_way_is_shown(made: Path) -> None:
    data = chaincover("graph", CRUISE, made, "--goal", "p_1", "--goal", "p_3", "-q").json
    whole = chaincover("graph", CRUISE, made, "-q").json
    assert data["nodes"] == ["init", "p_1", "p_3", "final"]
    assert [edge["to"] for edge in data["chain"]] == [
        edge["to"] for edge in whole["chain"] if edge["to"] in data["nodes"]
    ]
    assert sum(edge["steps"] for edge in data["chain"]) == sum(edge["steps"] for edge in whole["chain"])


def test_distances_that_the_chain_has_count_where_the_search_finds_less_and_it_says_why_it_stopped(made: Path) -> None:
    alone, both = told(), told(made)
    assert "≥ 1" in alone[3]
    assert alone[-1] == "This search stopped at K = 0, since the effort was used up: allow more (--effort)."
    assert both[-2:] == [alone[-1], "Distances that chain.json has count too."]
    assert any(line.startswith("Each leg takes the fewest steps") for line in both)
    assert not any("stopped" in line for line in chaincover("graph", CRUISE, "--format", "text").out.splitlines())


def test_distances_of_another_run_do_not_count_and_it_says_why(made: Path, tmp_path: Path) -> None:
    text = (made / "chain.json").read_text()
    others = {
        "the code has changed since: cruise.c": '"preprocessed_sha256": "',
        "its final condition, overlap or hold is another one": '"overlap": "allow',
        "its interface or assumptions are others": '"values": "0..1',
    }
    for why, place in others.items():
        assert place in text
        new = place.replace("allow", "forbid") if "allow" in place else f"{place}0"
        (tmp_path / "chain.json").write_text(text.replace(place, new))
        lines = told(tmp_path)
        assert lines[-1] == f"Distances that chain.json has do not count: {why}. Generate the chain again."
        assert not any(line.startswith("Each leg takes the fewest steps") for line in lines)


def test_elsewhere_than_in_a_text_the_reason_is_on_stderr(made: Path) -> None:
    words = ("graph", CRUISE, made, "--effort", "0.0013", "--format", "json")
    assert "This search stopped at K = 0" in chaincover(*words).err
    assert chaincover(*words, "-q").err == ""
