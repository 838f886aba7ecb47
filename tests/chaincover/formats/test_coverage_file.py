"""Coverage of several chains is added up where it belongs together; justifications that do not fit are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaincover.formats.chain_file import coverage_place
from chaincover.formats.coverage_file import fitting, shares, summary, together


def executed(count: int, first: int | str | None) -> dict[str, Any]:
    return {"count": count, "first": first}


def document(chain: str, lines: dict[int, tuple[int, int | str | None]], **more: Any) -> dict[str, Any]:
    """Coverage of the file ``a.c``, whose line 2 has a branch of two outcomes, the second one never taken."""
    rows = [
        {
            "line": number,
            "function": "step",
            **executed(*own),
            "outcomes": [executed(*own), executed(0, None)] if number == 2 else [],
        }
        for number, own in lines.items()
    ]
    goal = {"criterion": "branches()", "file": "a.c", "line": 2, "column": 3, "text": "if (x) is true"}
    return {
        "chain": chain,
        "steps": 5,
        "compiler": "gcc",
        "files": [{"file": "a.c", "sha256": "abc", "lines": rows}],
        "goals": [{"name": "branch:2:3=true", **goal, "steps": lines[2][0], "first": lines[2][1]}],
        "justified": [],
        **more,
    }


def test_runs_are_added_up_and_what_is_first_is_that_of_the_first_chain() -> None:
    both = together(
        [
            document("chain-1.json", {1: (5, "init"), 2: (0, None), 3: (0, None)}),
            document("chain-2.json", {1: (4, "init"), 2: (2, 3), 3: (0, None)}),
        ]
    )
    lines = both.lines["a.c"]
    assert [(line.own.count, line.own.first) for line in lines.values()] == [
        (9, ("chain-1.json", "init")),
        (2, ("chain-2.json", 3)),
        (0, None),
    ]
    assert [each.count for each in lines[2].outcomes] == [2, 0]
    assert both.goals["branch:2:3=true"].own.first == ("chain-2.json", 3)
    assert [(each.what, each.executed, each.all) for each in shares(both)] == [
        ("lines", 2, 3),
        ("outcomes", 1, 2),
        ("branches()", 1, 1),
    ]
    assert summary(both) == "2 of 3 lines (66 %), 1 of 2 outcomes (50 %), branches() 1 of 1 (100 %)"
    assert shares(both, "b.c") == []


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (3, 3, []),
        (2, 3, []),
        (1, 1, ["the justification of a.c:1 is not needed for line 1: executed, with all outcomes"]),
        (1, 3, ["the justification of a.c:1..3 is not needed for line 1: executed, with all outcomes"]),
        (7, 9, ["the justification of a.c:7..9 is of no use: no executable line is there"]),
    ],
)
def test_a_justification_that_does_not_fit_is_told(first: int, last: int, told: list[str]) -> None:
    justified = [{"file": "a.c", "first": first, "last": last, "reason": "why"}]
    coverage = together([document("chain.json", {1: (5, 0), 2: (5, 0), 3: (0, None)}, justified=justified)])
    assert coverage.needless == told
    assert coverage.reason("a.c", first) == "why"
    assert coverage.reason("b.c", first) == coverage.reason("a.c", 99) == ""
    justified_lines = 0 if first in (1, 7) and last in (1, 9) else last - max(first, 2) + 1
    assert summary(coverage).count("justified") == bool(justified_lines)


CHAIN: dict[str, Any] = {"controller": {"sources": [{"file": "a.c", "sha256": "abc"}]}, "chain": {"length": 5}}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"files": [{"file": "a.c", "sha256": "other", "lines": []}]}, "when a.c was another text"),
        ({"steps": 6}, "measured on 6 steps, and chain.json has 5"),
        ({"compiler": "gcc 13", "chain": "chain-2.json"}, "measured with gcc 13, others with gcc"),
        ({}, "coverage.json has the coverage of chain.json, too"),
    ],
)
def test_what_was_measured_of_something_else_is_left_out_and_told(more: dict[str, Any], why: str) -> None:
    good, other = (document("chain.json", {2: (1, 0)}), {**document("chain.json", {2: (1, 0)}), **more})
    chains = [("chain.json", CHAIN), ("chain-2.json", CHAIN)]
    assert fitting([("coverage.json", good)], chains) == ([("coverage.json", good)], [])
    kept, notes = fitting([("coverage.json", good), ("other.json", other)], chains)
    assert [name for name, _ in kept] == ["coverage.json"]
    assert len(notes) == 1
    assert notes[0].startswith("The coverage in other.json is not shown: ")
    assert why in notes[0]


def test_coverage_comes_in_the_order_of_the_chains() -> None:
    documents = [(name, document(name, {2: (1, 0)})) for name in ("inputs.csv", "chain-10.json", "chain-2.json")]
    kept, notes = fitting(documents, [(f"chain-{number}.json", CHAIN) for number in range(1, 11)])
    assert [name for name, _ in kept] == ["chain-2.json", "chain-10.json", "inputs.csv"]
    assert notes == []


@pytest.mark.parametrize(
    ("chain", "coverage"),
    [("o/chain.json", "coverage.json"), ("o/chain-2.csv", "coverage-2.json"), ("o/inputs.csv", "coverage-inputs.json")],
)
def test_coverage_lies_beside_its_chain(chain: str, coverage: str) -> None:
    assert coverage_place(Path(chain)) == Path("o") / coverage
