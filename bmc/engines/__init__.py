"""Reachability engines: one file each behind the protocol in ``bmc.engines.protocol``."""

from __future__ import annotations

from bmc.engines.protocol import Engine
from bmc.errors import UsageError

NAMES = ("z3", "sat", "bitwuzla", "explicit")


def choose(name: str, memory: int | None = None) -> Engine:
    """A new engine called ``name``; UsageError if there is none of that name.

    ``memory`` is how many megabytes its solver may use (None: no limit); it holds for all engines of its kind in this
    process from then on.
    """
    if name == "z3":
        from bmc.engines.z3 import Z3Engine

        return Z3Engine(memory)
    if name == "sat":
        from bmc.engines.sat import SatEngine

        return SatEngine(memory)
    if name == "bitwuzla":
        from bmc.engines.bitwuzla import BitwuzlaEngine

        return BitwuzlaEngine(memory)
    if name == "explicit":
        from bmc.engines.explicit import ExplicitEngine

        return ExplicitEngine(memory)
    raise UsageError(f"no engine is called {name!r}", hint=f"choose one of {', '.join(NAMES)}")
