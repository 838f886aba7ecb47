"""Programs and their runs: C code becomes a transition system, and engines answer which runs it has."""

import sys
from collections.abc import Sequence


class _NoAlgebraicNumbers:
    """pysmt looks for z3 as it is imported, for algebraic numbers, which no formula here has: there it finds none.

    So the library of z3, which takes long to load, is loaded where the engine z3 is chosen.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        """Refuse z3 while ``pysmt.constants`` is imported; leave everything else to the finders that follow."""
        if name == "z3":
            constants = sys.modules.get("pysmt.constants")
            if constants is not None and not hasattr(constants, "Numeral"):
                raise ModuleNotFoundError("not needed by pysmt.constants", name=name)


sys.meta_path.insert(0, _NoAlgebraicNumbers)
