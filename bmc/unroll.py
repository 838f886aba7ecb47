"""Placing formulas at steps: symbol ``x`` at step k is the symbol ``x@k``."""

from __future__ import annotations

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol

from bmc.system import symbols_of


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


def at(formula: FNode, step: int) -> FNode:
    """A formula over plain symbols, placed at ``step``."""
    return formula.substitute({s: framed(s, step) for s in symbols_of(formula)})


def shift(formula: FNode, steps: int) -> FNode:
    """A formula over framed symbols, moved ``steps`` later."""
    if steps == 0:
        return formula
    moved = {}
    for symbol in symbols_of(formula):
        name, step = unframed(symbol)
        moved[symbol] = Symbol(f"{name}@{step + steps}", symbol.get_type())
    return formula.substitute(moved)
