"""What a floating-point term was built for is still known where its symbols are others, or have values."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from c_support import own_environment  # noqa: F401
from pysmt.fnode import FNode
from pysmt.shortcuts import BVConcat, BVExtract, BVNot, Symbol
from pysmt.typing import BVType

from bmc.analysis.constants import put_in
from bmc.floats import arithmetic
from bmc.floats.format import FLOAT32, FLOAT64, pattern
from bmc.floats.operations import Program, operation_of
from bmc.formulas.terms import Meaning, constant, keep_meaning, meanings, remember
from bmc.formulas.unroll import at, at_each, shift, unplaced, with_terms


def real(text: str) -> FNode:
    """A variable, or a number."""
    return Symbol(text, BVType(32)) if text[0].isalpha() else constant(pattern(float(text), FLOAT32), 32)


@pytest.mark.parametrize(
    ("change", "operands"),
    [
        (lambda term: at(term, 2), ("x@2", "y@2")),
        (lambda term: at_each([term, term], 1)[1], ("x@1", "y@1")),
        (lambda term: shift(at(term, 2), 3), ("x@5", "y@5")),
        (lambda term: unplaced([at(term, 2)])[0], ("x", "y")),
        (lambda term: with_terms([term], {real("x"): real("z")})[0], ("z", "y")),
        (lambda term: put_in([term], {"y": pattern(1.0, FLOAT32)})[0], ("x", "1.0")),
    ],
)
def test_a_sum_stays_a_sum(change: Callable[[FNode], FNode], operands: tuple[str, ...]) -> None:
    found = operation_of(change(arithmetic.add(real("x"), real("y"), FLOAT32)))
    assert found is not None
    assert (found.name, found.form) == ("add", FLOAT32)
    assert found.operands == tuple(map(real, operands))


def test_what_is_decided_by_values_is_no_sum() -> None:
    total = arithmetic.add(real("x"), real("y"), FLOAT32)
    value = pattern(1.0, FLOAT32)
    assert put_in([total], {"x": value, "y": value}) == [constant(pattern(2.0, FLOAT32), 32)]


def test_no_term_is_explained_by_what_it_explains() -> None:
    infinite = BVConcat(BVExtract(real("x"), 31, 31), constant(pattern(math.inf, FLOAT32), 31))
    double = arithmetic.resize(infinite, FLOAT32, FLOAT64)
    assert arithmetic.resize(double, FLOAT64, FLOAT32) is infinite
    assert operation_of(infinite) is None
    assert len(Program([infinite]).results) == 1


def test_terms_made_in_another_order_are_not_explained_by_each_other() -> None:
    """Two renamings may make the same terms in either order."""
    one, two = (BVNot(real(name)) for name in "xy")
    first, second = BVNot(real("p")), BVNot(real("q"))
    remember(second, Meaning((first,)))
    keep_meaning(second, one, {first: two})
    assert one not in meanings()
    keep_meaning(second, two, {first: one})
    assert meanings()[two].operands == (one,)
