"""The search over all runs by a compiled program: breadth first over (state, goals covered) on the moves of the table.

It knows no distances. A bit for each state and set of goals says that a run had them there, or more, in no more steps.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path

import numpy as np

from bmc.native.build import find_compiler
from bmc.native.kernel import Kernel, KernelFailed
from chaincover.verification.limits import Clock
from chaincover.verification.marks import Marks
from chaincover.verification.search import Outcome, Steps

NODES = 16
"""Nodes that count as one of the search in arrays. With twice as many, a bound that many nodes decide is proved again
with half of the effort."""
MEMORY = 2 << 30
"""Bytes that the bits, and the nodes of two layers, may take each."""
PORTION = 1 << 17
"""Nodes between two looks at the clock."""


def compiled_search(marks: Marks, goals: Sequence[str], clock: Clock, below: int) -> Outcome | None:
    """Whether a run of fewer than ``below`` steps covers ``goals`` and ends as asked; None where that is not searched
    for want of a compiler, of memory, or of room on the disk. The inputs of a run that is found are not told."""
    if find_compiler() is None or len(goals) > 30 or marks.table.size << len(goals) > 8 * MEMORY:
        return None
    with suppress(KernelFailed, OSError):
        return _loaded(marks, goals, clock, below)
    return None


def _loaded(marks: Marks, goals: Sequence[str], clock: Clock, below: int) -> Outcome | None:
    """The search on the table of states, which the program reads from a file."""
    size = marks.table.size
    with tempfile.TemporaryDirectory(prefix="chaincover-") as folder:
        steps, file = Steps(marks, goals), Path(folder) / "moves"
        covers = steps.hits[:, 0] | steps.here[steps.target, 0]
        parts = [steps.first, steps.target, covers, steps.here[:, 0], marks.ends]
        with file.open("wb") as out:
            for part in parts:
                np.ascontiguousarray(part, np.uint64).tofile(out)
        text = resources.files("chaincover.verification").joinpath("runs.c").read_text(encoding="utf-8")
        with closing(Kernel(text)) as kernel:
            kernel.ask("limit", MEMORY)
            said = kernel.ask("load", file, size, len(steps.moves), len(goals))[0]
            return _searched(kernel, [*marks.table.starts], clock, below) if said == "ok" else None


def _searched(kernel: Kernel, starts: Sequence[int], clock: Clock, below: int) -> Outcome:
    said, steps, nodes = "ok", "0", "0"
    for start in starts:
        if said == "ok":
            said, steps, nodes = kernel.ask("begin", start)
    while said in ("ok", "more") and int(nodes) < NODES * clock.limits.nodes and not clock.over:
        said, steps, nodes = kernel.ask("runs", PORTION, below)
    return Outcome(said in ("over", "found"), int(nodes), int(steps) if said == "found" else None)
