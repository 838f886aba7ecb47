"""Reachability engines: one file each behind the protocol in ``bmc.engines.protocol``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec

from bmc.engines.protocol import Engine
from bmc.errors import UsageError
from bmc.system.transition import TransitionSystem

AUTO = "auto"
NAMES = (AUTO, "sat", "z3", "portfolio")


@cache
def installed() -> Mapping[str, str]:
    """The versions of all installed packages by name, from the names of their folders, as Python looks for them.

    To read their descriptions, as ``importlib.metadata`` does, takes as long as a short run. A folder whose name has no
    version, which an editable installation leaves beside the sources, tells nothing.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        entries = sorted(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else ()
        for entry in entries:
            if entry.endswith((".dist-info", ".egg-info")):
                name, _, version = re.sub(r"(-py3[^-]*)?\.[^.]*$", "", entry).partition("-")
                if version:
                    found.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return found


def sat_version() -> str:
    """The library and the solver of the engine sat."""
    return f"python-sat {installed().get('python-sat', '')}, glucose4"


def choose(name: str, memory: int | None = None) -> Engine:
    """A new engine called ``name``; UsageError if there is none of that name.

    ``auto`` chooses when it first sees a system (``bmc.engines.auto``); until then it has the name of the engine for
    most systems. ``memory`` is how many megabytes its solver may use (None: no limit); it holds for all engines of its
    kind in this process from then on.
    """
    if name == AUTO:
        from bmc.engines.auto import AutoEngine

        return AutoEngine(memory)
    if name == "z3":
        from bmc.engines.z3 import Z3Engine

        return Z3Engine(memory)
    if name == "sat":
        if find_spec("pysat") is None:
            raise UsageError("the engine sat needs the package python-sat", hint="pip install python-sat, or use auto")
        from bmc.engines.sat import SatEngine

        return SatEngine(memory)
    if name == "portfolio":
        from bmc.engines.portfolio import PortfolioEngine

        return PortfolioEngine(memory)
    raise UsageError(f"no engine is called {name!r}", hint=f"choose one of {', '.join(NAMES)}")


def described(engine: Engine, system: TransitionSystem) -> tuple[str, str]:
    """Name and version of what ``engine`` asks about ``system``: that of ``auto`` depends on it."""
    engine.tries(system)
    return engine.name, engine.version


def listen(engine: Engine, tell: Callable[[str], None]) -> None:
    """Let ``tell`` know of questions that ``engine`` takes long for, if it can."""
    from bmc.engines.auto import AutoEngine

    if isinstance(engine, AutoEngine):
        engine.tell = tell
        return
    from bmc.engines.portfolio import PortfolioEngine

    if isinstance(engine, PortfolioEngine):
        engine.tell = tell


def reason(engine: Engine) -> str:
    """Why ``engine`` was chosen, where it was not asked for by name."""
    from bmc.engines.auto import AutoEngine

    return engine.why if isinstance(engine, AutoEngine) else "asked for"
