"""Placing formulas at steps: symbol ``x`` at step k is the symbol ``x@k``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol, get_env

from bmc.formulas.evaluate import names_in, post_order
from bmc.formulas.terms import keep_meaning

NEXT = "next "
"""Before the name of a variable, in a formula over plain symbols that speaks of one step: its value after that."""


def framed(symbol: FNode, step: int) -> FNode:
    """``symbol`` at ``step``: the same type, the name ``name@step``."""
    return Symbol(f"{symbol.symbol_name()}@{step}", symbol.get_type())


def unframed(symbol: FNode) -> tuple[str, int]:
    """The plain name and the step of a framed symbol."""
    name, _, step = symbol.symbol_name().rpartition("@")
    return name, int(step)


def plain(symbol: FNode) -> FNode:
    """The plain symbol of a framed one."""
    return Symbol(unframed(symbol)[0], symbol.get_type())


def steps_of(formula: FNode) -> set[int]:
    """The steps whose symbols a framed formula reads."""
    return {int(name.rpartition("@")[2]) for name in names_in([formula])}


def plain_symbols(formulas: Sequence[FNode]) -> list[FNode]:
    """The plain symbols of framed formulas, each once."""
    return [*dict.fromkeys(plain(node) for node in post_order(formulas) if node.is_symbol())]


def at(formula: FNode, step: int) -> FNode:
    """A formula over plain symbols, placed at ``step``."""
    return at_each([formula], step)[0]


def at_each(formulas: Sequence[FNode], step: int) -> list[FNode]:
    """Formulas over plain symbols, placed at ``step``; what they share is placed once."""
    return _renamed(formulas, lambda symbol: framed(symbol, step))


def shift(formula: FNode, steps: int) -> FNode:
    """A formula over framed symbols, moved ``steps`` later."""
    if steps == 0:
        return formula
    return _renamed([formula], lambda symbol: _moved(symbol, steps))[0]


def unplaced(formulas: Sequence[FNode]) -> list[FNode]:
    """Formulas over framed symbols, each of one step, as they read over plain symbols."""
    return _renamed(formulas, plain)


def read_at(formula: FNode, step: int) -> FNode:
    """A formula over framed symbols of two steps, read at ``step``: over plain symbols, and ``NEXT`` ones for later."""
    return _renamed([formula], lambda symbol: _read(symbol, step))[0]


def with_terms(formulas: Sequence[FNode], terms: Mapping[FNode, FNode]) -> list[FNode]:
    """``formulas`` with ``terms`` of the same types in place of symbols, or of larger terms; each is replaced once."""
    larger = {term for term in terms if not term.is_symbol()}
    return _renamed(formulas, lambda node: terms.get(node, node), larger)


def _read(symbol: FNode, step: int) -> FNode:
    name, own = unframed(symbol)
    return Symbol(NEXT + name if own > step else name, symbol.get_type())


def _moved(symbol: FNode, steps: int) -> FNode:
    name, step = unframed(symbol)
    return Symbol(f"{name}@{step + steps}", symbol.get_type())


def _renamed(
    formulas: Sequence[FNode], rename: Callable[[FNode], FNode], larger: Collection[FNode] = ()
) -> list[FNode]:
    """``formulas`` with other terms of the same types for symbols and ``larger`` terms, in one walk through their DAG.

    What is known of the meaning of a term is known of the new one too.
    """
    create = get_env().formula_manager.create_node
    made: dict[FNode, FNode] = {term: rename(term) for term in larger}
    for node in post_order(formulas, larger):
        kind, before, payload = node._content
        after = tuple([made[a] for a in before])
        if kind == op.SYMBOL:
            made[node] = rename(node)
        elif after == before:
            made[node] = node
        else:
            made[node] = create(kind, after, payload)
            keep_meaning(node, made[node], made)
    return [made[formula] for formula in formulas]
