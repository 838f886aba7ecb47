"""Debian's ABC (the package berkeley-abc) as a judge of AIGER files: *no*, *yes* with a frame, or nothing.

ABC ends with the exit code 0 whatever it found, so its answer is what it prints. A line that is not known is no answer.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import run

PLACE = "berkeley-abc"
HOW = "apt-get install berkeley-abc, or say where it is: ABC in the environment"
SIMPLER = "scorr; dc2; "
"""Commands that make a model smaller: equivalent latches and gates are merged, gates rewritten."""

_ASSERTED = re.compile(r"Output 0 of miter .* was asserted in frame (\d+)")
_NOT_ASSERTED = re.compile(r"No output asserted in (\d+) frames")
_PROVED = re.compile(r"^(Property proved|Explored all reachable states after completing)", re.MULTILINE)
_NO_LATCHES = "Does not work for combinational networks"


@dataclass(frozen=True, slots=True)
class Answer:
    """``reached``: whether some state is bad, None where that was not decided; ``frame``: of the bad state found.

    ``seconds`` are those of the processor.
    """

    reached: bool | None
    frame: int | None
    seconds: float


def place() -> str | None:
    """Where ABC is; None if it is not installed."""
    return shutil.which(os.environ.get("ABC", PLACE))


def read(output: str, frames: int | None) -> tuple[bool | None, int | None]:
    """What ABC says: whether a state is bad, in the first ``frames`` frames or ever, and in which frame; None where it
    does not say."""
    asserted = _ASSERTED.search(output)
    if asserted:
        return True, int(asserted[1])
    if _PROVED.search(output):
        return False, None
    looked = _NOT_ASSERTED.search(output)
    if looked and frames is not None and int(looked[1]) >= frames:
        return False, None
    return None, None


def decide(file: Path, frames: int | None, limit: float) -> Answer:
    """Whether a state is bad in the first ``frames`` frames of ``file`` (None: ever), in ``limit`` seconds."""
    asked = "pdr" if frames is None else f"bmc3 -F {frames}"
    seconds = 0.0
    for simpler in (SIMPLER, ""):
        cost = run([place() or PLACE, "-q", f"read_aiger {file}; {simpler}{asked}"], limit)
        seconds += cost.seconds
        if _NO_LATCHES not in cost.output:  # else nothing was left of the model's latches
            break
    return Answer(*read(cost.output, frames), seconds)
