"""Reachability engines: one file each behind the protocol in ``bmc.engines.protocol``."""

from __future__ import annotations

from importlib.util import find_spec

from bmc.engines.protocol import Engine
from bmc.errors import UsageError

AUTO = "auto"
NAMES = (AUTO, "sat", "z3", "bitwuzla", "explicit")


def automatic() -> tuple[str, str]:
    """The engine that ``auto`` stands for here, and why."""
    if find_spec("pysat") is None:
        return "z3", "python-sat, which sat needs, is not installed"
    return "sat", "it is the fastest on all but the smallest systems"


def choose(name: str, memory: int | None = None) -> Engine:
    """A new engine called ``name`` (``auto``: see ``automatic``); UsageError if there is none of that name.

    ``memory`` is how many megabytes its solver may use (None: no limit); it holds for all engines of its kind in this
    process from then on.
    """
    if name == AUTO:
        name, _ = automatic()
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
