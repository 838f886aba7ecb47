"""What stages write on the board: the best is kept, everybody is told at once, and contradictions are errors."""

from __future__ import annotations

import pytest
from boards import board_of, run_by
from machines import fork

from bmc.errors import CheckDisagreed
from chaincover.chain import NO_WAY_TO_FINAL, UNREACHABLE
from chaincover.known import BOUND_UNITS, Board, Known, Proof, Reason
from chaincover.options import Options

LEFT, RIGHT = 0, 1
NEAR = (LEFT, RIGHT)
FAR = (RIGHT, RIGHT, LEFT)


def begun(**options: int) -> Board:
    """The fork: ``near`` and back takes two steps, ``far`` and back three."""
    return board_of(fork(stuck=False), Options(engine="z3", **options))[0]


def offered(board: Board, *choices: int) -> bool:
    return board.offer(run_by(board.known.problem.system, *choices))


def test_a_run_is_credited_with_all_that_it_covers_and_more_goals_are_better() -> None:
    board, kept = board_of(fork(stuck=False))
    assert offered(board, *NEAR)
    assert board.known.chain is not None
    assert board.known.chain.order == ("near",)
    assert not board.known.complete
    assert board.known.length is None
    assert offered(board, *FAR, *NEAR), "a longer chain through more goals"
    assert board.known.chain.order == ("far", "near")
    assert (board.known.complete, board.known.length) == (True, 5)
    assert not offered(board, *NEAR), "fewer goals"
    assert not offered(board, *NEAR, *FAR), "no shorter"
    assert [known.chain and known.chain.length for known in kept.known] == [2, 5], "each better one is told, no other"


def test_a_chain_ends_as_early_as_it_may() -> None:
    board = begun()
    assert offered(board, *NEAR, *FAR, LEFT, RIGHT, LEFT)
    assert board.known.length == 5


def test_a_run_that_does_not_end_is_no_chain_but_shows_what_can_be_reached() -> None:
    board = begun()
    assert not offered(board, RIGHT, RIGHT)
    assert board.known.chain is None
    assert {name: run.length for name, run in board.known.seen.items()} == {"far": 2}
    assert not offered(board, RIGHT, RIGHT, RIGHT, RIGHT)
    assert board.known.seen["far"].length == 2, "the shortest run is kept"
    assert board.known.open(["far", "near"]) == ("near",)


def test_a_run_on_which_nothing_is_covered_is_no_chain() -> None:
    board = begun()
    assert not offered(board)
    assert board.known.chain is None


def test_a_chain_longer_than_asked_for_is_not_taken() -> None:
    board = begun(max_length=4)
    assert offered(board, *NEAR)
    assert not offered(board, *FAR, *NEAR)
    assert {*board.known.seen} == {"far", "near"}
    assert board.known.chain is not None
    assert board.known.chain.order == ("near",)


def test_of_a_run_that_is_too_long_the_first_part_is_taken() -> None:
    board = begun(max_length=4)
    assert offered(board, *FAR, *NEAR)
    assert board.known.chain is not None
    assert (board.known.chain.order, board.known.chain.length) == (("far",), 3)
    assert {*board.known.seen} == {"far", "near"}


def test_a_run_is_taken_as_far_as_it_goes_on_within_k() -> None:
    board = begun(bound=2)
    assert offered(board, *NEAR, *FAR)
    assert board.known.chain is not None
    assert (board.known.chain.order, board.known.chain.length) == (("near",), 2)
    assert offered(board, *FAR, *NEAR)
    assert (board.known.chain.order, board.known.chain.k_met) == (("far", "near"), 2)
    assert not offered(begun(bound=1), *FAR), "nothing is covered within one step"


def test_no_chain_is_as_short_as_was_asked_for() -> None:
    board = begun(max_length=4)
    assert offered(board, *NEAR)
    board.prove(order_bound=4)
    assert (board.too_long, board.settled) == (False, False)
    board.prove(order_bound=5)
    assert (board.too_long, board.settled, board.known.settled) == (True, True, False)


def test_bounds_rise_and_the_best_proof_stays() -> None:
    board, kept = board_of(fork(stuck=False))
    board.prove(order_bound=2, basis="by order")
    assert kept.known == [], "most runs have a chain soon"
    board.limits.spend(BOUND_UNITS)
    board.prove(order_bound=3, basis="by order")
    board.prove(searched=2, states=9, basis="by search")
    assert (board.known.lower, board.known.proof.basis) == (3, "by order")
    assert (board.known.proof.searched, board.known.proof.states) == (2, 9)
    board.prove(refuted=(3, 5), basis="by lengths")
    assert (board.known.lower, board.known.proof.basis) == (5, "by lengths")
    assert [known.lower for known in kept.known] == [3, 5], "only a higher bound is told"


def test_refuted_lengths_above_the_bound_prove_nothing() -> None:
    assert Proof(("a",), order_bound=2, refuted=(3, 9)).lower == 2
    assert Proof(("a",), order_bound=3, refuted=(3, 9)).lower == 9


def test_a_chain_at_its_bound_settles_all() -> None:
    board = begun()
    offered(board, *FAR, *NEAR)
    assert not board.known.settled
    board.prove(order_bound=5)
    assert board.known.settled


def test_a_bound_above_a_chain_is_a_disagreement() -> None:
    board = begun()
    offered(board, *FAR, *NEAR)
    with pytest.raises(CheckDisagreed, match="5 steps was found below the proven least length 6"):
        board.prove(searched=6)


def test_a_chain_below_the_bound_is_a_disagreement() -> None:
    board = begun()
    board.prove(order_bound=6)
    with pytest.raises(CheckDisagreed, match="5 steps was found below the proven least length 6"):
        offered(board, *FAR, *NEAR)


def test_a_bound_on_all_goals_says_nothing_of_fewer() -> None:
    board = begun()
    board.prove(order_bound=5)
    assert offered(board, *NEAR)
    board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "so it is")})
    assert (board.known.targets, board.known.lower, board.known.length) == (("near",), 0, 2)
    board.prove(order_bound=2)
    assert board.known.settled


def test_a_covered_goal_is_never_ruled_out() -> None:
    for status in (UNREACHABLE, NO_WAY_TO_FINAL):
        board = begun()
        offered(board, *NEAR)
        with pytest.raises(CheckDisagreed, match="a run covers near"):
            board.rule_out({"near": Reason(status, "a wrong proof")})


def test_a_goal_that_a_run_reaches_is_never_unreachable() -> None:
    board = begun()
    offered(board, RIGHT, RIGHT)
    with pytest.raises(CheckDisagreed, match="a run covers far"):
        board.rule_out({"far": Reason(UNREACHABLE, "a wrong proof")})
    board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "that may well be")})
    assert board.known.targets == ("near",)


def test_the_first_reason_stays() -> None:
    board = begun()
    board.rule_out({"far": Reason(UNREACHABLE, "first")})
    board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "second")})
    assert board.known.uncoverable == {"far": Reason(UNREACHABLE, "first")}


def test_no_chain_beside_a_chain_is_a_disagreement() -> None:
    board = begun()
    offered(board, *FAR, *NEAR)
    with pytest.raises(CheckDisagreed, match="proved that none does: a wrong proof"):
        board.tell(no_chain="a wrong proof")


def test_a_represented_goal_comes_back_when_the_other_one_is_lost() -> None:
    board = begun()
    board.tell(represented={"near": "far"})
    before = board.questions
    assert board.known.targets == before.problem.names == ("far",)
    assert board.questions is before, "sessions stay as long as the goals do"
    board.prove(order_bound=3)
    board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "so it is")})
    assert board.known.targets == board.questions.problem.names == ("near",)
    assert board.known.lower == 0, "the bound was on chains through the other goal"


def test_a_bound_on_a_goal_that_is_represented_from_now_on_still_holds() -> None:
    """Every chain through the goal that represents it covers it too."""
    board = begun()
    board.prove(order_bound=3)
    board.tell(represented={"near": "far"})
    assert board.known.lower == 3


def test_without_goals_a_chain_is_a_way_to_the_end() -> None:
    system, _, final = fork(stuck=False)
    board, _ = board_of((system, (), final))
    assert Known(board.problem).targets == ()
    assert offered(board)
    assert (board.known.length, board.known.settled) == (0, True)


def test_what_is_proved_later_never_lowers_the_bound() -> None:
    """Lengths are refuted from a bound by orders; that the next orders give less must not take their ground away."""
    board = begun()
    board.prove(order_bound=2, edges={("init", "near"): 2}, basis="edges")
    board.prove(refuted=(2, 4), basis="whole")
    board.prove(order_bound=1, edges={}, paths={}, basis="paths")
    assert board.known.lower == 4
    assert board.known.proof.order_bound == 2
    assert board.known.proof.edges == {("init", "near"): 2}
    board.prove(order_bound=5, edges={("init", "near"): 5}, paths={}, basis="paths")
    assert board.known.lower == 5
