"""The driver ``serial``: a board on a serial line, ``serial:PORT`` or ``serial:PORT@BAUD``.

The port is a device or an address of pyserial, such as ``socket://localhost:4000``. The other end is the firmware that
``chaincover export --format firmware`` writes; its ``chaincover_serial.c`` says how a frame looks. Inputs and outputs
go as bytes, in the order of the variables. A frame that is damaged on its way is sent again, and never executed twice.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from bmc import ending
from bmc.errors import UsageError
from chaincover.target.drivers import Bus, TargetLost, Values
from chaincover.target.drivers.values import raw_inputs, shown_outputs

HELLO, RESET, STEP, ANSWER, LOST = 1, 2, 3, 0x80, 0xFF
START, HEAD, TAIL = 0x7E, 9, 4
BAUD = 115200
TRIES = 10
"""How often a request is sent within the time of the watchdog at least. Twice as often: more frames on a slow line."""
SOONEST = 200
"""After what part of the time of the watchdog a request is sent again at the earliest. Twice as many: more frames are
sent in vain where the machine is busy."""


class Serial:
    """A board, connected. ``draw`` draws the number of a session."""

    def __init__(self, port: Any, name: str, bus: Bus, draw: Callable[[], int]) -> None:
        self._port, self._name, self._bus, self._draw = port, name, bus, draw
        self._session, self._sequence, self._rest = 0, 0, b""
        self._greeted = False
        self._usual = bus.watchdog / TRIES
        """Seconds after which a request is sent again."""
        self._greet()

    def reset(self) -> Values:
        """See ``Driver``."""
        return self._outputs(self._asked(RESET, b""))

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        raw = raw_inputs(self._bus, inputs)
        sent = b"".join(raw[var.name].to_bytes(var.type.size, "little") for var in self._bus.inputs)
        return self._outputs(self._asked(STEP, sent))

    def close(self) -> None:
        """See ``Driver``."""
        self._port.close()

    def _outputs(self, answer: bytes) -> Values:
        values, at = {}, 0
        for var in self._bus.outputs:
            raw = int.from_bytes(answer[at : at + var.type.size], "little")
            values[var.name] = raw & ((1 << max(var.type.bits, 1)) - 1)
            at += var.type.size
        return shown_outputs(self._bus, values)

    def _greet(self) -> None:
        """Begin a session. TargetLost unless the board was built for this program."""
        self._session, self._sequence = self._draw(), 0
        sizes = self._exchange(HELLO, b"")
        wanted = [sum(var.type.size for var in each) for each in (self._bus.inputs, self._bus.outputs)]
        found = [int.from_bytes(sizes[at : at + 2], "little") for at in (0, 2)]
        if found != wanted:
            text = f"the board has {found[0]} bytes of inputs and {found[1]} of outputs"
            text += f", the program {wanted[0]} and {wanted[1]}"
            hint = "build its firmware for this program: chaincover export --format firmware"
            raise TargetLost(text, hint=hint)
        self._greeted = True

    def _asked(self, kind: int, payload: bytes) -> bytes:
        """The payload of the answer to a request. After one without an answer the board may be a request behind: it is
        greeted anew, as one that was reset, so that it can be stopped safely."""
        if not self._greeted:
            self._greet()
        self._greeted = False
        found = self._exchange(kind, payload)
        self._greeted = True
        return found

    def _exchange(self, kind: int, payload: bytes) -> bytes:
        """The payload of the answer to a request, which is sent again until the answer comes: after the usual time at
        first, then ever more seldom, and ``TRIES`` times within the time of the watchdog at least."""
        self._sequence = (self._sequence + 1) % 0x10000
        request = frame(kind, self._session, self._sequence, payload)
        begun, wait = time.monotonic(), max(self._usual, self._bus.watchdog / SOONEST)
        end, again = begun + self._bus.watchdog, 0
        while (now := time.monotonic()) < end:
            self._write(request)
            found = self._answer(kind, min(now + wait, end))
            if found is not None:
                if not again:
                    took = 3 * (time.monotonic() - begun)
                    self._usual += (min(took, self._bus.watchdog / TRIES) - self._usual) / 4
                return found
            again, wait = again + 1, min(2 * wait, self._bus.watchdog / TRIES)
        text = f"the board on {self._name} gave no answer within {self._bus.watchdog:g} s"
        raise TargetLost(text, hint="look at the line, its speed (serial:PORT@BAUD) and the board")

    def _answer(self, kind: int, latest: float) -> bytes | None:
        """The payload of the answer of this ``kind`` to the last request; None where none has come in time."""
        while True:
            for found_kind, session, sequence, payload in self._frames():
                if (session, sequence) != (self._session, self._sequence):
                    continue
                if found_kind == LOST:
                    hint = "it was reset, or another program speaks to it: its state is not known"
                    raise TargetLost(f"the board on {self._name} knows nothing of this session", hint=hint)
                if found_kind == kind | ANSWER:
                    return payload
            left = latest - time.monotonic()
            if left <= 0:
                return None
            self._rest += self._read(min(left, ending.PATIENCE / 2))

    def _read(self, seconds: float) -> bytes:
        """What has come; nothing after so many seconds without a byte."""
        try:
            self._port.timeout = seconds
            found: bytes = self._port.read(max(1, self._port.in_waiting))
        except (OSError, ValueError) as error:
            raise self._gone(error) from None
        return found

    def _write(self, request: bytes) -> None:
        try:
            self._port.write(request)  # and no flush, which waits for as long as nobody reads
        except (OSError, ValueError) as error:
            raise self._gone(error) from None

    def _gone(self, error: Exception) -> TargetLost:
        return TargetLost(f"the line {self._name} is gone: {error}", hint="connect it again")

    def _frames(self) -> Sequence[tuple[int, int, int, bytes]]:
        """The whole frames of what has come: kind, session, sequence number, payload."""
        longest = 4 + sum(var.type.size for var in self._bus.outputs)
        found, self._rest = frames(self._rest, longest)
        return found


def frame(kind: int, session: int, sequence: int, payload: bytes) -> bytes:
    """A frame."""
    head = len(payload).to_bytes(2, "little") + session.to_bytes(4, "little") + sequence.to_bytes(2, "little")
    content = head + bytes([kind]) + payload
    return bytes([START]) + content + zlib.crc32(content).to_bytes(4, "little")


def frames(data: bytes, longest: int) -> tuple[list[tuple[int, int, int, bytes]], bytes]:
    """The whole frames in ``data``, with payloads of at most so many bytes, and the rest, which may begin one.

    A whole frame ends what seemed to begin one before it.
    """
    found, rest, at = [], len(data), 0
    while (at := data.find(START, at)) >= 0:
        content = data[at + 1 :]
        length = int.from_bytes(content[:2], "little")
        end = HEAD + length + TAIL
        if len(content) >= 2 and length > longest:
            at += 1
        elif len(content) < 2 or len(content) < end:
            rest = min(rest, at)
            at += 1
        elif zlib.crc32(content[: HEAD + length]) != int.from_bytes(content[HEAD + length : end], "little"):
            at += 1
        else:
            session, sequence = int.from_bytes(content[2:6], "little"), int.from_bytes(content[6:8], "little")
            found.append((content[8], session, sequence, content[HEAD : HEAD + length]))
            at += 1 + end
            rest = len(data)
    return found, data[rest:]


def serial(text: str, bus: Bus) -> Serial:
    """The driver of the board on the port that ``text``, ``PORT`` or ``PORT@BAUD``, names."""
    try:
        from serial import SerialException, serial_for_url
    except ImportError:
        hint = "pip install 'chaincover[serial]'"
        raise UsageError("boards are driven with the package pyserial, which is not installed", hint=hint) from None
    name, _, baud = text.partition("@")
    if not name or (baud and not baud.isdecimal()):
        raise UsageError(f"'{text}' names no port", hint="write serial:PORT or serial:PORT@BAUD")
    try:
        port = serial_for_url(name, int(baud or BAUD), timeout=0, write_timeout=bus.watchdog)
    except (SerialException, ValueError, OSError) as error:
        raise UsageError(f"the port {name} cannot be opened: {error}", hint="look at its name and its rights") from None
    try:
        return Serial(port, name, bus, lambda: int.from_bytes(os.urandom(4), "little"))
    except BaseException:
        port.close()
        raise
