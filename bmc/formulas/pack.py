"""Plain data with formulas in it as bytes, for other processes and machines.

pysmt's formulas are nodes of a table of this process: they travel as a list of operators, and are entered into the
table of the process that reads them.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import Symbol, get_env
from pysmt.typing import BOOL, BVType, PySMTType

from bmc.formulas.evaluate import post_order

Row = tuple[int | None, tuple[int, ...], Any]
"""A node: operator, numbers of its arguments, payload. A symbol: None, nothing, its name and width (0: Boolean)."""


def dumps(thing: Any) -> bytes:
    """``thing``, which may hold formulas over Booleans and bit-vectors anywhere, as bytes."""
    body = io.BytesIO()
    pickler = _Pickler(body)
    pickler.dump(thing)
    order = post_order(pickler.formulas)
    number = {node: place for place, node in enumerate(order)}
    rows = [_row(node, number) for node in order]
    return pickle.dumps((rows, [number[formula] for formula in pickler.formulas], body.getvalue()))


def loads(data: bytes) -> Any:
    """What ``dumps`` made the bytes of. As with all pickled data, only from one's own processes."""
    rows, roots, body = pickle.loads(data)
    nodes: list[FNode] = []
    create = get_env().formula_manager.create_node
    for operator, arguments, payload in rows:
        if operator is None:
            nodes.append(Symbol(payload[0], BVType(payload[1]) if payload[1] else BOOL))
        else:
            nodes.append(create(operator, tuple(nodes[a] for a in arguments), payload))
    return _Unpickler(io.BytesIO(body), [nodes[root] for root in roots]).load()


def _row(node: FNode, number: dict[FNode, int]) -> Row:
    if node.is_symbol():
        kind: PySMTType = node.get_type()
        return None, (), (node.symbol_name(), 0 if kind.is_bool_type() else kind.width)
    return node.node_type(), tuple(number[a] for a in node.args()), node._content.payload


class _Pickler(pickle.Pickler):
    def __init__(self, body: io.BytesIO) -> None:
        super().__init__(body)
        self.formulas: list[FNode] = []
        self._places: dict[FNode, int] = {}

    def persistent_id(self, obj: Any) -> int | None:
        if not isinstance(obj, FNode):
            return None
        if obj not in self._places:
            self._places[obj] = len(self.formulas)
            self.formulas.append(obj)
        return self._places[obj]


class _Unpickler(pickle.Unpickler):
    def __init__(self, body: io.BytesIO, formulas: Sequence[FNode]) -> None:
        super().__init__(body)
        self._formulas = formulas

    def persistent_load(self, pid: int) -> FNode:
        return self._formulas[pid]
