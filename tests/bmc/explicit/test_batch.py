"""How random runs draw their inputs."""

from __future__ import annotations

import numpy as np
import pytest
from machines import fork

from bmc.explicit.batch import Batch
from bmc.system.transition import TransitionSystem


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
