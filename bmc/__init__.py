"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""

import sys
from collections.abc import Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from threading import RLock
from types import ModuleType

PORTFOLIO, ARRAY_TYPES = "pysmt.solvers.portfolio", "numpy._typing"
SMT_LIB = frozenset(f"pysmt.smtlib.{name}" for name in ("parser", "printers", "script"))


class _WhatIsNeeded:
    """Of pysmt and numpy is loaded what runs need. Asked by Python at each import; the finders that follow do all else.

    pysmt looks for z3 as it is imported, for algebraic numbers, which no formula here has: there it finds none, so that
    z3's library, which takes long to load, is loaded where the engine z3 is chosen. Its solvers in processes side by
    side, which no engine here uses, are loaded when one is made, what reads and writes SMT-LIB when it is first used.
    The types that numpy has for type checkers are loaded when one is asked for.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Refuse z3 while ``pysmt.constants`` is imported; stand in for what is not needed; load SMT-LIB late."""
        if name == "z3":
            constants = sys.modules.get("pysmt.constants")
            if constants is not None and not hasattr(constants, "Numeral"):
                raise ModuleNotFoundError("not needed by pysmt.constants", name=name)
        if name not in SMT_LIB and name not in (PORTFOLIO, ARRAY_TYPES):
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader) if name in SMT_LIB else cls  # type: ignore[assignment]
        return spec

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """A module as usual."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """What stands in for the portfolio, or for numpy's types."""
        if module.__name__ == PORTFOLIO:
            vars(module)["Portfolio"] = _portfolio
        else:
            vars(module)["__getattr__"] = partial(_asked_for, module)


def _portfolio(*given: object, **named: object) -> object:
    """One of pysmt's portfolios, whose module takes the place of what stood in for it."""
    module = sys.modules[PORTFOLIO]
    _load(module)
    return module.Portfolio(*given, **named)


_loading = RLock()
_loaded: set[ModuleType] = set()
"""Modules that took the place of what stood in for them, or are about to."""


def _asked_for(module: ModuleType, name: str) -> object:
    """What numpy's module of types has by a name; it takes the place of what stood in for it.

    numpy itself asks for the type of arrays while it is imported, to annotate two results: it gets the class of arrays.
    """
    numpy = vars(sys.modules["numpy"])
    if name == "NDArray" and "ndarray" in numpy and "linalg" not in numpy:
        return numpy["ndarray"]
    with _loading:  # other threads wait until all of it is there
        if module not in _loaded:
            _loaded.add(module)
            here = vars(module)["__getattr__"]
            _load(module)
            if vars(module)["__getattr__"] is here:
                del vars(module)["__getattr__"]
    if name in vars(module):
        return vars(module)[name]
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)


def _load(module: ModuleType) -> None:
    parent = sys.modules[module.__name__.rpartition(".")[0]]
    spec = PathFinder.find_spec(module.__name__, parent.__path__)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(module)


sys.meta_path.insert(0, _WhatIsNeeded)
