"""The driver ``serial``: a board on a serial line, ``serial:PORT`` or ``serial:PORT@BAUD``.

The other end is ``chaincover/target/firmware/chaincover_serial.c``, which says how a frame looks. Inputs and outputs go
as bytes, in the order of the variables. A frame that is damaged on its way is sent again, and never executed twice.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from typing import Any

from bmc import ending
from bmc.errors import UsageError
from bmc.system.transition import ValueType
from chaincover.target.drivers import Bus, TargetLost, Values
from chaincover.target.drivers.values import raw_inputs, shown_outputs

HELLO, RESET, STEP, ANSWER, LOST = 1, 2, 3, 0x80, 0xFF
START, HEAD, TAIL = 0x7E, 9, 4
BAUD = 115200
TRIES = 10
"""How often a request is sent within the time of the watchdog. Twice as often: more frames on a line that is slow."""


def size_of(vtype: ValueType) -> int:
    """The bytes of a value on the line."""
    return max(1, (vtype.bits + 7) // 8)


class Serial:
    """A board, connected. ``sessions`` draws the number of the session."""

    def __init__(self, port: Any, name: str, bus: Bus, session: int) -> None:
        self._port, self._name, self._bus = port, name, bus
        self._session, self._sequence, self._rest = session, 0, b""
        sizes = self._asked(HELLO, b"")
        wanted = [sum(size_of(v.type) for v in each) for each in (bus.inputs, bus.outputs)]
        found = [int.from_bytes(sizes[at : at + 2], "little") for at in (0, 2)]
        if found != wanted:
            text = f"the board has {found[0]} bytes of inputs and {found[1]} of outputs"
            text += f", the program {wanted[0]} and {wanted[1]}"
            raise TargetLost(text, hint="build its firmware for this program: CC_INPUT_BYTES, CC_OUTPUT_BYTES")

    def reset(self) -> Values:
        """See ``Driver``."""
        return self._outputs(self._asked(RESET, b""))

    def step(self, inputs: Values) -> Values:
        """See ``Driver``."""
        raw = raw_inputs(self._bus, inputs)
        sent = b"".join(raw[var.name].to_bytes(size_of(var.type), "little") for var in self._bus.inputs)
        return self._outputs(self._asked(STEP, sent))

    def close(self) -> None:
        """See ``Driver``."""
        self._port.close()

    def _outputs(self, answer: bytes) -> Values:
        values, at = {}, 0
        for var in self._bus.outputs:
            size = size_of(var.type)
            raw = int.from_bytes(answer[at : at + size], "little")
            values[var.name] = raw & ((1 << max(var.type.bits, 1)) - 1)
            at += size
        return shown_outputs(self._bus, values)

    def _asked(self, kind: int, payload: bytes) -> bytes:
        """The payload of the answer to a request, which is sent again until that comes."""
        self._sequence = (self._sequence + 1) % 0x10000
        request = frame(kind, self._session, self._sequence, payload)
        begun, every = time.monotonic(), self._bus.watchdog / TRIES
        sent = 0
        while (now := time.monotonic()) < begun + self._bus.watchdog:
            if now >= begun + sent * every:
                sent += 1
                self._write(request)
            found = self._answer(kind, begun + sent * every)
            if found is not None:
                return found
        text = f"the board on {self._name} gave no answer within {self._bus.watchdog:g} s"
        raise TargetLost(text, hint="look at the line, its speed (serial:PORT@BAUD) and the board")

    def _answer(self, kind: int, latest: float) -> bytes | None:
        """The payload of the answer of this ``kind`` to the last request; None where none has come in time."""
        while True:
            for found in self._frames():
                found_kind, session, sequence, payload = found
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
            self._port.timeout = min(left, ending.PATIENCE / 2)
            try:
                self._rest += self._port.read(max(1, self._port.in_waiting))
            except (OSError, ValueError) as error:
                raise TargetLost(f"the line {self._name} is gone: {error}", hint="connect it again") from None

    def _write(self, request: bytes) -> None:
        try:
            self._port.write(request)
            self._port.flush()
        except (OSError, ValueError) as error:
            raise TargetLost(f"the line {self._name} is gone: {error}", hint="connect it again") from None

    def _frames(self) -> Sequence[tuple[int, int, int, bytes]]:
        """The whole frames of what has come: kind, session, sequence number, payload."""
        longest = 4 + sum(size_of(var.type) for var in self._bus.outputs)
        found, self._rest = frames(self._rest, longest)
        return found


def frame(kind: int, session: int, sequence: int, payload: bytes) -> bytes:
    """A frame."""
    head = len(payload).to_bytes(2, "little") + session.to_bytes(4, "little") + sequence.to_bytes(2, "little")
    content = head + bytes([kind]) + payload
    return bytes([START]) + content + zlib.crc32(content).to_bytes(4, "little")


def frames(data: bytes, longest: int) -> tuple[list[tuple[int, int, int, bytes]], bytes]:
    """The whole frames in ``data``, with payloads of at most so many bytes, and the rest, which may begin one."""
    found, at = [], 0
    while (at := data.find(START, at)) >= 0:
        content = data[at + 1 :]
        if len(content) < 2:
            break
        length = int.from_bytes(content[:2], "little")
        if length > longest:
            at += 1
            continue
        if len(content) < HEAD + length + TAIL:
            break
        crc = int.from_bytes(content[HEAD + length : HEAD + length + TAIL], "little")
        if zlib.crc32(content[: HEAD + length]) != crc:
            at += 1
            continue
        session, sequence = int.from_bytes(content[2:6], "little"), int.from_bytes(content[6:8], "little")
        found.append((content[8], session, sequence, content[HEAD : HEAD + length]))
        at += 1 + HEAD + length + TAIL
    return found, data[at:] if at >= 0 else b""


def serial(text: str, bus: Bus) -> Serial:
    """The driver of the board on the port that ``text``, ``PORT`` or ``PORT@BAUD``, names."""
    try:
        from serial import Serial as Port
        from serial import SerialException
    except ImportError:
        hint = "pip install 'chaincover[serial]'"
        raise UsageError("boards are driven with the package pyserial, which is not installed", hint=hint) from None
    name, _, baud = text.partition("@")
    if not name or (baud and not baud.isdecimal()):
        raise UsageError(f"'{text}' names no port", hint="write serial:PORT or serial:PORT@BAUD")
    try:
        port = Port(name, int(baud or BAUD), timeout=0, write_timeout=bus.watchdog)
    except (SerialException, ValueError, OSError) as error:
        raise UsageError(f"the port {name} cannot be opened: {error}", hint="look at its name and its rights") from None
    try:
        return Serial(port, name, bus, int.from_bytes(os.urandom(4), "little"))
    except BaseException:
        port.close()
        raise
