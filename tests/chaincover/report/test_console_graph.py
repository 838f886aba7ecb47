"""The graph on the terminal: goals of one step in one row, bounds told from distances, a matrix in parts."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise
from typing import Any

from chaincover.report.console import Console
from chaincover.report.console_graph import show_graph


def shown(data: dict[str, Any], width: int = 100) -> list[str]:
    """The lines of the graph."""
    text = StringIO()
    show_graph(Console(text, width), "m", data)
    return text.getvalue().splitlines()


def graph(nodes: str, weights: dict[str, int], chain: dict[str, int], exact: bool, **least: int) -> dict[str, Any]:
    """The data of a graph whose nodes are letters, ``i`` init and ``z`` the end; edges are two letters."""
    called = {"i": "init", "z": "end"}

    def edge(letters: str, **more: int) -> dict[str, Any]:
        return {"from": called.get(letters[0], letters[0]), "to": called.get(letters[1], letters[1]), **more}

    return {
        "nodes": [called.get(letter, letter) for letter in nodes],
        "edges": [edge(letters, weight=weight) for letters, weight in weights.items()],
        "open": [edge(letters, at_least=number) for letters, number in least.items()],
        "unknown": [],
        "k": 1,
        "exact": exact,
        "chain": [edge(letters, steps=steps) for letters, steps in chain.items()],
    }


def test_goals_that_the_chain_covers_at_one_step_are_one_row_of_the_way() -> None:
    lines = shown(graph("iabcz", {"ia": 2, "ab": 0}, {"ia": 2, "ab": 0, "bc": 9, "cz": 1}, exact=False, bc=2))
    assert [line.split() for line in lines[1:6]] == [
        ["step", "taken", "the", "chain", "covers", "distance"],
        ["0", "init"],
        ["2", "2", "a,", "b", "2"],
        ["11", "9", "c", "≥", "2"],
        ["12", "1", "end"],
    ]
    assert lines[6] == "where no distance stands, no more is known than that it is not above the steps taken"


def test_a_weight_from_any_state_is_a_lower_bound_unless_the_chain_takes_no_more() -> None:
    """From ``b`` the weight may be that of a state which no run reaches; 0 as a bound tells nothing."""
    weights, chain = {"ia": 2, "ab": 3, "ba": 1, "az": 0}, {"ia": 2, "ab": 3, "bz": 1}
    lines = shown(graph("iabz", weights, chain, exact=False), 200)
    rows = {line[3:7].strip(): line.split()[2:] for line in lines if line[:1].isdigit()}
    assert (rows["init"], rows["a"], rows["b"]) == (["2*"], ["3*"], ["≥", "1", "*"])
    assert "≥ n: no run takes fewer steps; empty: not known" in lines[-1]
    exact = shown(graph("iabz", weights, chain, exact=True, bz=77))
    assert ["2", "b", "1", "never*"] in [line.split() for line in exact]
    assert "≥" not in "".join(exact)


def test_a_goal_without_distances_has_no_row_and_is_named() -> None:
    lines = shown(graph("iaxz", {"ia": 1, "az": 1}, {"ia": 1, "az": 1}, exact=True))
    assert lines[-1].endswith("no run covers x")
    assert not any("x" in line.split() for line in lines[:-1])


def test_a_matrix_that_is_too_wide_stands_in_parts_with_the_names_of_rows() -> None:
    letters = "iabcdefghz"
    weights = {a + b: 100 for a in letters[:-1] for b in letters[1:] if a != b}
    lines = shown(graph(letters, weights, {}, exact=True), 30)
    heads = [line.split() for line in lines if line.startswith("from")]
    assert [number for head in heads for number in head[1:]] == [*"123456789"]
    assert len(heads) > 1
    assert max(map(len, lines)) <= 30
    assert sum("  init" in line for line in lines) == len(heads)


def test_what_is_too_large_for_a_terminal_is_left_to_files() -> None:
    letters = "i" + "".join(chr(code) for code in range(0x100, 0x140)) + "z"
    weights = {a + b: 1 for a, b in pairwise(letters)}
    lines = shown(graph(letters, weights, {}, exact=True), 80)
    assert lines[1].startswith("the distances of 66 nodes are too many for a terminal: --format json tells all")
    nothing = shown(graph("iaz", {}, {"ia": 4, "az": 0}, exact=False))
    assert nothing[-1].startswith("no distance above K = 1 was looked for: ")
