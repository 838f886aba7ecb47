"""Sums of bit-vectors in one form: two sums that are equal whatever their summands are, are the same term.

Choices come first, sums below them, as in ``ite(c, x + 3, y)``: which terms a value may be, as conditions choose, is
then read off. The low bits of a wider sum are the sum of low bits, so values that C promotes, adds, and cuts off again
are sums too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVExtract, Ite

from bmc.records import dataclass

MOST = 128
"""Steps of the rewriting of one term: a sum of choices has as many choices as all their combinations. What takes more
stays as it is; twice as many let a sum be of one choice more."""


@dataclass(frozen=True, slots=True)
class Sum:
    """``constant`` and each of ``summands``, as often as it says, modulo 2 to the number of bits."""

    summands: Mapping[FNode, int]
    constant: int


@dataclass(frozen=True, slots=True)
class Choice:
    """``yes`` where ``condition`` holds, else ``no``."""

    condition: FNode
    yes: Tree
    no: Tree


Tree = Sum | Choice


class _TooLarge(Exception):
    """A term has too many combinations of choices."""


def sums_of(term: FNode, bits: int) -> Tree | None:
    """The low ``bits`` bits of ``term`` as choices between sums; None where these are too many."""
    try:
        return _Rewriting(bits).tree(term)
    except _TooLarge:
        return None


def leaves(tree: Tree) -> Iterator[Sum]:
    """The sums among which ``tree`` chooses."""
    if isinstance(tree, Sum):
        yield tree
    else:
        yield from leaves(tree.yes)
        yield from leaves(tree.no)


def in_one_form(term: FNode) -> FNode:
    """``term``, a bit-vector, with its choices first and its sums in one form; as it is where it has too many."""
    bits = term.get_type().width
    tree = sums_of(term, bits)
    return term if tree is None else _term(tree, bits)


def _term(tree: Tree, bits: int) -> FNode:
    if isinstance(tree, Choice):
        return Ite(tree.condition, _term(tree.yes, bits), _term(tree.no, bits))
    made: FNode | None = None
    for summand in sorted(tree.summands, key=lambda each: each.node_id()):
        times = tree.summands[summand]
        part = summand if times == 1 else summand.BVMul(BV(times, bits))
        made = part if made is None else made.BVAdd(part)
    constant = BV(tree.constant, bits)
    return constant if made is None else made if not tree.constant else made.BVAdd(constant)


class _Rewriting:
    """Makes trees of terms of ``bits`` bits."""

    def __init__(self, bits: int) -> None:
        self._bits, self._left = bits, MOST

    def tree(self, term: FNode) -> Tree:
        """The low bits of ``term``."""
        self._step()
        bits, width = self._bits, term.get_type().width
        if term.is_bv_constant():
            return Sum({}, term.constant_value() % (1 << bits))
        if term.is_ite():
            condition, yes, no = term.args()
            return Choice(condition, self.tree(yes), self.tree(no))
        if term.is_bv_add() or term.is_bv_sub():
            one, two = (self.tree(arg) for arg in term.args())
            return self._added(one, two if term.is_bv_add() else self._negated(two), {})
        if term.is_bv_extract() and not term.bv_extract_start() and width >= bits:
            return self.tree(term.arg(0))
        if (term.is_bv_zext() or term.is_bv_sext()) and term.arg(0).get_type().width >= bits:
            return self.tree(term.arg(0))
        return Sum({term if width == bits else BVExtract(term, 0, bits - 1): 1}, 0)

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooLarge

    def _negated(self, tree: Tree) -> Tree:
        if isinstance(tree, Choice):
            return Choice(tree.condition, self._negated(tree.yes), self._negated(tree.no))
        size = 1 << self._bits
        return Sum({summand: size - times for summand, times in tree.summands.items()}, -tree.constant % size)

    def _added(self, one: Tree, two: Tree, chosen: Mapping[FNode, bool]) -> Tree:
        """The sum of two, where conditions are ``chosen`` as that says."""
        self._step()
        if isinstance(one, Sum) and isinstance(two, Sum):
            size, summands = 1 << self._bits, dict(one.summands)
            for summand, times in two.summands.items():
                summands[summand] = (summands.get(summand, 0) + times) % size
            kept = {summand: times for summand, times in summands.items() if times}
            return Sum(kept, (one.constant + two.constant) % size)
        first, second = (one, two) if isinstance(one, Choice) else (two, one)
        assert isinstance(first, Choice)
        condition = first.condition
        if condition in chosen:
            return self._added(first.yes if chosen[condition] else first.no, second, chosen)
        yes = self._added(first.yes, second, {**chosen, condition: True})
        return Choice(condition, yes, self._added(first.no, second, {**chosen, condition: False}))
