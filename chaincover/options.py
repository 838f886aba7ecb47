"""The settings of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bmc.engines import NAMES as ENGINES
from bmc.errors import UsageError

HERE = ("cache", "jobs", "scheduler")
"""The options that change where and how fast a result is found, but not the result."""

DEFAULT_BOUND = 60
"""The largest K tried, in held steps, when the user gives none."""


@dataclass(frozen=True, slots=True)
class Options:
    """``bound`` is K in steps (None: up to ``DEFAULT_BOUND`` held steps). ``overlap``: ``allow`` or ``forbid``.

    ``explore`` is the most steps to simulate for all reachable states, as an invariant that sharpens weights and bound
    (0: do not). ``exhaust`` is the most nodes of the search over these states with the goals covered (0: do not).
    ``rounds`` is the most orders tried for the bound (0: no path weights are learned). ``improve`` is the work per
    query, in units of about a second, of the searches that shorten the chain and raise the bound (0: none of them).
    ``repair`` is what is done where no repair of the least order helps: ``refine`` (Algorithm 5), ``paths`` (path
    constraints), ``auto`` (by the ordering) or ``none``. ``max_length`` is the most steps of a chain. ``time_limit``
    for the whole run and ``query_limit`` for one solver query are in seconds, ``memory_limit`` for the solver in
    megabytes; None for no limit. ``cache`` is the folder where graphs are kept (None: they are not). ``jobs``
    processes, or the Dask cluster of ``scheduler`` (an address), share the work; the result is the same.
    """

    bound: int | None = None
    overlap: str = "allow"
    ordering: str = "auto"
    engine: str = "auto"
    explore: int = 100_000
    exhaust: int = 100_000
    rounds: int = 200
    improve: int = 5
    repair: str = "auto"
    max_length: int | None = None
    time_limit: float | None = None
    query_limit: float | None = None
    memory_limit: int | None = None
    cache: Path | None = None
    jobs: int = 1
    scheduler: str | None = None

    def check(self) -> None:
        """UsageError for a value that makes no sense."""
        if self.bound is not None and self.bound < 0:
            raise UsageError(f"the bound K must be at least 0, not {self.bound}")
        if self.max_length is not None and self.max_length < 0:
            raise UsageError(f"the greatest length must be at least 0, not {self.max_length}")
        if self.overlap not in ("allow", "forbid"):
            raise UsageError(f"overlap must be allow or forbid, not {self.overlap!r}")
        if self.repair not in ("auto", "refine", "paths", "none"):
            raise UsageError(f"repair must be auto, refine, paths or none, not {self.repair!r}")
        if self.memory_limit is not None and self.memory_limit < 1:
            raise UsageError(f"the memory limit must be at least 1 megabyte, not {self.memory_limit}")
        if self.jobs < 1:
            raise UsageError(f"the number of jobs must be at least 1, not {self.jobs}")
        if self.engine not in ENGINES:
            raise UsageError(f"no engine is called {self.engine!r}", hint=f"choose one of {', '.join(ENGINES)}")
        for limit in (self.time_limit, self.query_limit):
            if limit is not None and limit <= 0:
                raise UsageError(f"a time limit must be above 0 seconds, not {limit:g}")

    def slack(self, hold: int) -> int:
        """The largest K that may be tried, in steps, where inputs are held for ``hold`` of them."""
        return DEFAULT_BOUND * hold if self.bound is None else self.bound
