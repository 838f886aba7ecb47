"""What a chain executes: counts equal those that gcov lists of the chain's harness, goals those of the chain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from c_support import own_environment
from command_line import MODEL_NAMES, MODELS, chaincover
from gcov_text import listed, needs_gcov

from chaincover.formats.coverage_file import together

__all__ = ["own_environment"]

SAMPLE = ("cruise", "mixer")


def measured(model: str, folder: Path, *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The coverage of a model's chain, and the chain."""
    done = chaincover("generate", MODELS / model, "-q", "--coverage", "-o", folder, *options)
    assert (folder / "coverage.json").is_file(), done.out + done.stderr
    return tuple(json.loads((folder / name).read_text()) for name in ("coverage.json", "chain.json"))  # type: ignore[return-value]


@needs_gcov
@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [name if name in SAMPLE else pytest.param(name, marks=pytest.mark.evidence) for name in MODEL_NAMES],
)
def test_counts_are_those_that_gcov_lists_of_the_harness(model: str, tmp_path: Path) -> None:
    found, chain = measured(model, tmp_path / "chain")
    sources = [each["file"] for each in chain["controller"]["sources"]]
    reference = listed(MODELS / model, tmp_path / "chain", tmp_path / "harness", tuple(sources[1:]))
    compared = 0
    for file in found["files"]:
        theirs = reference[Path(file["file"]).name]
        for line in file["lines"]:
            count, taken = theirs[line["line"]]
            assert line["count"] == count, f"{file['file']}:{line['line']}"
            assert [each["count"] for each in line["outcomes"]] == taken, f"{file['file']}:{line['line']}"
            assert (line["first"] is None) == (count == 0)
            compared += 1
        left = set(theirs) - {line["line"] for line in file["lines"]}
        assert not [line for line in left if theirs[line][0]], "a line that runs is left out"
    assert compared >= 10


@needs_gcov
@pytest.mark.slow
def test_goals_are_covered_where_the_chain_says_and_where_gcov_sees_the_outcome(tmp_path: Path) -> None:
    found, chain = measured("cruise", tmp_path, "--cover", "branches()")
    own = {goal["name"]: goal for goal in found["goals"]}
    asked = {goal["name"]: goal for goal in chain["goals"] if goal["generated"]}
    assert asked.keys() == {name for name, goal in own.items() if goal["criterion"] == "branches()"}
    assert {name: goal["step"] for name, goal in asked.items()} == {name: own[name]["first"] for name in asked}
    conditions: dict[int, set[int]] = {}
    for goal in own.values():
        if goal["criterion"] == "conditions()" and goal["first"] is not None:
            conditions.setdefault(goal["line"], set()).add(goal["first"])
    lines = {line["line"]: line for line in found["files"][0]["lines"]}
    for number in (36, 38, 42, 44, 53, 55, 57):  # decisions that stand on one line each
        assert {each["first"] for each in lines[number]["outcomes"]} - {None} == conditions[number]
    coverage = together([found])
    assert coverage.goals["branch:34:3=no-case"].own.first is None
    assert not any(line.function.startswith(("p_", "final")) for line in coverage.lines["cruise.c"].values())
