"""How random runs draw their inputs."""

from __future__ import annotations

import numpy as np
import pytest
from machines import fork
from pysmt.shortcuts import BV, BVULE, And, Ite

from bmc.explicit.batch import Batch
from bmc.explicit.drawing import Meeting, compared_with, in_order
from bmc.explicit.draws import Draws
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType


@pytest.fixture
def system() -> TransitionSystem:
    return fork(stuck=False)[0]


def test_of_runs_that_wait_every_second_one_rests_and_others_keep_their_inputs(system: TransitionSystem) -> None:
    batch = Batch(system)
    manner = batch.manner(64)
    drawn = batch.go_on(batch.repeated(batch.initial(), 64), manner, 8)
    last = {name: values[-1] for name, values in drawn.inputs.items()}
    waiting = manner.of(np.arange(64), last).still()
    then = batch.go_on({name: values[-1] for name, values in drawn.states.items()}, waiting, 8)
    for name, values in then.inputs.items():
        assert (values[:, 1::2] == 0).all()
        assert (values[:, 0::2] == last[name][0::2]).all()
        assert last[name][1::2].any(), "or resting runs could as well have kept theirs"
        assert last[name][0::2].any()


BYTE = ValueType("uint8_t", 8)
DATA, SUM, NUMBER = (BYTE.symbol(f"ba_{name}") for name in ("data", "sum", "number"))
EXPECTED = BYTE.symbol("ba_expected")
CHECKSUM = (DATA * BV(37, 8)) ^ NUMBER


def receiver() -> TransitionSystem:
    """Counts the messages in a row that have the right checksum, over data and number, and the number after the last
    one."""
    right = And(SUM.BVZExt(24).Equals(CHECKSUM.BVZExt(24)), NUMBER.Equals(EXPECTED))
    return TransitionSystem(
        "receiver",
        (StateVariable("ba_expected", BYTE, BV(0, 8), Ite(right, EXPECTED + BV(1, 8), BV(0, 8))),),
        tuple(InputVariable(symbol.symbol_name(), BYTE) for symbol in (DATA, SUM, NUMBER)),
    )


def test_what_the_code_calculates_for_an_input_is_found_in_the_order_in_which_it_is_read() -> None:
    system = receiver()
    found = in_order(compared_with([var.next for var in system.state], {var.name for var in system.inputs}))
    assert [name for name, _ in found] == ["ba_number", "ba_sum"]
    assert found[0][1] is EXPECTED


def test_sensors_that_have_to_agree_agree_in_some_runs_all_the_time() -> None:
    """A step in which they differ by more than 2 sets the counter back; drawn apart they agree one time in 50."""
    one, other, count = (BYTE.symbol(f"bs_{name}") for name in ("one", "other", "count"))
    apart = BV(2, 8)
    agree = And(BVULE(one, other + apart), BVULE(other, one + apart))
    system = TransitionSystem(
        "sensors",
        (StateVariable("bs_count", BYTE, BV(0, 8), Ite(agree, count + BV(1, 8), BV(0, 8))),),
        (InputVariable("bs_one", BYTE, ((60, 180),)), InputVariable("bs_other", BYTE, ((60, 180),))),
    )
    batch = Batch(system)
    runs = batch.draw(batch.initial(), 64, 96)
    assert runs.states["bs_count"].max() == 96


def test_random_runs_meet_checksums_and_numbers_in_sequence() -> None:
    """By chance one message in 65,536 is right, and four in a row never are."""
    batch = Batch(receiver())
    runs = batch.draw(batch.initial(), 64, 96)
    assert runs.states["ba_expected"].max() >= 4


def test_a_program_that_compares_inputs_in_many_places_draws_as_fast_as_any_other() -> None:
    """64 comparisons of eight inputs took longer than the step of 5,000 lines."""
    places = [BYTE.symbol(f"bm_state{number}") for number in range(64)]
    inputs = [BYTE.symbol(f"bm_input{number}") for number in range(8)]
    nexts = [Ite(inputs[n % 8].Equals(place), BV(0, 8), BV(1, 8)) for n, place in enumerate(places)]
    assert len(compared_with(nexts, {each.symbol_name() for each in inputs})) == 64
    assert Meeting(nexts, {each.symbol_name() for each in inputs}).drawn(Draws(1), 4) == {}
