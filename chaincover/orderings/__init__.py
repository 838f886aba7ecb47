"""Ordering backends: one file each behind the protocol in ``chaincover.orderings.protocol``."""

from __future__ import annotations

from bmc.errors import UsageError
from chaincover.orderings.exact import LARGEST, ExactOrdering
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.protocol import Ordering
from chaincover.orderings.tsp import TspOrdering, available

NAMES = ("auto", "exact", "tsp", "local")

EXACT_UP_TO = LARGEST
"""``auto`` takes the exact ordering up to this many goals: it answers within about a second."""


def choose(name: str, goals: int) -> Ordering:
    """The ordering called ``name`` for a number of goals; UsageError if there is none of that name.

    ``auto``: exact up to ``EXACT_UP_TO`` goals, above that tsp if elkai is installed, else local.
    """
    if name == "exact" or (name == "auto" and goals <= EXACT_UP_TO):
        return ExactOrdering()
    if name == "tsp" or (name == "auto" and available()):
        return TspOrdering()
    if name in ("auto", "local"):
        return LocalOrdering()
    raise UsageError(f"no ordering is called {name!r}", hint=f"choose one of {', '.join(NAMES)}")
