"""The driver ``serial``: its frames, and boards that answer what they must not, or nothing."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from bmc.system.transition import InputVariable, StateVariable, ValueType
from chaincover.target.drivers import Bus, TargetLost
from chaincover.target.drivers.serial import START, Serial, frame, frames

ONE = frame(3, 0x01020304, 7, b"\x7e\x00\x02")
TWO = frame(0x83, 0x01020304, 8, b"")
READ = [(3, 0x01020304, 7, b"\x7e\x00\x02"), (0x83, 0x01020304, 8, b"")]


def test_whole_frames_are_read_and_the_rest_waits() -> None:
    assert frames(ONE + TWO, 8) == (READ, b"")
    assert frames(b"noise" + ONE + TWO[:5], 8) == (READ[:1], TWO[:5])
    assert frames(b"", 8) == ([], b"")


@pytest.mark.parametrize("cut", [1, 2, 5, len(ONE) - 1])
def test_a_frame_whose_end_was_lost_hides_none_that_follows(cut: int) -> None:
    """The bytes of the second frame could be the end of the first one, but for its checksum."""
    assert frames(ONE[:cut] + TWO, 8) == (READ[1:], b"")


def test_a_start_that_claims_more_bytes_than_any_answer_has_is_passed_over() -> None:
    assert frames(bytes([START, 0xFF, 0xFF]) + ONE, 8) == (READ[:1], b"")


def test_a_changed_byte_makes_no_other_frame() -> None:
    draw = random.Random(1)
    for _ in range(500):
        data = bytearray(ONE)
        place = draw.randrange(len(data))
        data[place] ^= draw.randint(1, 255)
        found, rest = frames(bytes(data), 8)
        assert found == []
        assert len(rest) <= len(data)


BYTE = ValueType("unsigned char", 8)
BUS = Bus(
    (InputVariable("up", BYTE),),
    (StateVariable("n", BYTE, BYTE.constant(0), BYTE.symbol("n"), "state"),),
    (),
    None,
    watchdog=60,
)
"""One byte of inputs, one of outputs."""


class Board:
    """A port with a board that answers as ``sizes`` says to a greeting, and counts its steps to the other requests.

    ``forgets``: it knows nothing of its first session any more when the step of this number comes.
    """

    def __init__(self, sizes: bytes = b"\1\0\1\0", forgets: int = 0, silent: bool = False) -> None:
        self.timeout, self.in_waiting = 0.0, 0
        self.sizes, self.forgets, self.silent = sizes, forgets, silent
        self.sessions: list[int] = []
        self.made, self._out = 0, b""

    def write(self, data: bytes) -> None:
        if self.silent:
            return
        (kind, session, sequence, _), *_ = frames(data, 8)[0]
        if kind == 1:
            self.sessions.append(session)
            self._out += frame(0x81, session, sequence, self.sizes)
        elif kind == 3 and len(self.sessions) == 1 and self.made + 1 == self.forgets:
            self._out += frame(0xFF, session, sequence, b"")
        else:
            self.made += kind == 3
            self._out += frame(kind | 0x80, session, sequence, bytes([self.made]))

    def read(self, count: int) -> bytes:
        found, self._out = self._out[:count], self._out[count:]
        return found


def connected(board: Board, watchdog: float = 60) -> Serial:
    numbers = iter(range(1, 10))
    return Serial(board, "port", replace(BUS, watchdog=watchdog), lambda: next(numbers))


def test_each_request_is_answered_once() -> None:
    driver = connected(Board())
    assert driver.reset() == {"n": 0}
    assert [driver.step({"up": 1})["n"] for _ in range(3)] == [1, 2, 3]


def test_a_board_with_another_program_is_refused() -> None:
    with pytest.raises(TargetLost, match="the board has 2 bytes of inputs and 1 of outputs, the program 1 and 1"):
        connected(Board(b"\2\0\1\0"))


def test_a_board_that_does_not_answer_is_lost() -> None:
    with pytest.raises(TargetLost, match="the board on port gave no answer within"):
        connected(Board(silent=True), watchdog=0.05)


def test_a_board_that_was_reset_is_greeted_anew_before_it_is_stopped() -> None:
    board = Board(forgets=2)
    driver = connected(board)
    driver.step({"up": 1})
    with pytest.raises(TargetLost, match="knows nothing of this session"):
        driver.step({"up": 1})
    assert board.sessions == [1]
    assert driver.step({"up": 0}) == {"n": 2}
    assert board.sessions == [1, 2]
