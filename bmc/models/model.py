"""What a maker of models gives, as all that is above sees it: a system, names, expressions, perhaps an original.

One room beside this file reads one kind of model. Nothing above knows which: properties are written in the language of
the model, whose expressions are looked into by these protocols alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location, UnsupportedConstruct
from bmc.formulas.terms import both, either, negate
from bmc.models.undetermined import Undetermined
from bmc.records import dataclass
from bmc.system.original import Opener
from bmc.system.transition import Condition, TransitionSystem, ValueType

Value = Any
"""What a language computes with; only the language looks into it."""


class NotAMember(InputRefused):
    """What stands before ``->`` or ``.`` has no members."""


class UnknownFunction(UnsupportedConstruct):
    """A function is called that nothing defines."""


class Expression(Protocol):
    """An expression as it was parsed."""

    @property
    def call(self) -> tuple[str, Sequence[Expression]] | None:
        """The name and the arguments of a call; None if it is none."""

    @property
    def parts(self) -> Sequence[Expression]:
        """The expressions that it is put together of."""

    @property
    def connective(self) -> str:
        """``&&``, ``||`` or ``!`` where it joins or negates its parts; '' if it is another expression."""

    @property
    def operation(self) -> bool:
        """Whether its value is computed from those of its parts alone: it is no access to a variable, and no call."""

    @property
    def name(self) -> str:
        """The name that it is; '' if it is not a name alone."""


class Moment(Protocol):
    """Where an operator of properties is evaluated: at a ``step``, within a larger expression."""

    @property
    def step(self) -> int:
        """The step, counted from that at which the whole expression is evaluated at 0."""

    def value(self, expression: Expression, step: int) -> Value:
        """The value of ``expression`` at ``step``."""

    def truth(self, value: Value) -> FNode:
        """When ``value`` is true, framed."""

    def of(self, formula: FNode) -> Value:
        """The truth of a framed formula as a value."""


Operator = Callable[[Expression, Moment], Value]
"""What a call of an operator of properties is worth at a moment."""


class Language(Protocol):
    """Reads expressions over the variables of one model. InputRefused where one cannot be read, or changes something.

    It is made for a set of operators: calls by these names are not the model's, but given to an ``Operator``.
    """

    def parse(self, text: str) -> Expression:
        """The expression that ``text`` is."""

    def apply(self, operation: str, *operands: Expression) -> Expression:
        """The expression ``!a``, ``a && b`` or ``a != b``, or the call of the operator called ``operation``."""

    def number(self, value: int) -> Expression:
        """The constant expression of a whole number."""

    def constant(self, expression: Expression) -> int:
        """The value of a constant expression of a whole number."""

    def declares(self, name: str) -> bool:
        """Whether ``name`` means something in the model."""

    def expanded(self, text: str) -> str:
        """``text`` with the abbreviations of the model (macros) written out."""

    def is_member(self, before: Sequence[str], name: str) -> bool:
        """Whether an arrow behind the tokens ``before`` and in front of ``name`` is an access to a member."""

    def reads(self, expression: Expression, names: Collection[str]) -> bool | None:
        """Whether it reads a variable of ``names`` outside of all operators in it; None if it cannot be evaluated."""

    def holds(self, expression: Expression, step: int, operator: Operator) -> FNode:
        """When ``expression`` is defined and true, evaluated at ``step``: a framed formula."""

    def value(self, expression: Expression) -> tuple[FNode, FNode, ValueType]:
        """Its value at step 0, when that is defined (framed formulas), and its type. It has no operators in it."""

    def shown(self, message: str) -> str:
        """``message`` with the names as they are written."""


@dataclass(frozen=True, slots=True)
class Operation:
    """``&&``, ``||`` or ``!`` over atomic conditions."""

    op: str
    parts: tuple[Tree, ...]


Tree = int | Operation
"""A decision over its atomic conditions: the index of one, or an operation."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One evaluation within a step, over the symbols of state before the step and of inputs.

    ``reached``: when it takes place. ``values``: when each atomic condition, if it is evaluated, is true (of a
    ``switch``: when each label is chosen).
    """

    reached: FNode
    values: tuple[FNode, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision in the source; several calls and rounds of a loop give several evaluations, dead code none.

    ``kind`` is ``if``, ``while``, ``do``, ``for``, ``?:``, ``switch``, ``&&`` or ``||``. ``conditions`` are the texts
    of the atomic conditions in source order; of a ``switch`` its labels, at the end ``default`` or ``no-case`` where
    it has none, and ``tree`` is None.
    """

    kind: str
    function: str
    where: Location
    text: str
    conditions: tuple[str, ...]
    tree: Tree | None
    evaluations: tuple[Evaluated, ...]


def holds(tree: Tree, values: tuple[FNode, ...]) -> FNode:
    """When a decision, or a part of it, comes out true."""
    results: list[FNode] = []
    todo: list[tuple[Tree, bool]] = [(tree, False)]
    while todo:
        part, ready = todo.pop()
        if isinstance(part, int):
            results.append(values[part])
        elif not ready:
            todo.append((part, True))
            todo.extend((inner, False) for inner in reversed(part.parts))
        elif part.op == "!":
            results.append(negate(results.pop()))
        else:
            right, left = results.pop(), results.pop()
            results.append(both(left, right) if part.op == "&&" else either(left, right))
    return results[0]


class Quantity(Protocol):
    """What has values: a variable, or an expression."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def type(self) -> ValueType:
        """What its values are."""


class Variable(Quantity, Protocol):
    """A variable that outlives a step."""

    @property
    def role(self) -> str:
        """``input``, ``state``, ``output`` or ``ignored``."""

    @property
    def file(self) -> str:
        """The file that declares it; '' where that is not known."""


class Model(Protocol):
    """A model that has been read. Its variables are those of ``system``, but for what makers add for themselves."""

    @property
    def system(self) -> TransitionSystem:
        """What it does."""

    @property
    def variables(self) -> Sequence[Variable]:
        """All variables, in the order of the model."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks for its reader."""

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions in its code; () without code."""

    def parts(self, kind: str) -> Sequence[Condition]:
        """The ``states`` or the ``transitions`` that the model itself is made of, by name; () if it has no such parts.

        Each is a condition on one state, or on one step (its start and its inputs), over plain symbols.
        """

    @property
    def assumed(self) -> Sequence[str]:
        """What every result rests on beside the project, a sentence each."""

    @property
    def unproved_ends(self) -> Sequence[str]:
        """Those sentences of ``assumed`` that say how far loops and recursion are followed."""

    @property
    def unconfirmed(self) -> Sequence[str]:
        """Files that were guessed and that nobody has confirmed: there is no result of them."""

    @property
    def undetermined(self) -> Undetermined:
        """What of it no formula determines: variables that ``system`` does not have."""

    @property
    def described(self) -> Mapping[str, Any]:
        """What a result says of it beside its files and variables: ``defines``, ``target``, ``init`` and ``step``."""

    @property
    def original_is(self) -> str:
        """What the original is, in words: ``the compiled original``."""

    @property
    def original(self) -> Opener:
        """How to run what was modelled."""

    def value_names(self, names: Iterable[str], texts: Iterable[str]) -> Mapping[str, Mapping[int, str]]:
        """What values of the variables ``names`` are called beside their types; ``texts`` speak of them, too."""

    def language(self, where: Location, operators: Collection[str]) -> Language:
        """The language of its expressions; what is refused is refused at ``where``."""

    def declared(self, quantity: Quantity) -> str | tuple[str, ...] | dict[int, str] | None:
        """The values that it is declared to have: as the project lists them, or each with what it is called.

        None where neither the project nor the type tells.
        """

    def ranges(self, quantity: Quantity, values: str | tuple[str, ...], where: Location) -> tuple[tuple[int, int], ...]:
        """Values as rising inclusive ranges: of the text ``low..high``, of one value, or of several constants."""

    def constant(self, quantity: Quantity, text: str, where: Location) -> int:
        """One value of ``quantity``."""
