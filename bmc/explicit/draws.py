"""Random numbers in arrays, repeatable: those of ``numpy.random.RandomState`` with the same seed.

To load ``numpy.random`` takes longer than many a short run draws. So the first numbers come from the generator of
Python's own ``random``, which is the same one (Mersenne Twister, MT19937), and the others, faster, from numpy's.
"""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np

from bmc.evaluation.vectors import Column

FEW = 1 << 18
"""So many numbers are drawn before numpy's generator is loaded."""

Shape = int | tuple[int, ...]


class Draws:
    """Draws numbers; ``seed`` (32 bits) decides them all, in the order of the calls."""

    def __init__(self, seed: int) -> None:
        self._random = Random()
        size = len(self._random.getstate()[1]) - 1
        words = [seed]
        for place in range(1, size):  # RandomState fills its state so, Random does not
            words.append((1812433253 * (words[-1] ^ words[-1] >> 30) + place) % (1 << 32))
        self._random.setstate((3, (*words, size), None))
        self._few = FEW
        self._numpy: np.random.RandomState | None = None

    def below(self, most: int, shape: Shape) -> Column:
        """Numbers from 0 to ``most`` - 1 (up to 32 bits), each as likely as another one."""
        count = self._count(shape)
        if self._numpy is not None:
            return self._numpy.randint(0, most, shape)
        drawn: Column = np.zeros(count, np.int64)
        mask = (1 << (most - 1).bit_length()) - 1
        done = 0 if mask else count
        while done < count:  # numbers that are too large are drawn again
            words = self._words(count - done, 4) & np.uint32(mask)
            words = words[words < most]
            drawn[done : done + len(words)] = words
            done += len(words)
        return drawn.reshape(shape)

    def parts(self, shape: Shape) -> Column:
        """Numbers from 0 to less than 1, multiples of 2 ** -53."""
        count = self._count(shape)
        if self._numpy is not None:
            return self._numpy.random_sample(shape)
        words = self._words(count, 8)  # 27 bits of the first half and 26 of the second
        drawn: Column = (((words & 0xFFFFFFE0) << 21) | (words >> 38)) * 2.0**-53
        return drawn.reshape(shape)

    def _count(self, shape: Shape) -> int:
        """The numbers that are drawn now. Where many were drawn before, numpy's generator goes on with them."""
        count = shape if isinstance(shape, int) else prod(shape)
        self._few -= count
        if self._few < 0 and self._numpy is None:
            *words, place = self._random.getstate()[1]
            self._numpy = np.random.RandomState()
            self._numpy.set_state(("MT19937", np.array(words, np.uint32), place, 0, 0.0))
        return count

    def _words(self, count: int, size: int) -> Column:
        """``count`` words of ``size`` bytes, 4 or 8."""
        return np.frombuffer(self._random.getrandbits(8 * size * count).to_bytes(size * count, "little"), f"<u{size}")
