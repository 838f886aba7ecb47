"""What floating-point operation a term was built for: operations are worth knowing where their circuits say little.

Host arithmetic takes the place of a circuit in a search, and intervals of numbers pass through an operation, not
through its gates. Every entry is a fact about the term's value, whatever formula it is found in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from pysmt.fnode import FNode
from pysmt.formula import FormulaManager
from pysmt.shortcuts import get_env

from bmc.floats.format import Format
from bmc.formulas.evaluate import unseen


@dataclass(frozen=True, slots=True)
class Operation:
    """``name`` of ``bmc.floats.host.COMPUTE``, applied to ``operands``.

    ``form`` is the format of the floating operands, or of the result where they are integers; ``to_form`` the result's
    where that is another one; ``bits`` and ``signed`` tell of the integer in a conversion.
    """

    name: str
    operands: tuple[FNode, ...]
    form: Format
    to_form: Format | None = None
    bits: int = 0
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """An operation without its operands."""

    name: str
    form: Format
    to_form: Format | None = None
    bits: int = 0
    signed: bool = False

    def on(self, operands: tuple[FNode, ...]) -> Operation:
        return Operation(self.name, operands, self.form, self.to_form, self.bits, self.signed)


ENDLESS = 32
"""The remainder by a variable of more bits makes a circuit that no solver gets to the end of."""
ARITHMETIC = frozenset(["add", "subtract", "multiply", "divide", "remainder", "root"])
"""The operations with large circuits."""
_KNOWN: WeakKeyDictionary[FormulaManager, dict[FNode, Operation]] = WeakKeyDictionary()
"""The operations of each pysmt environment, forgotten with it."""


def _operations() -> dict[FNode, Operation]:
    return _KNOWN.setdefault(get_env().formula_manager, {})


def remember(term: FNode, operation: Operation) -> None:
    """``term`` has the value of ``operation``, for all values of its symbols."""
    if term.args() and not any(term is operand for operand in operation.operands):
        _operations().setdefault(term, operation)


def operation_of(term: FNode) -> Operation | None:
    """The operation that ``term`` was built for; None if it is no result of one, or a result known otherwise."""
    return _operations().get(term)


def has_arithmetic(formulas: Iterable[FNode]) -> bool:
    """Whether there are operations with large circuits in ``formulas``."""
    return any(found.name in ARITHMETIC for found in _operations_in(formulas))


def beyond_solvers(formulas: Iterable[FNode]) -> bool:
    """Whether ``formulas`` have an operation that no solver should be asked about."""
    remainders = (found for found in _operations_in(formulas) if found.name == "remainder")
    return any(found.form.bits > ENDLESS and not found.operands[1].is_constant() for found in remainders)


def _operations_in(formulas: Iterable[FNode]) -> Iterator[Operation]:
    known = _operations()
    return (known[node] for node in unseen(formulas, set()) if node in known)
