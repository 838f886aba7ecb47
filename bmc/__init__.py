"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""

import sys
from collections.abc import Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType

PORTFOLIO, ARRAY_TYPES = "pysmt.solvers.portfolio", "numpy._typing"
LATE = frozenset({PORTFOLIO, ARRAY_TYPES, *(f"pysmt.smtlib.{name}" for name in ("parser", "printers", "script"))})
"""Modules that something else stands in for until they are used."""


class _WhatIsNeeded:
    """Of pysmt and numpy is loaded what runs need. Asked by Python at each import; the finders that follow do all else.

    pysmt looks for z3 as it is imported, for algebraic numbers, which no formula here has: there it finds none, so that
    z3's library, which takes long to load, is loaded where the engine z3 is chosen. Its solvers in processes side by
    side, which no engine here uses, are loaded when one is made, what reads and writes SMT-LIB when it is first used.
    The types that numpy has for type checkers are loaded when one is asked for.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Refuse z3 while ``pysmt.constants`` is imported; stand in for what is loaded late."""
        if name == "z3":
            constants = sys.modules.get("pysmt.constants")
            if constants is not None and not hasattr(constants, "Numeral"):
                raise ModuleNotFoundError("not needed by pysmt.constants", name=name)
        spec = PathFinder.find_spec(name, path) if name in LATE else None
        if spec is not None and spec.loader is not None:
            spec.loader_state, spec.loader = spec.loader, cls  # type: ignore[assignment]
        return spec

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """A module as usual."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """What stands in for the module. All that can be told of its file and its loader is that of the module."""
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = module.__spec__.loader_state
        if module.__name__ == PORTFOLIO:
            vars(module)["Portfolio"] = _portfolio
        else:
            vars(module)["__getattr__"] = partial(_asked_for, module, RLock())


def _portfolio(*given: object, **named: object) -> object:
    """One of pysmt's portfolios, whose module takes the place of what stood in for it."""
    module = sys.modules[PORTFOLIO]
    _load(module)
    return module.Portfolio(*given, **named)


_loaded: set[ModuleType] = set()
"""Modules that took the place of what stood in for them, or are about to."""


def _asked_for(module: ModuleType, lock: RLock, name: str) -> object:
    """What the module has by a name that is not there yet; it takes the place of what stood in for it.

    numpy itself asks for the type of arrays while it is imported, to annotate two results: it gets the class of arrays.
    """
    numpy = vars(sys.modules["numpy"]) if module.__name__ == ARRAY_TYPES else {}
    if name == "NDArray" and "ndarray" in numpy and "linalg" not in numpy:
        return numpy["ndarray"]
    with lock:  # other threads wait until all of it is there
        if module not in _loaded:
            _loaded.add(module)
            try:
                _load(module)
            except BaseException:
                _loaded.discard(module)
                raise
    if name in vars(module):
        return vars(module)[name]
    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)


def _load(module: ModuleType) -> None:
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)


sys.meta_path.insert(0, _WhatIsNeeded)
