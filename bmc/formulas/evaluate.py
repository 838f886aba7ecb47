"""Compiling pysmt formulas (Booleans and bit-vectors) to Python functions, with SMT-LIB semantics.

The translation walks the formula's DAG without recursion; a node used more than once is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pysmt.operators as op
from pysmt.fnode import FNode

from bmc.records import dataclass

INLINE_LENGTH = 400
"""Characters of an expression that becomes a part of another one; a longer one has a variable. With twice as many,
there are fewer variables, and expressions nest up to twice as deep, which is a hundred levels and more."""
LARGE, KEPT = 20_000, 8
"""Orders of at least so many nodes are kept, so many of them."""
MOST_COMPILED = 64
"""So many compiled functions of several formulas are kept: a run asks for most of them several times."""


def signed_division(a: int, b: int, bits: int) -> int:
    """SMT-LIB ``bvsdiv`` of two raw patterns of ``bits`` bits: rounds to zero; x / 0 is 1 for x < 0, else -1."""
    x, y = _signed(a, bits), _signed(b, bits)
    if y == 0:
        return 1 if x < 0 else (1 << bits) - 1
    quotient = abs(x) // abs(y)
    return (quotient if (x < 0) == (y < 0) else -quotient) % (1 << bits)


def signed_remainder(a: int, b: int, bits: int) -> int:
    """SMT-LIB ``bvsrem`` of two raw patterns of ``bits`` bits: the sign of the dividend; x rem 0 is x."""
    x, y = _signed(a, bits), _signed(b, bits)
    if y == 0:
        return a
    remainder = abs(x) % abs(y)
    return (-remainder if x < 0 else remainder) % (1 << bits)


def _signed(raw: int, bits: int) -> int:
    return raw - (1 << bits) if raw >> (bits - 1) else raw


Writer = Callable[[FNode, Sequence[str]], str]


def _mask(node: FNode) -> int:
    return (1 << int(node.bv_width())) - 1


def _top(node: FNode) -> int:
    """The sign bit of the first argument of ``node``."""
    return 1 << (int(node.arg(0).get_type().width) - 1)  # its width by bv_width goes down through choices each time


def _rotate(node: FNode, text: str, left: int) -> str:
    width = int(node.bv_width())
    left %= width
    return f"((({text} << {left}) | ({text} >> {width - left})) & {_mask(node)})"


def _sign_extend(node: FNode, text: str) -> str:
    top = _top(node)
    return f"((({text} ^ {top}) - {top}) & {_mask(node)})"


def _joined(word: str) -> Writer:
    return lambda node, texts: f"({f' {word} '.join(texts)})"


def _signed_compare(sign: str) -> Writer:
    return lambda node, t: f"(({t[0]} ^ {_top(node)}) {sign} ({t[1]} ^ {_top(node)}))"


def _signed_quotient(node: FNode, texts: Sequence[str]) -> str:
    """``signed_division``; by a positive constant without a call, which takes several times as long."""
    (dividend, divisor), width = texts, int(node.bv_width())
    by, top = node.arg(1), 1 << (width - 1)
    if not by.is_bv_constant() or not 0 < by.constant_value() < top:
        return f"signed_division({dividend}, {divisor}, {width})"
    negative = f"-(({2 * top} - {dividend}) // {divisor}) & {_mask(node)}"
    return f"({dividend} // {divisor} if {dividend} < {top} else {negative})"


_WRITERS: dict[int, Writer] = {
    op.AND: _joined("and"),
    op.OR: _joined("or"),
    op.NOT: lambda n, t: f"(not {t[0]})",
    op.IMPLIES: lambda n, t: f"(not {t[0]} or {t[1]})",
    op.IFF: lambda n, t: f"({t[0]} == {t[1]})",
    op.EQUALS: lambda n, t: f"({t[0]} == {t[1]})",
    op.ITE: lambda n, t: f"({t[1]} if {t[0]} else {t[2]})",
    op.BV_NOT: lambda n, t: f"({t[0]} ^ {_mask(n)})",
    op.BV_AND: _joined("&"),
    op.BV_OR: _joined("|"),
    op.BV_XOR: _joined("^"),
    op.BV_CONCAT: lambda n, t: f"({t[0]} << {n.arg(1).bv_width()} | {t[1]})",
    op.BV_EXTRACT: lambda n, t: f"({t[0]} >> {n.bv_extract_start()} & {_mask(n)})",
    op.BV_ULT: lambda n, t: f"({t[0]} < {t[1]})",
    op.BV_ULE: lambda n, t: f"({t[0]} <= {t[1]})",
    op.BV_NEG: lambda n, t: f"(-{t[0]} & {_mask(n)})",
    op.BV_ADD: lambda n, t: f"({t[0]} + {t[1]} & {_mask(n)})",
    op.BV_SUB: lambda n, t: f"({t[0]} - {t[1]} & {_mask(n)})",
    op.BV_MUL: lambda n, t: f"({t[0]} * {t[1]} & {_mask(n)})",
    op.BV_UDIV: lambda n, t: f"({t[0]} // {t[1]} if {t[1]} else {_mask(n)})",
    op.BV_UREM: lambda n, t: f"({t[0]} % {t[1]} if {t[1]} else {t[0]})",
    op.BV_LSHL: lambda n, t: f"({t[0]} << {t[1]} & {_mask(n)} if {t[1]} < {n.bv_width()} else 0)",
    op.BV_LSHR: lambda n, t: f"({t[0]} >> {t[1]})",
    op.BV_ROL: lambda n, t: _rotate(n, t[0], n.bv_rotation_step()),
    op.BV_ROR: lambda n, t: _rotate(n, t[0], -n.bv_rotation_step()),
    op.BV_ZEXT: lambda n, t: t[0],
    op.BV_SEXT: lambda n, t: _sign_extend(n, t[0]),
    op.BV_SLT: _signed_compare("<"),
    op.BV_SLE: _signed_compare("<="),
    op.BV_COMP: lambda n, t: f"(1 if {t[0]} == {t[1]} else 0)",
    op.BV_SDIV: _signed_quotient,
    op.BV_SREM: lambda n, t: f"signed_remainder({t[0]}, {t[1]}, {n.bv_width()})",
    op.BV_ASHR: lambda n, t: f"(({t[0]} ^ {_top(n)}) - {_top(n)} >> {t[1]} & {_mask(n)})",
}

_REPEATED: dict[int, tuple[int, ...]] = {
    op.BV_SDIV: (0,),
    op.BV_UDIV: (1,),
    op.BV_UREM: (0, 1),
    op.BV_LSHL: (1,),
    op.BV_ROL: (0,),
    op.BV_ROR: (0,),
}
"""Operators whose text repeats an argument: that argument gets a variable of its own."""


@dataclass(frozen=True, slots=True)
class Translation:
    """``statements`` compute, ``results`` are the expressions of the translated formulas, in order."""

    statements: tuple[str, ...]
    results: tuple[str, ...]


def translate(formulas: Sequence[FNode], symbol_text: Callable[[FNode], str]) -> Translation:
    """Python source that evaluates ``formulas``; ``symbol_text`` gives the expression that reads a symbol.

    Results are raw unsigned integers, Booleans 0/1. ValueError for an operator outside QF_BV.
    """
    order = post_order(formulas)
    named = _named_nodes(formulas, order)
    statements: list[str] = []
    texts: dict[int, str] = {}
    for node in order:
        kind, number = node._content.node_type, node._node_id
        if kind == op.BV_CONSTANT:
            texts[number] = str(node.constant_value())
            continue
        if kind == op.BOOL_CONSTANT:
            texts[number] = str(bool(node.constant_value()))
            continue
        text = _node_text(node, texts, symbol_text)
        if kind == op.SYMBOL or number in named or len(text) > INLINE_LENGTH:
            name = f"t{len(statements)}"
            statements.append(f"{name} = {text}")
            text = name
        texts[number] = text
    told = [(texts[formula._node_id], formula.get_type().is_bool_type()) for formula in formulas]
    return Translation(tuple(statements), tuple(f"(1 if {text} else 0)" if boolean else text for text, boolean in told))


def _node_text(node: FNode, texts: Mapping[int, str], symbol_text: Callable[[FNode], str]) -> str:
    """The expression of one node, from the texts of its arguments, by their numbers."""
    if node.is_symbol():
        return symbol_text(node)
    writer = _WRITERS.get(node.node_type())
    if writer is None:
        raise ValueError(f"cannot evaluate operator {op.op_to_str(node.node_type())}: not Boolean nor bit-vector")
    return writer(node, [texts[a._node_id] for a in node._content.args])


_kept_orders: dict[tuple[FNode, ...], Sequence[FNode]] = {}


def post_order(formulas: Sequence[FNode], ends: Collection[FNode] = ()) -> Sequence[FNode]:
    """Every node under ``formulas`` once, arguments before their users; but for ``ends`` and what only these read.

    The last large orders are kept: what looks at a step goes through the same formulas again and again.
    """
    if ends:
        return _new_order(formulas, set(map(id, ends)))
    roots = tuple(formulas)
    order = _kept_orders.pop(roots, None) if _kept_orders else None
    if order is None:
        order = _new_order(roots, set())
    if len(order) >= LARGE:
        _kept_orders[roots] = order
        if len(_kept_orders) > KEPT:
            del _kept_orders[next(iter(_kept_orders))]
    return order


def _new_order(formulas: Sequence[FNode], met: set[int]) -> list[FNode]:
    """``met``: nodes to leave out, by identity: to hash a node takes longer."""
    order: list[FNode] = []
    stack: list[FNode | None] = [*reversed(formulas)]
    take, put, note, done = stack.pop, stack.append, met.add, order.append  # this is done more often than all else
    while stack:
        node = take()
        if node is None:
            done(take())
            continue
        number = id(node)
        if number not in met:
            note(number)
            arguments = node._content.args
            if arguments:
                put(node)
                put(None)
                stack.extend(arguments[::-1])
            else:
                done(node)
    return order


def unseen(roots: Iterable[FNode], seen: set[int]) -> list[FNode]:
    """The nodes under ``roots`` whose identities (``id``) are not in ``seen``, which then holds them."""
    found: list[FNode] = []
    todo = list(roots)
    take = todo.pop
    while todo:
        node = take()
        number = id(node)
        if number not in seen:
            seen.add(number)
            found.append(node)
            todo.extend(node._content.args)
    return found


def names_in(formulas: Iterable[FNode]) -> set[str]:
    """The names of all symbols in ``formulas``."""
    return {node.symbol_name() for node in unseen(formulas, set()) if node.is_symbol()}


def _named_nodes(formulas: Sequence[FNode], order: Sequence[FNode]) -> set[int]:
    """The numbers of the nodes to keep in a variable: those that more than one place reads."""
    seen = {formula._node_id for formula in formulas}
    named: set[int] = set()
    for node in order:
        kind, arguments, _ = node._content
        repeated = _REPEATED.get(kind, ())
        for index, argument in enumerate(arguments):
            number = argument._node_id
            if number in seen or index in repeated:
                named.add(number)
            seen.add(number)
    return named


def operation(node: FNode) -> Callable[[Sequence[int]], int]:
    """What computes the value of ``node`` from those of its arguments: raw unsigned patterns, Booleans 0/1.

    ValueError for an operator outside QF_BV.
    """
    writer = _WRITERS.get(node.node_type())
    if writer is None:
        raise ValueError(f"cannot evaluate operator {op.op_to_str(node.node_type())}: not Boolean nor bit-vector")
    return _computed(writer(node, [f"a[{index}]" for index in range(len(node.args()))]))


@lru_cache(maxsize=4096)
def _computed(text: str) -> Callable[[Sequence[int]], int]:
    return define("a", [f"return int({text})"])


def define(arguments: str, body: Sequence[str]) -> Callable[..., Any]:
    """The function ``def f(arguments): body``, with what translated formulas call in scope."""
    source = f"def f({arguments}):\n" + "\n".join(f"    {line}" for line in body)
    scope: dict[str, Any] = {"signed_division": signed_division, "signed_remainder": signed_remainder}
    exec(compile(source, "<formulas>", "exec"), scope)
    function: Callable[..., Any] = scope["f"]
    return function


def compile_formulas(formulas: Sequence[FNode]) -> Callable[[Mapping[str, int]], tuple[int, ...]]:
    """A function from the symbols' raw values by name to the formulas' values (raw; Booleans 0/1)."""
    return _compiled(tuple(formulas))


@lru_cache(maxsize=MOST_COMPILED)
def _compiled(formulas: tuple[FNode, ...]) -> Callable[[Mapping[str, int]], tuple[int, ...]]:
    done = translate(formulas, lambda s: f"v[{s.symbol_name()!r}]")
    return define("v", [*done.statements, f"return ({''.join(f'{r}, ' for r in done.results)})"])
