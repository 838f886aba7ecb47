"""Ordering backends: one file each behind the protocol in ``chaincover.orderings.protocol``; docs/orderings.md."""

from __future__ import annotations

from collections.abc import Callable

from bmc.errors import UsageError
from chaincover.orderings import asp, cpsat, tsp
from chaincover.orderings.asp import AspOrdering
from chaincover.orderings.auto import AutoOrdering
from chaincover.orderings.cpsat import CpsatOrdering
from chaincover.orderings.exact import ExactOrdering
from chaincover.orderings.local import LocalOrdering
from chaincover.orderings.mip import MipOrdering
from chaincover.orderings.protocol import Ordering
from chaincover.orderings.tsp import TspOrdering

_BACKENDS: dict[str, Callable[[], Ordering]] = {
    "auto": AutoOrdering,
    "exact": ExactOrdering,
    "mip": MipOrdering,
    "cpsat": CpsatOrdering,
    "asp": AspOrdering,
    "asp-usc": AspOrdering,
    "asp-bb": lambda: AspOrdering("bb"),
    "tsp": TspOrdering,
    "local": LocalOrdering,
}


def choose(name: str) -> Ordering:
    """The ordering called ``name``; UsageError if there is none of that name."""
    if name not in _BACKENDS:
        raise UsageError(f"no ordering is called {name!r}", hint=f"choose one of {', '.join(_BACKENDS)}")
    return _BACKENDS[name]()


def missing_library(name: str) -> str:
    """The library that the ordering ``name`` needs and that is not installed, or ''."""
    if name == "cpsat" and not cpsat.available():
        return "ortools"
    if name.startswith("asp") and not asp.available():
        return "clingo"
    return "elkai" if name == "tsp" and not tsp.available() else ""
