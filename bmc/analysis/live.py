"""Which state variables are live at the start of a step: whose value then can still make a difference.

A variable is dead where nothing observed ever depends on it, over any number of steps: it is written before it is
read, or read by dead ones only, or read where the value read is not used. What a formula reads is judged more sharply
than by the symbols in it: each read happens under conditions, and one under contradictory conditions never happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.analysis.constants import constant_state, fixed_inputs, next_states, put_in, raw_value
from bmc.formulas.evaluate import post_order, unseen
from bmc.system.transition import TransitionSystem

MOST_GIVEN = 64
"""Conditions that are kept for one read; further ones are dropped, which is safe."""
MOST_JOINED = 8
"""An And or Or of more arguments is read as if each mattered always."""
REPEATED = 6
"""Once the rounds have looked at so many times as many nodes as there are, symbols in formulas count as read."""

Given = Mapping[FNode, int]
"""Terms and the values that they have wherever a node is read."""


def live_state(system: TransitionSystem, observed: Iterable[FNode]) -> frozenset[str]:
    """The names of the state variables on which ``observed`` or a step's validity depends, now or later.

    ``observed`` are plain formulas. Constant variables and inputs of one value count as their values, and are not live.
    """
    known = {**constant_state(system), **fixed_inputs(system)}
    return live_among(next_states(system), put_in([system.input_constraint, system.defined, *observed], known))


def live_among(following: Mapping[str, FNode], observed: Sequence[FNode]) -> frozenset[str]:
    """The least set of the variables in ``following`` (their next states) that holds all that ``observed`` reads, and
    what the next states of its members read."""
    live: set[str] = set()
    budget = REPEATED * len(post_order([*following.values(), *observed]))
    seen: set[FNode] = set()
    roots = list(observed)
    while roots:
        order = post_order(roots) if budget > 0 else unseen(roots, seen)
        budget -= len(order)
        symbols = read_symbols(roots, order) if budget > 0 else [node for node in order if node.is_symbol()]
        names = dict.fromkeys(symbol.symbol_name() for symbol in symbols)
        fresh = [name for name in names if name in following and name not in live]
        live.update(fresh)
        roots = [following[name] for name in fresh]
    return frozenset(live)


def read_symbols(roots: Sequence[FNode], order: Sequence[FNode] | None = None) -> list[FNode]:
    """The symbols whose value can make a difference to that of one of ``roots``; ``order``: their ``post_order``.

    If the value of a root differs between two valuations that differ in one symbol, the difference comes up from that
    symbol through a chain of nodes, each of which is used: where a choice passes it on, the condition has the value
    that chooses it. A symbol is left out if on every chain two such conditions contradict each other.
    """
    given: dict[FNode, Given] = {root: {} for root in roots}
    found = []
    for node in reversed(post_order(roots) if order is None else order):
        here = given.pop(node, None)
        if here is None:
            continue
        if node.is_symbol():
            found.append(node)
        for argument, there in _reads(node, here):
            before = given.get(argument)
            given[argument] = there if before is None else _common(before, there)
    return found


def _common(left: Given, right: Given) -> Given:
    return left if left is right else {term: value for term, value in left.items() if right.get(term) == value}


def _reads(node: FNode, given: Given) -> Iterator[tuple[FNode, Given]]:
    """The arguments of ``node`` that are used, each with what is given there."""
    kind, arguments = node.node_type(), node.args()
    if kind == op.ITE:
        yield arguments[0], given
        for argument, value in ((arguments[1], True), (arguments[2], False)):
            there = _assume(given, arguments[0], value)
            if there is not None:
                yield argument, there
    elif kind in (op.AND, op.OR, op.IMPLIES) and len(arguments) <= MOST_JOINED:
        there = given
        for index, argument in enumerate(arguments):
            yield argument, there
            passes = kind == op.AND or (kind == op.IMPLIES and index == 0)
            further = _assume(there, argument, passes)
            if further is None:
                return
            there = further
    else:
        for argument in arguments:
            yield argument, given


def _assume(given: Given, cond: FNode, value: bool) -> Given | None:
    """``given`` with the condition ``cond`` having ``value``; None if it cannot have it."""
    if given.get(cond) == value:
        return given
    added = dict(given)
    todo = [(cond, value)]
    while todo:
        term, wanted = todo.pop()
        while term.is_not():
            term, wanted = term.arg(0), not wanted
        if term.is_constant():
            if term.is_true() != wanted:
                return None
        elif not _added(added, term, wanted):
            return None
        elif (term.is_and() and wanted) or (term.is_or() and not wanted):
            todo.extend((part, wanted) for part in term.args())
    return added


def _added(given: dict[FNode, int], atom: FNode, wanted: bool) -> bool:
    """Put the value of ``atom`` into ``given``; whether that is possible."""
    if given.get(atom, wanted) != wanted:
        return False
    pair = _against_constant(atom)
    if pair is not None:
        term, number = pair
        if term in given and (given[term] == number) != wanted:
            return False
        if wanted and len(given) < MOST_GIVEN:
            given[term] = number
    if len(given) < MOST_GIVEN:
        given[atom] = wanted
    return True


def _against_constant(atom: FNode) -> tuple[FNode, int] | None:
    """The term and the number of an equation with a constant."""
    if not atom.is_equals():
        return None
    left, right = atom.args()
    if left.is_constant():
        left, right = right, left
    return (left, raw_value(right)) if right.is_constant() else None
