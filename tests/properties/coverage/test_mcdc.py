"""MC/DC goals of random decisions against their truth tables."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from c_support import own_environment, read
from coverage_programs import decides

from bmc.errors import Location
from bmc.formulas.evaluate import compile_formulas
from properties.coverage import CoverageCriterion, generate_goals

__all__ = ["own_environment"]

Tree = tuple[str, "Tree", "Tree"] | tuple[str, "Tree"] | int
NAMES = "abcdef"


def random_tree(source: random.Random, numbers: Iterator[int], size: int) -> Tree:
    """``size`` conditions, each once, in a random expression."""
    if source.random() < 0.25:
        return "!", random_tree(source, numbers, size)
    if size == 1:
        return next(numbers)
    left = source.randrange(1, size)
    op = source.choice(("&&", "||"))
    return op, random_tree(source, numbers, left), random_tree(source, numbers, size - left)


def as_c(tree: Tree) -> str:
    if isinstance(tree, int):
        return NAMES[tree]
    if tree[0] == "!":
        return f"!({as_c(tree[1])})"
    return f"({as_c(tree[1])} {tree[0]} {as_c(tree[2])})"


def run(tree: Tree, values: dict[int, int], seen: dict[int, int]) -> bool:
    """The outcome with short circuit; ``seen`` gets the conditions that are evaluated."""
    if isinstance(tree, int):
        seen[tree] = values[tree]
        return bool(values[tree])
    if tree[0] == "!":
        return not run(tree[1], values, seen)
    if run(tree[1], values, seen) == (tree[0] == "||"):
        return tree[0] == "||"
    return run(tree[2], values, seen)


@pytest.mark.parametrize("seed", range(25))
def test_mcdc_of_a_random_decision(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    size = source.randrange(1, 7)
    tree = random_tree(source, iter(range(size)), size)
    use = source.choice(("if ({}) x = 1;", "x = {} ? 1 : 2;", "while ({}) {{ x = 1; break; }}", "x = 0 || {};"))
    parameters = ", ".join(f"_Bool {name}" for name in NAMES[:size])
    model = read(tmp_path, f"int x; void step({parameters}) {{ {use.format(as_c(tree))} }}")
    goals = generate_goals(model, [CoverageCriterion("mcdc()", Location("test"))])
    if "0 ||" in use:  # one condition more, in front
        constant, goals = goals[:2], goals[2:]
        assert constant[0].antecedent.is_false()
    assert len(goals) == 2 * size
    covers = compile_formulas([goal.antecedent for goal in goals])
    outcomes: dict[tuple[int, int], set[bool]] = {}
    for vector in itertools.product((0, 1), repeat=size):
        seen: dict[int, int] = {}
        outcome = run(tree, dict(enumerate(vector)), seen)
        found = covers({f"{name}@0": value for name, value in zip(NAMES, vector, strict=False)})
        for goal, holds in zip(itertools.product(range(size), (1, 0)), found, strict=True):
            condition, value = goal
            decisive = seen.get(condition) == value and decides(
                lambda full: run(tree, dict(full), {}), range(size), seen, condition
            )
            assert bool(holds) == decisive, (as_c(tree), vector, goal)
            if holds:
                outcomes.setdefault(goal, set()).add(outcome)
    for condition in range(size):  # whatever covers its two goals is a pair with different outcomes
        first, second = outcomes[condition, 0], outcomes[condition, 1]
        assert len(first) == len(second) == 1
        assert first != second
