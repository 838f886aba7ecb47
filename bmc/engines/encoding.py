"""How formulas become z3's terms: over words as they are, or over single bits, as gates.

z3's incremental solver simplifies every step's circuits as arithmetic (sums of products are multiplied out), which
makes those of floats many times larger. As gates they are made small once, and only placed at steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import z3
from pysmt.fnode import FNode
from pysmt.shortcuts import get_env
from pysmt.solvers.z3 import Z3Converter

from bmc.system.transition import symbols_of

_TACTICS = ("bit-blast", "simplify", "aig")
_FIRST = "simplify"
"""Divisions must have been rewritten before the first tactic; other terms are better left as they are."""


class Encoding(Protocol):
    """Makes terms in one z3 context; each formula is translated once."""

    def term(self, formula: FNode) -> Any:
        """A Boolean formula as z3's term over the ``parts`` of its symbols."""

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        """z3's constants that stand for a symbol."""

    def value(self, symbol: FNode, model: Any) -> int:
        """The raw value of a symbol in a z3 model; what that leaves open is 0."""


class Words:
    """A symbol is one constant of its own type."""

    def __init__(self, context: Any) -> None:
        self._converter = Z3Converter(get_env(), context)

    def term(self, formula: FNode) -> Any:
        return self._converter.convert(formula)

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        return (self.term(symbol),)

    def value(self, symbol: FNode, model: Any) -> int:
        value = model.eval(self.term(symbol), model_completion=True)
        return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


class Gates:
    """A symbol is one Boolean for each of its bits, the lowest first."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._words = Words(context)
        self._bits: dict[FNode, tuple[Any, ...]] = {}
        self._made: dict[FNode, Any] = {}
        self._tactic = z3.Then(*_TACTICS, ctx=context)
        self._dividing = z3.Then(_FIRST, *_TACTICS, ctx=context)

    def term(self, formula: FNode) -> Any:
        if formula not in self._made:
            symbols = [s for s in symbols_of(formula) if not s.get_type().is_bool_type()]
            pairs = [(self._words.term(s), self._word(self.parts(s))) for s in symbols]
            goal = z3.Goal(ctx=self._context)
            goal.add(z3.substitute(self._words.term(formula), *pairs))
            try:
                subgoals = self._tactic(goal)
            except z3.Z3Exception as error:
                if "not supported" not in str(error):
                    raise
                subgoals = self._dividing(goal)
            found = [part for subgoal in subgoals for part in subgoal]
            self._made[formula] = z3.And(found) if found else z3.BoolVal(True, self._context)
        return self._made[formula]

    def parts(self, symbol: FNode) -> tuple[Any, ...]:
        if symbol not in self._bits:
            kind = symbol.get_type()
            if kind.is_bool_type():
                self._bits[symbol] = self._words.parts(symbol)
            else:
                names = (f"{symbol.symbol_name()}#{index}" for index in range(kind.width))
                self._bits[symbol] = tuple(z3.Bool(name, self._context) for name in names)
        return self._bits[symbol]

    def value(self, symbol: FNode, model: Any) -> int:
        bits = (model.eval(bit, model_completion=True) for bit in self.parts(symbol))
        return sum(int(z3.is_true(bit)) << index for index, bit in enumerate(bits))

    def _word(self, bits: Sequence[Any]) -> Any:
        one, zero = z3.BitVecVal(1, 1, self._context), z3.BitVecVal(0, 1, self._context)
        parts = [z3.If(bit, one, zero) for bit in reversed(bits)]
        return z3.Concat(*parts) if len(parts) > 1 else parts[0]
