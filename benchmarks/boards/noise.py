"""A noisy line between a driver and a target: a relay between two terminals that damages bytes in both directions."""

from __future__ import annotations

import os
import pty
import random
import selectors
import subprocess
import threading
import tty
from collections.abc import Sequence
from contextlib import suppress


def damaged(draw: random.Random, data: bytes, share: float) -> bytes:
    """``data`` in which this ``share`` of the bytes is changed, dropped or doubled."""
    found = bytearray()
    for byte in data:
        kind = draw.choice(["changed", "dropped", "doubled"]) if draw.random() < share else ""
        if kind == "changed":
            byte ^= draw.randint(1, 255)
        if kind != "dropped":
            found.append(byte)
        if kind == "doubled":
            found.append(byte)
    return bytes(found)


class NoisyLine:
    """A target, started anew, at the end of a line; ``port`` is the other end, which a driver opens."""

    def __init__(self, command: Sequence[str], seed: int, share: float) -> None:
        self._share = share
        self._draws = random.Random(f"to the target {seed}"), random.Random(f"from the target {seed}")
        near, self._near_slave = pty.openpty()
        far, far_slave = pty.openpty()
        for end in (self._near_slave, far_slave):
            tty.setraw(end)
        self.port = os.ttyname(self._near_slave)
        self.target = subprocess.Popen(command, stdin=far_slave, stdout=far_slave, start_new_session=True)
        os.close(far_slave)
        self._masters = near, far
        self._wake, self._woken = os.pipe()
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the line; the target's input ends by that, and a target that does not end is killed."""
        os.write(self._woken, b"x")
        self._thread.join()
        for end in (*self._masters, self._near_slave, self._wake, self._woken):
            os.close(end)
        try:
            self.target.wait(5)
        except subprocess.TimeoutExpired:
            self.target.kill()
            self.target.wait()

    def _relay(self) -> None:
        near, far = self._masters
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, (far, self._draws[0]))
            selector.register(far, selectors.EVENT_READ, (near, self._draws[1]))
            selector.register(self._wake, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        return
                    other, draw = key.data
                    try:
                        data = os.read(key.fd, 4096)
                    except OSError:  # the target has ended
                        selector.unregister(key.fd)
                        continue
                    with suppress(OSError):
                        os.write(other, damaged(draw, data, self._share))
