"""And-inverter graphs with structural hashing; exclusive or, choice and majority are gates of their own.

A literal is twice a gate's number, plus one where it is inverted; gate 0 is the constant false. Gates come after
their operands. Rewriting looks at most two levels deep (R. Brummayer, A. Biere, "Local Two-Level And-Inverter Graph
Minimization without Blowup", 2006).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from bmc.errors import StepTooLarge

FALSE, TRUE = 0, 1
CONSTANT, INPUT, AND, XOR, ITE, MAJORITY = range(6)

Operands = tuple[int, ...]


class Graph:
    """Gates by number: ``kinds`` and ``operands`` (literals; none of constant and inputs), ``most`` of them."""

    def __init__(self, most: float = inf) -> None:
        self.most = most
        self.kinds: list[int] = [CONSTANT]
        self.operands: list[Operands] = [()]
        self._known: dict[Operands, int] = {}

    def fresh(self) -> int:
        """The literal of a new input."""
        return self._made(INPUT, ())

    def conjunction(self, a: int, b: int) -> int:
        """And of two literals."""
        while True:
            if a > b:
                a, b = b, a
            if a <= TRUE:
                return b if a else FALSE
            if a >> 1 == b >> 1:
                return a if a == b else FALSE
            known = self._known.get((a, b))
            if known is not None:
                return known
            if self.kinds[a >> 1] != AND and self.kinds[b >> 1] != AND:
                return self._hashed(AND, (a, b))
            found = self._decided(a, b)
            if found is not None:
                self._known[a, b] = found
                return found
            less, more = self._weakened(a, b), self._weakened(b, a)
            if less is not None:
                a = less
            elif more is not None:
                b = more
            else:
                return self._hashed(AND, (a, b))

    def disjunction(self, a: int, b: int) -> int:
        """Or of two literals."""
        return self.conjunction(a ^ 1, b ^ 1) ^ 1

    def exclusive(self, a: int, b: int) -> int:
        """Exclusive or of two literals."""
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        if a > b:
            a, b = b, a
        if a in (FALSE, b):
            return (b if a == FALSE else FALSE) ^ sign
        if self.kinds[b >> 1] == XOR and a in self.operands[b >> 1]:
            left, right = self.operands[b >> 1]
            return (right if a == left else left) ^ sign
        return self._hashed(XOR, (a, b)) ^ sign

    def choice(self, condition: int, then: int, other: int) -> int:
        """``then`` where ``condition``, else ``other``."""
        if condition & 1:
            condition, then, other = condition ^ 1, other, then
        if condition == FALSE or then == other:
            return other
        if then == other ^ 1:
            return self.exclusive(condition, other)
        if then <= TRUE or then >> 1 == condition >> 1:
            one = then in (TRUE, condition)
            return self.disjunction(condition, other) if one else self.conjunction(condition ^ 1, other)
        if other <= TRUE or other >> 1 == condition >> 1:
            zero = other in (FALSE, condition)
            return self.conjunction(condition, then) if zero else self.disjunction(condition ^ 1, then)
        sign = then & 1
        return self._hashed(ITE, (condition, then ^ sign, other ^ sign)) ^ sign

    def majority(self, a: int, b: int, c: int) -> int:
        """Whether at least two of three literals are true: the carry of their sum."""
        a, b, c = sorted((a, b, c))
        if a <= TRUE:
            return self.disjunction(b, c) if a else self.conjunction(b, c)
        if a >> 1 == b >> 1:
            return a if a == b else c
        if b >> 1 == c >> 1:
            return b if b == c else a
        sign = int((a & 1) + (b & 1) + (c & 1) > 1)
        return self._hashed(MAJORITY, (a ^ sign, b ^ sign, c ^ sign)) ^ sign

    def all(self, literals: Iterable[int]) -> int:
        """And of any number of literals."""
        found = TRUE
        for literal in sorted(literals):
            found = self.conjunction(found, literal)
        return found

    def any(self, literals: Iterable[int]) -> int:
        """Or of any number of literals."""
        return self.all(literal ^ 1 for literal in literals) ^ 1

    def cone(self, roots: Iterable[int], known: frozenset[int] | set[int] = frozenset()) -> list[int]:
        """The numbers of the gates under the literals ``roots``, rising, without the constant and those in ``known``.

        What is only under gates in ``known`` is left out too.
        """
        seen: set[int] = {0}
        todo = [root >> 1 for root in roots]
        while todo:
            gate = todo.pop()
            if gate not in seen and gate not in known:
                seen.add(gate)
                todo.extend(operand >> 1 for operand in self.operands[gate])
        return sorted(seen - {0})

    def check_size(self) -> None:
        """StepTooLarge where there are more gates than there may be."""
        if len(self.kinds) > self.most:
            raise StepTooLarge(f"the formulas of a step are too large for a solver: more than {self.most:,.0f} gates")

    def _decided(self, a: int, b: int) -> int | None:
        """And of ``a`` and ``b`` where their operands show that it is one of them, false, or another kind of gate."""
        found = self._one_of(a, b)
        if found is None:
            found = self._one_of(b, a)
        if found is None and a & b & 1 and self.kinds[a >> 1] == self.kinds[b >> 1] == AND:
            for x, y in (self.operands[a >> 1], self.operands[a >> 1][::-1]):
                for u, v in (self.operands[b >> 1], self.operands[b >> 1][::-1]):
                    if x == u ^ 1:
                        return self.choice(x, y ^ 1, v ^ 1)
        return found

    def _one_of(self, a: int, b: int) -> int | None:
        """``a``, ``b`` or false where the operands of ``a`` show that it is the conjunction of both."""
        if self.kinds[a >> 1] != AND:
            return None
        left, right = self.operands[a >> 1]
        if not a & 1 and b in (left, right):
            return a
        below = self.operands[b >> 1] if self.kinds[b >> 1] == AND and not b & 1 else (b,)
        if left ^ 1 in below or right ^ 1 in below:
            return b if a & 1 else FALSE
        return None

    def _weakened(self, a: int, b: int) -> int | None:
        """What may take the place of ``a``, an inverted conjunction of which ``b`` implies one operand."""
        if not a & 1 or self.kinds[a >> 1] != AND:
            return None
        left, right = self.operands[a >> 1]
        below = self.operands[b >> 1] if self.kinds[b >> 1] == AND and not b & 1 else (b,)
        if left in below:
            return right ^ 1
        return left ^ 1 if right in below else None

    def _hashed(self, kind: int, operands: Operands) -> int:
        key = operands if kind == AND else (kind, *operands)
        if key not in self._known:
            self._known[key] = self._made(kind, operands)
        return self._known[key]

    def _made(self, kind: int, operands: Operands) -> int:
        self.kinds.append(kind)
        self.operands.append(operands)
        return 2 * (len(self.kinds) - 1)
