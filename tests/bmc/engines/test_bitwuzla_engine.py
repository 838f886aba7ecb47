"""Engine ``bitwuzla``: what stops a question."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

from bmc.engines.bitwuzla import _Stop

pytestmark = [pytest.mark.needs("bitwuzla"), pytest.mark.needs_signals]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """SIGTERM has a handler that raises, as the command line has."""

    def terminated(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt("terminated")

    before = signal.signal(signal.SIGTERM, terminated)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(("number", "said"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "")])
def test_a_signal_waits_until_the_solver_has_returned(number: signal.Signals, said: str) -> None:
    stop, handler = _Stop(), signal.getsignal(number)

    def ask() -> None:
        with stop.within(None, None):
            assert not stop()
            os.kill(os.getpid(), number)
            assert stop()

    with pytest.raises(KeyboardInterrupt) as raised:
        ask()
    assert str(raised.value) == said
    assert signal.getsignal(number) is handler
    with stop.within(None, None):
        assert not stop(), "the next question is asked as if nothing had happened"
