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
HALF = 1 << 15
"""No cell is wider than half of the values."""


def found(following: dict[FNode, FNode], seen: Seen = NOTHING, allowed: FNode | None = None) -> Cells | None:
    state = tuple(StateVariable(s.symbol_name(), WORD, BV(0, 16), term) for s, term in following.items())
    inputs = (InputVariable("count_go", BOOLEAN),)
    system = TransitionSystem("counters", state, inputs, TRUE() if allowed is None else allowed)
    return find_counters(system, seen, Prover(SatEngine()), lambda starts: True)


def one_up(counter: FNode) -> FNode:
    return counter.BVAdd(BV(1, 16))


@pytest.mark.parametrize(
    ("term", "starts"),
    [
        (one_up(C), (0, HALF)),
        (Ite(C.Equals(BV(500, 16)), BV(0, 16), one_up(C)), (0, 500, 501, HALF)),
        (Ite(C.BVULT(BV(60_000, 16)), one_up(C), C), (0, HALF, 60_000)),
        (Ite(C.BVSLT(BV(100, 16)), one_up(C), BV(0, 16)), (0, 100, HALF)),
        (BVExtract(BVZExt(C, 16).BVAdd(BV(1, 32)), 0, 15), (0, HALF)),
        (Ite(GO, BV(7, 16), C.BVSub(BV(3, 16))), (0, HALF)),
    ],
)
def test_cells_end_where_a_step_reads_the_counter(term: FNode, starts: tuple[int, ...]) -> None:
    cells = found({C: term})
    assert cells is not None
    assert cells.starts == {"count_c": starts}


def test_cells_end_where_a_goal_or_a_constraint_reads_the_counter() -> None:
    cells = found({C: one_up(C)}, Seen([C.BVUGE(BV(9, 16))], []))
    assert cells is not None
    assert cells.starts == {"count_c": (0, 9, HALF)}
    cells = found({C: one_up(C)}, NOTHING, Ite(C.BVULT(BV(77, 16)), TRUE(), GO))
    assert cells is not None
    assert cells.starts == {"count_c": (0, 77, HALF)}


def test_a_value_that_another_variable_keeps_is_no_counter() -> None:
    assert found({C: one_up(C), D: Ite(GO, C, D)}, Seen([D.Equals(BV(3, 16))], [])) is None


def test_of_two_counters_that_move_in_one_step_one_is_left() -> None:
    cells = found({C: one_up(C), D: one_up(D)})
    assert cells is not None
    assert len(cells.starts) == 1
    cells = found({C: Ite(GO, one_up(C), C), D: Ite(GO, D, one_up(D))})
    assert cells is not None
    assert cells.starts == {"count_c": (0, HALF), "count_d": (0, HALF)}


def test_without_a_proof_there_is_no_counter() -> None:
    system = TransitionSystem("c", (StateVariable("count_c", WORD, BV(0, 16), one_up(C)),), (), TRUE())
    seen = Seen([C.BVULT(BV(5, 16))], [])
    assert find_counters(system, seen, Prover(SatEngine(), effort=0), lambda starts: True) is None
    open_start = TransitionSystem("c", (StateVariable("count_c", WORD, None, one_up(C)),), (), FALSE())
    assert find_counters(open_start, NOTHING, Prover(SatEngine()), lambda starts: True) is None


def test_what_is_known_of_modes_is_used() -> None:
    """Both counters move in a mode that is never reached."""
    mode = WORD.symbol("count_mode")
    beyond = mode.BVUGE(BV(2, 16))
    following = {
        C: Ite(mode.Equals(BV(0, 16)).Or(beyond), one_up(C), C),
        D: Ite(mode.Equals(BV(1, 16)).Or(beyond), one_up(D), D),
        mode: Ite(GO, BV(1, 16), BV(0, 16)),
    }
    without, with_it = found(following), found(following, Seen((), (), [mode.BVULT(BV(2, 16))]))
    assert without is not None
    assert with_it is not None
    assert len(without.starts) == 1
    assert len(with_it.starts) == 2
