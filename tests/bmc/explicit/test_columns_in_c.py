"""The interpreter for columns: when it is taken, and that runs are the same with it. Its operations are compared with
arrays in ``tests/bmc/evaluation/test_vectors.py``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from enumerated_systems import random_system
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Symbol
from pysmt.typing import BVType

from bmc.evaluation.vectors import Program, column
from bmc.explicit import batch, columns_in_c
from bmc.explicit.columns_in_c import Interpreted, NotInterpreted, evaluation, interpreter, nominal
from bmc.native.build import NO_NATIVE

A, B = (Symbol(f"columns_{name}", BVType(8)) for name in "ab")


def long_sum() -> FNode:
    """A sum of more operations than are left to arrays."""
    found = A
    for number in range(columns_in_c.LEAST):
        found = found * BV(number % 200 | 1, 8) + B
    return found


@pytest.mark.needs_compiler
def test_large_programs_are_interpreted_and_small_ones_are_not() -> None:
    assert isinstance(evaluation([long_sum()]), Interpreted)
    assert isinstance(evaluation([A + B]), Program)


def test_without_a_compiler_arrays_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NO_NATIVE, "1")
    assert isinstance(evaluation([long_sum()]), Program)


def test_with_a_compiler_that_makes_nothing_arrays_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "true")
    assert isinstance(evaluation([long_sum()]), Program)


@pytest.mark.parametrize("makes", ["no library", ""])
def test_what_cannot_be_loaded_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, makes: str) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\nprintf "{makes}" > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert isinstance(evaluation([long_sum()]), Program)


@pytest.mark.needs_compiler
@pytest.mark.parametrize("term", [A.BVRol(1), A.BVZExt(60) * B.BVZExt(60)], ids=["rotation", "wide word"])
def test_what_the_interpreter_does_not_know_is_left_to_arrays(term: FNode) -> None:
    library = interpreter()
    assert library is not None
    with pytest.raises(NotInterpreted):
        Interpreted([term], library)
    narrow = term.BVExtract(0, 7)
    found = evaluation([long_sum() + narrow])
    assert isinstance(found, Program)


@pytest.mark.needs_compiler
@pytest.mark.parametrize("count", [1, 63, 64, 65, 200])
def test_columns_of_any_length_and_of_one_value(count: int) -> None:
    formulas = [long_sum(), And(A.BVULT(B), A.Equals(A), B.BVULT(BV(9, 8))), A, BV(3, 8)]
    columns = {"columns_a": column(np.arange(count) % 256, 8), "columns_b": column([7], 8)}
    for made, expected in zip(evaluation(formulas)(columns), Program(formulas)(columns), strict=True):
        assert made.dtype == expected.dtype
        assert np.array_equal(made, np.broadcast_to(expected, (count,)))


@pytest.mark.needs_compiler
@pytest.mark.parametrize("seed", range(6))
def test_random_runs_are_the_same(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    system, _ = random_system(seed, open_values=False)

    def drawn(made: Callable[..., object]) -> batch.Runs:
        monkeypatch.setattr(batch, "evaluation", made)
        runs = batch.Batch(system, seed=seed, least=0)
        return runs.draw(runs.initial(), 70, 12)

    arrays, interpreted = drawn(lambda formulas, _: Program(formulas)), drawn(evaluation)
    assert (arrays.valid == interpreted.valid).all()
    for name, values in {**arrays.states, **arrays.inputs}.items():
        assert np.array_equal(values, {**interpreted.states, **interpreted.inputs}[name]), name


def test_the_work_of_a_step_grows_with_its_size_and_with_the_runs() -> None:
    sizes = [nominal(size, 64) for size in range(0, 2 * columns_in_c.LEAST, 7)]
    assert sizes == sorted(set(sizes))
    assert nominal(10, 128) > nominal(10, 64)
