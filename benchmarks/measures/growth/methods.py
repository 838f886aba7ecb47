"""One method at a time on the families of controllers: what a proved shortest chain costs, until the method ends.

A method is some of the stages of a run. It ends at the first member of which it does not prove a shortest chain within
its limit, or for which it takes more memory than it may.
"""

from __future__ import annotations

import gc
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from benchmarks.measures.families.members import member
from benchmarks.measures.growth.points import Point
from chaincover import pipeline
from chaincover.limits import UNITS
from chaincover.options import Options
from chaincover.project.load import Request, load_request
from chaincover.stages import Stage

NORMAL_FORM = "normal form"
ENUMERATED = ("enumerate", "exact graph")
EVERYTHING = "everything"
METHODS: dict[str, tuple[str, ...]] = {
    "tour": (*ENUMERATED, "tour"),
    "covering-flow": (*ENUMERATED, "covering flow"),
    "product-search": (*ENUMERATED, "product search"),
    "layers": ("exact graph", "path weights"),
    "acceleration": ("accelerate",),
    "whole-lengths": ("graph", "whole lengths"),
    EVERYTHING: tuple(stage.name for stage in pipeline.STAGES),
}
"""The stages of each method, by the names that they have in a run."""


POWERS = (5, 10, 20, 40, 80, 160, 320)
DECADES = (10, 100, 1_000, 10_000, 60_000)


@dataclass(frozen=True, slots=True)
class Curves:
    """Members called ``pattern``, in which N or T stands for each of ``sizes``, by each of ``methods``."""

    axis: str
    pattern: str
    methods: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def families(self) -> Iterator[str]:
        """What the points of each curve are called."""
        return (f"{self.pattern} {method}" for method in self.methods)


CURVES = (
    Curves("family-goals", "grid_N_30", ("tour", "product-search", EVERYTHING), (5, 10, 20, 40, 80, 160)),
    Curves("family-goals", "modes_N_10", ("covering-flow", "product-search", "acceleration", EVERYTHING), POWERS),
    Curves("family-goals", "acc_N_32", ("whole-lengths", EVERYTHING), (1, 2, 3, 4, 5)),
    Curves("family-size", "grid_10_T", ("tour", "layers", EVERYTHING), (10, 30, 100, 300, 1_000, 3_000)),
    Curves("family-size", "modes_10_T", ("covering-flow", "acceleration", "layers", EVERYTHING), DECADES),
    Curves("family-size", "grid_3_T", ("whole-lengths",), (2, 4, 8, 16, 32)),
)


class Improvements:
    """A listener that notes how much of the processor's time had gone when the answer last became better."""

    last = 0.0

    def __call__(self, text: str) -> None:
        """See the protocol."""

    def improved(self, result: object) -> None:
        """See the protocol."""
        self.last = time.process_time()


def proving(axis: str, family: str, size: int, limit: float) -> Iterator[Point]:
    """What a method takes for one member: until its chain is proved, the reading of the program not counted.

    It may do the work of about ``limit`` seconds, in units that are the same on every machine; ``stopped`` is 1 where
    that was not enough. Processes of its own that a method has started are counted as a whole.
    """
    pattern, _, method = family.partition(" ")
    with tempfile.TemporaryDirectory() as folder:
        place = member(re.sub("[NT]", str(size), pattern, count=1)).write(Path(folder))
        problem = load_request(Request(str(place))).problem
    names = (NORMAL_FORM, *METHODS[method])
    stages = tuple(_alone(stage, method) for stage in pipeline.STAGES if stage.name in names)
    listener, begun, children = Improvements(), time.process_time(), _of_children()
    with patch.object(pipeline, "STAGES", stages):
        result = pipeline.generate(problem, Options(effort=limit / UNITS), listener)
    settled = result.complete and result.bounds.minimal
    own = (listener.last if settled else time.process_time()) - begun
    gc.collect()  # processes that nothing refers to any more end, and are counted
    values = {
        "chain": own + _of_children() - children,
        "length": float(result.bounds.length or 0) if result.complete else 0.0,
        "lower": float(result.bounds.lower),
        "stopped": float(not settled),
    }
    yield Point(axis, family, size, values)


def _alone(stage: Stage, method: str) -> Stage:
    """By themselves, states are enumerated to the end before anything else begins."""
    if stage.name == ENUMERATED[0] and method != EVERYTHING:
        return replace(stage, first_turn=float("inf"))
    return stage


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
