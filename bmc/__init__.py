"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

PORTFOLIO = "pysmt.solvers.portfolio"
SMT_LIB = frozenset(f"pysmt.smtlib.{name}" for name in ("parser", "printers", "script"))


class _WhatIsNeeded:
    """Of pysmt is loaded what formulas need. Asked by Python at each import; the finders that follow do all else.

    It looks for z3 as it is imported, for algebraic numbers, which no formula here has: there it finds none, so that
    z3's library, which takes long to load, is loaded where the engine z3 is chosen. Its solvers in processes side by
    side, which no engine here uses, are loaded when one is made, what reads and writes SMT-LIB when it is first used.
    """

    @classmethod
    def find_spec(cls, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Refuse z3 while ``pysmt.constants`` is imported; stand in for the portfolio; load SMT-LIB late."""
        if name == "z3":
            constants = sys.modules.get("pysmt.constants")
            if constants is not None and not hasattr(constants, "Numeral"):
                raise ModuleNotFoundError("not needed by pysmt.constants", name=name)
        if name == PORTFOLIO:
            return ModuleSpec(name, cls)  # type: ignore[arg-type]
        spec = PathFinder.find_spec(name, path) if name in SMT_LIB else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """A module as usual."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """What stands in for the portfolio."""
        vars(module)["Portfolio"] = _portfolio


def _portfolio(*given: object, **named: object) -> object:
    """One of pysmt's portfolios, whose module takes the place of what stood in for it."""
    module = sys.modules[PORTFOLIO]
    spec = PathFinder.find_spec(PORTFOLIO, sys.modules["pysmt.solvers"].__path__)
    assert spec is not None
    assert spec.loader is not None
    module.__file__ = spec.origin
    spec.loader.exec_module(module)
    return module.Portfolio(*given, **named)


sys.meta_path.insert(0, _WhatIsNeeded)
