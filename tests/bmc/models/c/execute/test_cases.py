"""Conditions decided case by case: never impossible where some values make them hold, and bisection ends."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read, refusal  # noqa: F401
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVULT, FALSE, And, BVAdd, BVType, Equals, Iff, Ite, Not, Or, Symbol

from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.execute import statements
from bmc.models.c.execute.cases import Cases


class Formulas:
    """Random formulas over two Boolean and two bit-vector symbols, rich in choices between constants."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.flags = [Symbol(name) for name in "pq"]
        self.words = [Symbol(name, BVType(2)) for name in "xy"]

    def condition(self, depth: int) -> FNode:
        kind = self.random.randrange(8 if depth else 2)
        if kind == 0:
            return self.random.choice(self.flags)
        if kind == 1:
            return BVULT(self.random.choice(self.words), BV(self.random.randrange(4), 2))
        if kind == 2:
            return Not(self.condition(depth - 1))
        if kind < 5:
            return self.random.choice((And, Or, Iff))(self.condition(depth - 1), self.condition(depth - 1))
        if kind == 5:
            return Ite(*(self.condition(depth - 1) for _ in range(3)))
        return self.random.choice((BVULT, Equals))(self.word(depth - 1), self.word(depth - 1))

    def word(self, depth: int) -> FNode:
        kind = self.random.randrange(12 if depth else 4)
        if kind == 0:
            return self.random.choice(self.words)
        if kind < 4:
            return BV(self.random.randrange(4), 2)
        if kind < 10:
            return Ite(self.condition(depth - 1), self.word(depth - 1), self.word(depth - 1))
        return BVAdd(self.word(depth - 1), self.word(depth - 1))


def test_nothing_possible_is_called_impossible() -> None:
    fresh_environment()
    formulas = Formulas(3)
    valuations = [
        dict(zip("pqxy", values, strict=True)) for values in itertools.product((0, 1), (0, 1), range(4), range(4))
    ]
    shown = 0
    for _ in range(700):
        condition, path = formulas.condition(4), formulas.condition(3)
        holds = compile_formulas([And(condition, path)])
        possible = any(holds(values)[0] for values in valuations)
        impossible = Cases().impossible(condition, path)
        assert not (impossible and possible), (condition.serialize(), path.serialize())
        shown += impossible
    assert shown > 20, "what rests on choices between constants is shown"


def test_a_constant_condition() -> None:
    assert Cases().impossible(FALSE(), Symbol("p"))
    assert not Cases().impossible(Not(FALSE()), Symbol("p"))


BISECTION = """
static const unsigned short edges[9] = {0, 3, 10, 11, 40, 100, 101, 300, 1000}; int r;
static int find(unsigned short x) { int low = 0, high = 8;
  while (high - low > 1) { int middle = (low + high) / 2; if (x < edges[middle]) high = middle; else low = middle; }
  return low; }
void step(unsigned short x) { r = x < 1000 ? find(x) : -1; }
"""


@pytest.mark.needs_compiler
def test_bisection_ends(tmp_path: Path) -> None:
    model = read(tmp_path, BISECTION)
    assert not model.system.undefined_behaviour, "no index can be out of range"
    found = agreement(model, pairs=200)
    assert found.steps == 200
    assert not found.differences


@pytest.mark.slow
def test_a_search_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "OPEN_LOOP_LIMIT", 30)
    endless = BISECTION.replace("low = middle", "low = low")
    assert "this loop never ends: its state comes back" in refusal(tmp_path, endless).message
