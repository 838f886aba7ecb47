"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

PORTFOLIO = "pysmt.solvers.portfolio"


class _WhatIsNeeded:
    """Of pysmt is loaded what formulas need. Asked by Python at each import; the finders that follow do all else.

    It looks for z3 as it is imported, for algebraic numbers, which no formula here has: there it finds none, so that
    z3's library, which takes long to load, is loaded where the engine z3 is chosen. Its solvers in processes side by
    side, which no engine here uses, are loaded when one is made.
    """

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Refuse z3 while ``pysmt.constants`` is imported; stand in for the portfolio."""
        if name == "z3":
            constants = sys.modules.get("pysmt.constants")
            if constants is not None and not hasattr(constants, "Numeral"):
                raise ModuleNotFoundError("not needed by pysmt.constants", name=name)
        return ModuleSpec(name, cls) if name == PORTFOLIO else None  # type: ignore[arg-type]

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
