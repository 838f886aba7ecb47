"""Comparisons of choices, as choices of comparisons; and comparisons that may turn out either way.

In a program that counts, or sets back, and then compares, a variable is compared in one branch alone; as a term, all
branches are compared at once. Where each branch is compared by itself the variable stands beside the constant, and two
of its values differ only if that comparison tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol
from pysmt.typing import BOOL

from bmc.formulas.evaluate import post_order
from bmc.formulas.folding import rebuilt
from bmc.formulas.terms import COMPARISONS, choose, is_constant, keep_meaning, meanings
from bmc.formulas.unroll import with_terms

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
    return _Branches().of(comparison, 0) or comparison


class _Branches:
    """A comparison taken apart by the branches of its sides; so many are ``left`` that may still be looked at."""

    def __init__(self) -> None:
        self._left = BRANCHES

    def of(self, comparison: FNode, place: int) -> FNode | None:
        """The choice of comparisons by the sides from ``place`` on; None where there are too many branches."""
        if place == 2 or comparison.node_type() not in COMPARISONS:
            return comparison
        sides = [*comparison.args()]

        def compare(term: FNode) -> FNode | None:
            sides[place] = term
            return self.of(rebuilt(comparison, sides), place + 1)

        return self._over(sides[place], compare)

    def _over(self, term: FNode, compare: Callable[[FNode], FNode | None]) -> FNode | None:
        """``compare`` of each branch of ``term``, which may lie below operations with constants."""
        made: dict[FNode, FNode] = {}
        todo = [term]
        while todo:
            node = todo[-1]
            if node in made:
                todo.pop()
                continue
            if not node.is_ite():
                todo.pop()
                found = self._below(node, compare)
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

    def _below(self, term: FNode, compare: Callable[[FNode], FNode | None]) -> FNode | None:
        """``compare`` of ``term``, which is no choice itself."""
        self._left -= 1
        if self._left < 0:
            return None
        varying = [argument for argument in term.args() if not is_constant(argument)]
        if len(varying) != 1 or term in meanings() or varying[0].get_type().is_bool_type():
            return compare(term)
        inner = varying[0]

        def of_inner(branch: FNode) -> FNode | None:
            return compare(rebuilt(term, [branch if argument is inner else argument for argument in term.args()]))

        return self._over(inner, of_inner)


def with_free_comparisons(formulas: Sequence[FNode], names: Collection[str]) -> tuple[list[FNode], list[FNode]]:
    """``formulas`` with a Boolean symbol of its own for each comparison that reads two or more of the variables
    ``names`` and nothing else; and these symbols.

    What the formulas may be for any values of the variables, they may be for any of those and of the symbols.
    """
    few: dict[FNode, frozenset[str] | None] = {}
    free: dict[FNode, FNode] = {}
    known = meanings()
    for node in post_order(formulas):
        if node.is_symbol():
            few[node] = frozenset([node.symbol_name()]) if node.symbol_name() in names else None
            continue
        below = [few[argument] for argument in node.args()]
        few[node] = None if None in below else frozenset[str]().union(*(part for part in below if part is not None))
        compares = node.node_type() in COMPARISONS or (node in known and node.get_type().is_bool_type())
        if compares and len(few[node] or ()) > 1:
            free[node] = Symbol(f"comparison#{len(free)}", BOOL)
    return with_terms(formulas, free), [*free.values()]
