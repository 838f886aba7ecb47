"""The graph on the terminal: goals of one step in one row, bounds told from distances, a matrix in parts."""

from __future__ import annotations

import re
from io import StringIO
from itertools import pairwise
from typing import Any

from chaincover.report.console import Console
from chaincover.report.console_graph import show_graph


def shown(data: dict[str, Any], width: int = 100, implied: dict[str, str] | None = None) -> list[str]:
    """The lines of the graph."""
    text = StringIO()
    show_graph(Console(text, width), "m", data, implied)
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


def rows_of(lines: list[str]) -> dict[str, list[str]]:
    """The rows of the matrix, without the numbers that they may have, by the names of their goals."""
    begin = next(index for index, line in enumerate(lines) if line.startswith("from"))
    words = [re.sub(r"^ *\d+  ", "", line).split() for line in lines[begin + 1 :]]
    return {row[0]: row[1:] for row in words if row}


def test_goals_that_the_chain_covers_at_one_step_are_one_row_with_the_steps_taken_and_the_fewest() -> None:
    lines = shown(graph("iabcz", {"ia": 2, "ab": 0}, {"ia": 2, "ab": 0, "bc": 9, "cz": 1}, exact=False, bc=2))
    assert [line.split() for line in lines[1:6]] == [
        ["step", "taken", "fewest", "the", "chain", "covers"],
        ["0", "init"],
        ["2", "2", "2", "a,", "b"],
        ["11", "9", "≥", "2", "c"],
        ["12", "1", "end"],
    ]
    assert lines[6] == "1 of 3 legs takes the fewest steps that any run takes, of 2 the fewest steps are not known."


def test_where_the_goals_of_a_step_have_no_distances_the_fewest_steps_count_from_an_earlier_one() -> None:
    lines = shown(graph("iaxbz", {"ia": 2, "ab": 4, "bz": 1}, {"ia": 2, "ax": 3, "xb": 3, "bz": 1}, exact=True))
    assert [line.split() for line in lines[3:6]] == [
        ["2", "2", "2", "a"],
        ["5", "3", "x"],
        ["8", "3", "4", "since", "step", "2", "b"],
    ]
    said = " ".join(lines)
    assert "2 of 4 legs take the fewest steps that any run takes, 1 takes more, of 1 the fewest steps are not" in said
    assert "so it may need more." in said
    assert "since step n: the fewest steps count from the goals of step n" in said
    assert "since step n" not in " ".join(shown(graph("iaz", {"ia": 2, "az": 1}, {"ia": 3, "az": 1}, exact=True)))


def test_a_lower_bound_that_the_chain_meets_is_a_distance() -> None:
    lines = shown(graph("iaz", {"ia": 2}, {"ia": 2, "az": 3}, exact=False, az=3), 200)
    assert lines[4].split() == ["5", "3", "3", "end"]
    assert lines[5].startswith("Each leg takes the fewest steps")
    assert rows_of(lines)["a"] == ["3*"]
    assert "≥" not in "".join(lines)


def test_below_zero_is_explained_where_it_occurs_and_goals_that_overlap_otherwise_are_not_compared() -> None:
    """Goal ``a`` is over before ``b``, and begins after it; the distance from ``b`` is that of runs which cover ``a``
    later, so the chain takes fewer steps."""
    lines = shown(graph("ibaz", {"ib": 2, "ba": 4, "ab": -1}, {"ib": 2, "ba": 1, "az": 1}, exact=True), 200)
    assert rows_of(lines)["b"] == ["1*", "(?)"]
    assert "Below 0: goals of several steps overlap, and the second may begin before the first one." in lines
    assert "Below 0" not in " ".join(shown(graph("iaz", {"ia": 2}, {"ia": 2, "az": 3}, exact=False)))


def test_a_weight_from_any_state_is_a_lower_bound_unless_the_chain_takes_no_more() -> None:
    """From ``b`` the weight may be that of a state which no run reaches; 0 as a bound tells nothing."""
    weights, chain = {"ia": 2, "ab": 3, "ba": 1, "az": 0}, {"ia": 2, "ab": 3, "bz": 1}
    lines = shown(graph("iabz", weights, chain, exact=False), 200)
    rows = rows_of(lines)
    assert (rows["init"], rows["a"], rows["b"]) == (["2*"], ["3*"], ["≥", "1", "1*", "(?)"])
    assert "≥ n: no run takes fewer than n steps; whether one takes n is not known." in lines
    assert "(?): nothing is known of the fewest steps." in lines
    assert lines[0].endswith("; sought up to K = 1 steps")
    exact = shown(graph("iabz", weights, chain, exact=True, bz=77))
    assert rows_of(exact)["b"] == ["1", "1*", "(never)"]
    assert not [sign for sign in ("≥", "(?)") if sign in "".join(exact)]
    assert "K =" not in exact[0]


def test_a_cell_tells_the_steps_that_the_chain_takes_from_the_fewest_and_is_explained() -> None:
    lines = shown(graph("iabz", {"ia": 2, "ab": 0, "bz": 1, "ib": 4}, {"ia": 2, "ab": 3, "bz": 1}, exact=True), 200)
    assert rows_of(lines)["a"] == ["3*", "(0)"]
    sentence = (
        "*: the way of the chain, with the steps that it takes; 3* (0) from a to b says that it takes 3, and that "
    )
    assert f"{sentence}the fewest are 0." in lines


def test_a_goal_without_distances_has_no_row_and_is_named() -> None:
    lines = shown(graph("iaxz", {"ia": 1, "az": 1}, {"ia": 1, "az": 1}, exact=True))
    assert lines[-1] == "No run covers x."
    assert not any("x" in line.split() for line in lines[:-1])


def test_columns_have_names_in_the_order_of_the_chain_where_these_fit() -> None:
    data = graph("iabz", {"ib": 1, "ba": 1, "az": 1}, {"ib": 1, "ba": 1, "az": 1}, exact=True)
    named = {"a": "auto_up_stops", "b": "both(keys)=held"}
    for part in ("edges", "chain"):
        data[part] = [
            {**edge, **{end: named.get(edge[end], edge[end]) for end in ("from", "to")}} for edge in data[part]
        ]
    data["nodes"] = ["init", *named.values(), "end"]
    lines = shown(data, 50)
    begin = next(index for index, line in enumerate(lines) if line.startswith("from"))
    assert lines[begin : begin + 5] == [
        "from             both(keys)=  auto_up_",
        "                        held     stops  end",
        "init                      1*",
        "both(keys)=held                     1*",
        "auto_up_stops                            1*",
    ]
    narrow = shown(data, 30)
    assert any(line.split() == ["from", "1", "2", "3"] for line in narrow)
    assert any(line.startswith("The columns are the numbers") for line in narrow)


def test_a_matrix_that_is_too_wide_stands_in_parts_with_the_names_of_rows() -> None:
    letters = "iabcdefghz"
    weights = {a + b: 100 for a in letters[:-1] for b in letters[1:] if a != b}
    lines = shown(graph(letters, weights, {}, exact=True), 30)
    heads = [line.split() for line in lines if line.startswith("from")]
    assert [number for head in heads for number in head[1:]] == [*"123456789"]
    assert len(heads) > 1
    assert max(map(len, lines)) <= 30
    assert sum("  init" in line for line in lines) == len(heads)


def test_of_a_graph_that_is_too_large_for_a_terminal_goals_are_left_out_that_others_imply() -> None:
    letters = "i" + "".join(chr(code) for code in range(0x100, 0x140)) + "z"
    data = graph(letters, {a + b: 1 for a, b in pairwise(letters)}, {}, exact=True)
    whole = shown(data, 80)
    assert whole[2] == "The matrix of 66 nodes is too large for a terminal: --format json has all"
    implied = dict.fromkeys(letters[5:-1], letters[1])
    less = shown(data, 80, {**implied, letters[5]: "a goal that no run covers"})
    assert [*rows_of(less)][:6] == ["init", *letters[1:6]]
    assert "59 goals are not in it: wherever another goal of it is covered" in " ".join(less)


def test_where_there_is_no_distance_the_way_of_the_chain_is_shown() -> None:
    lines = shown(graph("iaz", {}, {"ia": 4, "az": 0}, exact=False))
    assert [line.split() for line in lines[1:4]] == [
        ["step", "taken", "the", "chain", "covers"],
        ["0", "init"],
        ["4", "4", "a,", "end"],
    ]
    assert lines[-1].startswith("no distance above K = 1 was looked for: ")
