"""Comparisons of choices, as choices of comparisons; and comparisons that may turn out either way.

In a program that counts, or sets back, and then compares, a variable is compared in one branch alone; as a term, all
branches are compared at once. Where each branch is compared by itself the variable stands beside the constant, and two
of its values differ only if that comparison tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol
from pysmt.typing import BOOL

from bmc.formulas.evaluate import names_in, post_order
from bmc.formulas.folding import rebuilt
from bmc.formulas.terms import COMPARISONS, choose, is_constant, keep_meaning, meanings
from bmc.formulas.unroll import framed, plain_symbols, unplaced, with_terms

BRANCHES = 256
"""Branches of which each is compared, for one comparison. With twice as many, longer tables are taken apart."""


def lifted(formulas: Sequence[FNode]) -> list[FNode]:
    """``formulas`` with a choice of comparisons for each comparison of a choice of words.

    What is calculated from a choice and constants counts as a choice of what is calculated. All stay equal.
    """
    made: dict[FNode, FNode] = {}
    known = meanings()
    for node in post_order(formulas):
        before = node.args()
        after = tuple(made[argument] for argument in before)
        new = node if after == before else rebuilt(node, after)
        if node in known:
            keep_meaning(node, new, made)
        elif new.node_type() in COMPARISONS:
            new = _compared(new)
        made[node] = new
    return [made[formula] for formula in formulas]


def _compared(comparison: FNode) -> FNode:
    """``comparison``, branch by branch on both sides; as it is where there are too many branches."""
    return _Comparison().of(comparison, 0) or comparison


class Branches:
    """Terms taken apart by their branches, below operations of which one argument alone is ``varying`` too.

    Only so many branches are looked at.
    """

    def __init__(self, varying: Callable[[FNode], bool]) -> None:
        self._varying, self._left = varying, BRANCHES

    def over(self, term: FNode, made_of: Callable[[FNode], FNode | None]) -> FNode | None:
        """The choice of what is ``made_of`` each branch of ``term``; None where there are too many branches, or nothing
        is made of one."""
        made: dict[FNode, FNode] = {}
        todo = [term]
        while todo:
            node = todo[-1]
            if node in made:
                todo.pop()
                continue
            if not node.is_ite():
                todo.pop()
                found = self._below(node, made_of)
                if found is None:
                    return None
                made[node] = found
                continue
            missing = [branch for branch in node.args()[1:] if branch not in made]
            if missing:
                todo += missing
                continue
            todo.pop()
            made[node] = choose(node.arg(0), *(made[branch] for branch in node.args()[1:]))
        return made[term]

    def _below(self, term: FNode, made_of: Callable[[FNode], FNode | None]) -> FNode | None:
        """What is ``made_of`` ``term``, which is no choice itself."""
        self._left -= 1
        if self._left < 0:
            return None
        varying = [argument for argument in term.args() if self._varying(argument)]
        if len(varying) != 1 or term in meanings() or varying[0].get_type().is_bool_type():
            return made_of(term)
        inner = varying[0]

        def of_inner(branch: FNode) -> FNode | None:
            return made_of(rebuilt(term, [branch if argument is inner else argument for argument in term.args()]))

        return self.over(inner, of_inner)


class _Comparison(Branches):
    """A comparison taken apart by the branches of its sides."""

    def __init__(self) -> None:
        super().__init__(lambda term: not is_constant(term))

    def of(self, comparison: FNode, place: int) -> FNode | None:
        """The choice of comparisons by the sides from ``place`` on; None where there are too many branches."""
        if place == 2 or comparison.node_type() not in COMPARISONS:
            return comparison
        sides = [*comparison.args()]

        def compare(term: FNode) -> FNode | None:
            sides[place] = term
            return self.of(rebuilt(comparison, sides), place + 1)

        return self.over(sides[place], compare)


def with_free_comparisons(
    formulas: Sequence[FNode], observed: Sequence[FNode], inputs: Collection[str], hidden: Collection[str]
) -> tuple[list[FNode], list[FNode], list[str]]:
    """``formulas``, over plain symbols, and ``observed``, over framed ones, of which those at step 0 count: with a
    Boolean variable of its own for each comparison that reads two or more variables and nothing but ``inputs``, or one
    of those ``hidden`` among others; and the names of these variables.

    What all may be for any values of the inputs and the hidden variables, they may be for any of those and of the
    Boolean variables.
    """
    free: dict[FNode, FNode] = {}
    for node in _compared_freely(formulas, {*inputs, *hidden}, {*hidden}):
        free[node] = Symbol(f"comparison#{len(free)}", BOOL)
    there: dict[FNode, FNode] = {}
    first, unknown = ({f"{name}@0" for name in names} for names in ({*inputs, *hidden}, hidden))
    for node in _compared_freely(observed, first, unknown):
        there[node] = framed(free.setdefault(unplaced([node])[0], Symbol(f"comparison#{len(free)}", BOOL)), 0)
    steps, goals = with_terms(formulas, free), with_terms(observed, there)
    left = names_in(steps) | {symbol.symbol_name() for symbol in plain_symbols(goals)}
    return steps, goals, [name for name in (symbol.symbol_name() for symbol in free.values()) if name in left]


def _compared_freely(formulas: Sequence[FNode], inputs: Set[str], hidden: Set[str]) -> list[FNode]:
    """The comparisons below ``formulas`` that read two variables and nothing but ``inputs``, or one of ``hidden``."""
    reads: dict[FNode, frozenset[str]] = {}
    found, known = [], meanings()
    for node in post_order(formulas):
        own = [node.symbol_name()] if node.is_symbol() else ()
        read = reads[node] = frozenset(own).union(*(reads[argument] for argument in node.args()))
        compares = node.node_type() in COMPARISONS or (node in known and node.get_type().is_bool_type())
        if compares and len(read) > 1 and (read <= inputs or read & hidden):
            found.append(node)
    return found
