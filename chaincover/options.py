"""The settings of a run."""

from __future__ import annotations

from math import isfinite

from bmc.engines import NAMES as ENGINES
from bmc.errors import UsageError
from bmc.records import dataclass
from chaincover.chain import STORED

ORDERINGS = ("auto", "exact", "mip", "cpsat", "asp", "asp-usc", "asp-bb", "tsp", "local")
"""The names of the ordering backends (``chaincover.orderings``)."""

STEP_BYTES = 2_000
"""Bytes that a step of a chain takes while the chain is made, judged and written. With twice as many, a run for which
memory is short is given up at half of the steps."""


@dataclass(frozen=True, slots=True)
class Options:
    """``bound`` is K in steps, the largest weight that is sought (None: as far as the effort goes).

    ``overlap``: ``allow`` or ``forbid``. ``effort`` is the work that may be done before the best answer so far is the
    result, in units of about a minute on a usual machine (None: as much as it takes). ``repair`` is what is done where
    no repair of the shortest order helps: ``refine`` (Algorithm 5), ``paths`` (path constraints), ``auto`` (by the
    ordering) or ``none``. ``max_length`` is the most steps of a chain (None: as many as are ``STORED``).
    ``time_limit`` for the whole run and ``query_limit`` for one solver query are in seconds; None for no limit.
    ``memory_limit`` is for the process and its children together, in megabytes (None: half of the machine's memory).
    ``engine``: ``auto`` enumerates the reachable states where that is possible, and asks a solver; any other one
    answers all questions itself.
    """

    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    engine: str = "auto"
    effort: float | None = 1.0
    repair: str = "auto"
    max_length: int | None = None
    time_limit: float | None = None
    query_limit: float | None = None
    memory_limit: int | None = None

    @property
    def most_steps(self) -> int:
        """The most steps of a chain that is stored."""
        return STORED if self.max_length is None else self.max_length

    def check(self) -> None:
        """UsageError for a value that makes no sense."""
        _check_least(self.bound, 0, "the bound K must be at least 0")
        _check_least(self.max_length, 0, "the greatest length must be at least 0")
        if self.overlap not in ("allow", "forbid"):
            raise UsageError(f"overlap must be allow or forbid, not {self.overlap!r}")
        if self.repair not in ("auto", "refine", "paths", "none"):
            raise UsageError(f"repair must be auto, refine, paths or none, not {self.repair!r}")
        _check_positive(self.effort, "the effort must be a number above 0", hint="give a number, or none")
        _check_least(self.memory_limit, 1, "the memory limit must be at least 1 megabyte")
        if self.ordering not in ORDERINGS:
            raise UsageError(f"no ordering is called {self.ordering!r}", hint=f"choose one of {', '.join(ORDERINGS)}")
        if self.engine not in ENGINES:
            raise UsageError(f"no engine is called {self.engine!r}", hint=f"choose one of {', '.join(ENGINES)}")
        _check_positive(self.time_limit, "a time limit must be a number above 0 seconds")
        _check_positive(self.query_limit, "a time limit must be a number above 0 seconds")


def _check_least(value: int | None, least: int, rule: str) -> None:
    """UsageError for a ``value`` below the ``least`` one that the ``rule`` allows."""
    if value is not None and value < least:
        raise UsageError(f"{rule}, not {value}")


def _check_positive(value: float | None, rule: str, hint: str = "") -> None:
    """UsageError for a ``value`` that is no number above 0, as the ``rule`` has it."""
    if value is not None and not (isfinite(value) and value > 0):
        raise UsageError(f"{rule}, not {value:g}", hint=hint)
