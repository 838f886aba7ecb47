"""Ordering backends: one file each behind ``chaincover.orderings.protocol``; docs/reference/orderings.md."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bmc.errors import UsageError

if TYPE_CHECKING:
    from chaincover.orderings.protocol import Ordering

_BACKENDS = {
    "auto": ("auto", "AutoOrdering"),
    "exact": ("exact", "ExactOrdering"),
    "mip": ("mip", "MipOrdering"),
    "cpsat": ("cpsat", "CpsatOrdering"),
    "asp": ("asp", "AspOrdering"),
    "asp-usc": ("asp", "AspOrdering"),
    "asp-bb": ("asp", "AspOrdering", "bb"),
    "tsp": ("tsp", "TspOrdering"),
    "local": ("local", "LocalOrdering"),
}
"""Module and class of each ordering, and what the class is made with; imported where it is chosen."""


def choose(name: str) -> Ordering:
    """The ordering called ``name``; UsageError if there is none of that name."""
    if name not in _BACKENDS:
        raise UsageError(f"no ordering is called {name!r}", hint=f"choose one of {', '.join(_BACKENDS)}")
    module, kind, *settings = _BACKENDS[name]
    made: Ordering = getattr(import_module(f"chaincover.orderings.{module}"), kind)(*settings)
    return made


def missing_library(name: str) -> str:
    """The library that the ordering ``name`` needs and that is not installed, or ''."""
    from chaincover.orderings import asp, cpsat, tsp

    if name == "cpsat" and not cpsat.available():
        return "ortools"
    if name.startswith("asp") and not asp.available():
        return "clingo"
    return "elkai" if name == "tsp" and not tsp.available() else ""
