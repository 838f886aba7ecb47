"""Sets of values of formulas against all values of their symbols."""

from __future__ import annotations

import random
from itertools import product

import pytest
from pysmt.shortcuts import (
    BV,
    BVSLT,
    BVULE,
    BVULT,
    And,
    BVAdd,
    BVAnd,
    BVExtract,
    BVMul,
    BVSub,
    BVZExt,
    Equals,
    Iff,
    Ite,
    Not,
    Or,
    Symbol,
)
from pysmt.typing import BOOL, BVType

from bmc.analysis import values
from bmc.analysis.values import Evaluation, Facts, narrowed, sets_of
from bmc.floats import operations
from bmc.floats.operations import Program
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.value_sets import contains, united

X, Y, P = Symbol("ts_x", BVType(6)), Symbol("ts_y", BVType(6)), Symbol("ts_p", BOOL)
EVERY = [{"ts_x": x, "ts_y": y, "ts_p": p} for x, y, p in product(range(64), range(64), (0, 1))]


def _word(source: random.Random, depth: int):
    if depth == 0:
        return source.choice([X, Y, BV(source.randrange(64), 6)])
    left, right = _word(source, depth - 1), _word(source, depth - 1)
    wide = BVExtract(BVAdd(BVZExt(left, 2), BVZExt(right, 2)), 0, 5)
    moved = BVAdd(left, BV(source.randrange(64), 6))
    chosen = Ite(_test(source, depth - 1), left, right)
    return source.choice([wide, moved, chosen, chosen, BVSub(left, right), BVMul(left, right), BVAnd(left, right)])


def _test(source: random.Random, depth: int):
    if depth == 0:
        return source.choice([P, Equals(X, BV(source.randrange(64), 6)), BVULT(Y, BV(source.randrange(64), 6))])
    if source.random() < 0.5:
        one, other = _test(source, depth - 1), _test(source, depth - 1)
        return source.choice([And(one, other), Or(one, other), Not(one), Iff(one, other), Ite(P, one, other)])
    left, right = _word(source, depth - 1), _word(source, depth - 1)
    return source.choice([Equals, BVULT, BVULE, BVSLT])(left, right)


def _box(source: random.Random):
    box = {}
    for name in ("ts_x", "ts_y"):
        lows = [source.randrange(64) for _ in range(source.randint(1, 2))]
        box[name] = united((low, min(63, low + source.choice((0, 3, 30)))) for low in lows)
    if source.random() < 0.5:
        box["ts_p"] = source.choice([((0, 0),), ((1, 1),)])
    return box


def _members(box):
    return [v for v in EVERY if all(contains(ranges, v[name]) for name, ranges in box.items())]


@pytest.mark.slow
def test_every_value_lies_in_the_set() -> None:
    source = random.Random(7)
    decided = 0
    for _ in range(30):
        box = _box(source)
        formulas = [_word(source, 2), _test(source, 2)]
        run = compile_formulas(formulas)
        word, truth = sets_of(Program(formulas), box)
        decided += truth != ((0, 1),)
        for symbols in source.sample(_members(box), min(60, len(_members(box)))):
            found = run(symbols)
            assert contains(word, found[0])
            assert contains(truth, found[1])
    assert decided > 8


def test_narrowing_loses_nothing_that_satisfies() -> None:
    source = random.Random(8)
    smaller = 0
    for _ in range(60):
        box, formula = _box(source), _test(source, source.choice((0, 1, 2)))
        run = compile_formulas([formula])
        found = narrowed(formula, box)
        smaller += found != box
        for symbols in _members(box):
            if run(symbols)[0]:
                assert found is not None
                assert all(contains(ranges, symbols[name]) for name, ranges in found.items())
    assert smaller > 10


def test_alternatives_that_share_parts_narrow_in_little_work() -> None:
    """Forty levels of alternatives over the same two parts: as a tree they would have no end."""
    word, flags = Symbol("shared_word", BVType(8)), [Symbol(f"shared_{number}") for number in range(40)]
    formula = BVULT(word, BV(7, 8))
    for flag in flags:
        formula = Or(And(formula, flag), And(formula, Not(flag)))
    box = {"shared_word": ((0, 255),)}
    found = narrowed(And(BVULT(BV(2, 8), word), formula), box)
    assert found is not None
    (ranges,) = (found["shared_word"],)
    assert ranges[0][0] == 3, "what stands alone narrows whatever the rest takes"
    assert ranges[-1][1] >= 6, "no value is lost that the formula allows"


def test_choices_within_conditions_are_looked_into_as_deep_as_they_tell_apart() -> None:
    """Each condition reads the choice before it: looked at to the ground they would exceed the interpreter's stack."""
    word = X
    for number in range(400):
        condition = And(Equals(word, BV(number % 64, 6)), BVULT(BV(number % 61, 6), Y))
        word = Ite(condition, BVAdd(word, BV(1, 6)), word)
    (found,) = sets_of(Program([word]), {"ts_x": ((3, 3),), "ts_y": ((0, 1),)})
    assert contains(found, 3)


def test_sets_found_again_are_those_computed_anew() -> None:
    """From one box to the next only some symbols have other sets, and only what read a changed set is computed."""
    source = random.Random(9)
    computed = whole = 0
    for _ in range(60):
        program = Program([_word(source, 3), _test(source, 2), _word(source, 4)])
        places, box, kept = range(len(program.instructions)), _box(source), values.Evaluation(program)
        for _ in range(4):
            computed += kept.again(places, box)
            whole += len(places)
            assert kept.found == values.Evaluation(program, box).found
            box |= dict([source.choice([*_box(source).items()])])
    assert computed < 0.8 * whole


def test_only_what_reads_a_changed_symbol_is_computed_again() -> None:
    of_x, of_y = BVAdd(X, BV(1, 6)), BVAdd(Y, BV(2, 6))
    program = Program([of_x, of_y, BVULT(of_x, of_y)])
    places, kept = range(len(program.instructions)), values.Evaluation(program, {"ts_x": ((3, 3),), "ts_y": ((0, 1),)})
    leaves = sum(not instruction.arguments for instruction in program.instructions)
    again = kept.again(places, {"ts_x": ((3, 3),), "ts_y": ((0, 2),)})
    assert again == leaves + 2, "the sum of y and the comparison: nothing of x"


def test_known_sets_of_formulas_are_taken_as_they_are() -> None:
    of_x = BVAdd(X, BV(1, 6))
    known = {X: ((0, 3),), BV(1, 6): ((1, 1),), of_x: ((1, 3),)}
    assert sets_of(Program([BVAdd(of_x, BV(1, 6))]), {"ts_x": ((0, 3),)}, known) == [((2, 4),)]


@pytest.mark.parametrize("bits", [1024, 7], ids=["as they are", "few bits"])
def test_what_is_passed_over_would_have_stayed_as_it_was(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "MASKED", bits)
    monkeypatch.setattr(values, "MASKED", bits)
    source = random.Random(10)
    passed = 0
    for _ in range(60):
        box, formulas = _box(source), [_word(source, 4), _test(source, 4)]
        program, looked_at = Program(formulas), Program(formulas)
        looked_at.below = [-1] * len(looked_at.instructions)  # everything may have everything in common
        assert values.Evaluation(program, box).found == values.Evaluation(looked_at, box).found
        passed += "below" in vars(program)
    assert passed > 25


def test_what_a_condition_says_is_found_once_while_what_it_reads_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    assume = Evaluation._assume

    def noted(self: Evaluation, condition: int, holds: bool, given: Facts, depth: int) -> bool:
        asked.append(condition)
        return assume(self, condition, holds, given, depth)

    monkeypatch.setattr(Evaluation, "_assume", noted)
    condition = And(BVULT(X, BV(9, 6)), Not(P))
    program = Program([X, Y, P, Ite(condition, X, Y), Ite(condition, Y, BVAdd(Y, BV(1, 6)))])
    evaluation, every = Evaluation(program), range(len(program.instructions))
    box = {"ts_x": ((0, 20),), "ts_y": ((30, 40),)}
    evaluation.again(every, box)
    found, first = asked.copy(), program.places[condition]
    assert found.count(first) == 2  # where it holds, and where it does not
    evaluation.again(every, {**box, "ts_y": ((30, 41),)})
    assert asked == found
    evaluation.again(every, {**box, "ts_x": ((0, 21),)})
    assert asked.count(first) > 2
