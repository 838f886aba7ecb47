"""The text of an expression, as messages and goals show it: what ``rewritten`` changed is shown as it was."""

from __future__ import annotations

from typing import Any

from pycparser import c_ast
from pycparser.c_generator import CGenerator

from bmc.models.c.source.rewritten import AUTO, COMPATIBLE, GENERIC, TYPEOF, is_elvis, pairs_of, range_of, type_marker


def shown(node: Any, reduced: bool = False) -> str:
    """An expression's text on one line; with ``reduced`` without brackets that are not needed."""
    text = str(_Generator(reduce_parentheses=reduced)._visit_expr(node))
    return " ".join(text.split()) if reduced or "\n" in text else text


class _Generator(CGenerator):  # type: ignore[misc]
    def _visit_expr(self, n: Any, **options: Any) -> str:
        if isinstance(n, c_ast.Compound):
            return f"({self.visit(n).strip()})"
        return str(super()._visit_expr(n, **options))

    def _is_simple_node(self, n: Any) -> bool:
        return isinstance(n, c_ast.Compound) or bool(super()._is_simple_node(n))

    def visit_TernaryOp(self, n: Any) -> str:  # noqa: N802
        ends = range_of(n)
        if ends is not None:
            return f"{self._visit_expr(ends[0])} ... {self._visit_expr(ends[1])}"
        if is_elvis(n):
            return f"({self._visit_expr(n.cond)}) ?: ({self._visit_expr(n.iffalse)})"
        return str(super().visit_TernaryOp(n))

    def visit_Struct(self, n: Any) -> str:  # noqa: N802
        kind, size = type_marker(n)
        if kind == TYPEOF:
            return f"typeof({self.visit(size.expr)})"
        return "__auto_type" if kind == AUTO else str(super().visit_Struct(n))

    def visit_FuncCall(self, n: Any) -> str:  # noqa: N802
        name = n.name.name if isinstance(n.name, c_ast.ID) else ""
        if name == GENERIC:
            pairs = [f"{'default' if t is None else self.visit(t)}: {self._visit_expr(e)}" for t, e in pairs_of(n)]
            return f"_Generic({', '.join([self._visit_expr(n.args.exprs[0]), *pairs])})"
        if name == COMPATIBLE:
            return f"{name}({', '.join(self.visit(each.expr) for each in n.args.exprs)})"
        return str(super().visit_FuncCall(n))
