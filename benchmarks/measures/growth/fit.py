"""Power laws by least squares in the logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CLOSE = 1.5
"""Where no point is off by more than this factor, a power law is said to fit."""


@dataclass(frozen=True, slots=True)
class Fit:
    """``y = factor * x ** exponent``; ``off`` is the largest factor between a point and the line (1: all on it)."""

    exponent: float
    factor: float
    off: float

    @property
    def close(self) -> bool:
        """Whether a power law describes the points."""
        return self.off <= CLOSE

    def at(self, x: float) -> float:
        """The line's value at ``x``."""
        return float(self.factor * x**self.exponent)


def fitted(xs: Sequence[float], ys: Sequence[float]) -> Fit | None:
    """The power law nearest to the points; None for fewer than three different ``xs`` with a ``y`` above 0."""
    points = [(math.log(x), math.log(y)) for x, y in zip(xs, ys, strict=True) if x > 0 and y > 0]
    if len({x for x, _ in points}) < 3:
        return None
    logs, values = np.array(points).T
    exponent, constant = np.polyfit(logs, values, 1)
    off = float(np.abs(exponent * logs + constant - values).max())
    return Fit(float(exponent), math.exp(constant), math.exp(off))
