"""Counters fall into cells where their values are read; what does not fit is no counter."""

from __future__ import annotations

import pytest
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, FALSE, TRUE, BVExtract, BVZExt, Ite

from bmc.engines.sat import SatEngine
from bmc.invariants.counters import Cells, Seen, find_counters
from bmc.invariants.induction import Prover
from bmc.system.transition import BOOLEAN, InputVariable, StateVariable, TransitionSystem, ValueType

WORD, GO = ValueType("word", 16), BOOLEAN.symbol("count_go")
C, D = WORD.symbol("count_c"), WORD.symbol("count_d")
NOTHING = Seen((), ())


def found(following: dict[FNode, FNode], seen: Seen = NOTHING, allowed: FNode | None = None) -> Cells | None:
    state = tuple(StateVariable(s.symbol_name(), WORD, BV(0, 16), term) for s, term in following.items())
    inputs = (InputVariable("count_go", BOOLEAN),)
    system = TransitionSystem("counters", state, inputs, TRUE() if allowed is None else allowed)
    return find_counters(system, seen, Prover(SatEngine()), lambda: None)


def one_up(counter: FNode) -> FNode:
    return counter.BVAdd(BV(1, 16))


@pytest.mark.parametrize(
    ("term", "starts"),
    [
        (one_up(C), (0,)),
        (Ite(C.Equals(BV(500, 16)), BV(0, 16), one_up(C)), (0, 500, 501)),
        (Ite(C.BVULT(BV(60_000, 16)), one_up(C), C), (0, 60_000)),
        (Ite(C.BVSLT(BV(100, 16)), one_up(C), BV(0, 16)), (0, 100, 32_768)),
        (BVExtract(BVZExt(C, 16).BVAdd(BV(1, 32)), 0, 15), (0,)),
        (Ite(GO, BV(7, 16), C.BVSub(BV(3, 16))), (0,)),
    ],
)
def test_cells_end_where_a_step_reads_the_counter(term: FNode, starts: tuple[int, ...]) -> None:
    cells = found({C: term})
    assert cells is not None
    assert cells.starts == {"count_c": starts}


def test_cells_end_where_a_goal_or_a_constraint_reads_the_counter() -> None:
    cells = found({C: one_up(C)}, Seen([C.BVUGE(BV(9, 16))], []))
    assert cells is not None
    assert cells.starts == {"count_c": (0, 9)}
    cells = found({C: one_up(C)}, NOTHING, Ite(C.BVULT(BV(77, 16)), TRUE(), GO))
    assert cells is not None
    assert cells.starts == {"count_c": (0, 77)}


def test_a_value_that_another_variable_keeps_is_no_counter() -> None:
    assert found({C: one_up(C), D: Ite(GO, C, D)}, Seen([D.Equals(BV(3, 16))], [])) is None


def test_of_two_counters_that_move_in_one_step_one_is_left() -> None:
    cells = found({C: one_up(C), D: one_up(D)})
    assert cells is not None
    assert len(cells.starts) == 1
    cells = found({C: Ite(GO, one_up(C), C), D: Ite(GO, D, one_up(D))})
    assert cells is not None
    assert cells.starts == {"count_c": (0,), "count_d": (0,)}


def test_without_a_proof_there_is_no_counter() -> None:
    system = TransitionSystem("c", (StateVariable("count_c", WORD, BV(0, 16), one_up(C)),), (), TRUE())
    assert find_counters(system, Seen([C.BVULT(BV(5, 16))], []), Prover(SatEngine(), effort=0), lambda: None) is None
    open_start = TransitionSystem("c", (StateVariable("count_c", WORD, None, one_up(C)),), (), FALSE())
    assert find_counters(open_start, NOTHING, Prover(SatEngine()), lambda: None) is None
