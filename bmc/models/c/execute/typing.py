"""The types of expressions that are not evaluated, as far as their syntax and the types of their parts tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from bmc.models.c.execute.floating import common_arithmetic_type
from bmc.models.c.execute.memory import State
from bmc.models.c.source.program import Function, Scope
from bmc.models.c.source.rewritten import is_elvis
from bmc.models.c.source.types import ArrayType, CType, FloatType, IntType, PointerType, promote

if TYPE_CHECKING:
    from bmc.models.c.execute.lvalues import Lvalues

_TRUTHS = ("==", "!=", "<", ">", "<=", ">=", "&&", "||")


def static_type(evaluator: Lvalues, node: Any, scope: Scope, state: State) -> CType | None:
    """The type of an expression; None where it must be evaluated, in ``state``, to know that."""
    if isinstance(node, c_ast.Cast):
        return evaluator.types.read(node.to_type, scope)
    if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
        found = scope.find(node.name.name)
        return found.ctype.result if isinstance(found, Function) else None
    if isinstance(node, c_ast.Assignment):
        return evaluator.type_within(node.lvalue, scope, state)
    if isinstance(node, c_ast.ExprList):
        return decayed(evaluator.type_within(node.exprs[-1], scope, state))
    if isinstance(node, c_ast.Compound):
        return _of_block(evaluator, node, scope, state)
    if isinstance(node, c_ast.TernaryOp):
        then = node.cond if is_elvis(node) else node.iftrue
        return _common(evaluator, (then, node.iffalse), scope, state)
    if isinstance(node, c_ast.BinaryOp):
        return _of_binary(evaluator, node, scope, state)
    if isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-", "~", "!"):
        inner = evaluator.type_within(node.expr, scope, state)
        if node.op == "!":
            return evaluator.model.int_type
        return promote(inner, evaluator.model) if isinstance(inner, IntType) else inner
    return None


def decayed(ctype: CType) -> CType:
    """The type of a value that is read: an array is a pointer to its first element."""
    return PointerType(ctype.element) if isinstance(ctype, ArrayType) else ctype


def _common(evaluator: Lvalues, sides: tuple[Any, Any], scope: Scope, state: State) -> CType | None:
    left, right = (evaluator.type_within(side, scope, state) for side in sides)
    if isinstance(left, IntType | FloatType) and isinstance(right, IntType | FloatType):
        return common_arithmetic_type(left, right, evaluator.model)
    return None


def _of_binary(evaluator: Lvalues, node: Any, scope: Scope, state: State) -> CType | None:
    if node.op in _TRUTHS:
        return evaluator.model.int_type
    if node.op in ("<<", ">>"):
        left = evaluator.type_within(node.left, scope, state)
        return promote(left, evaluator.model) if isinstance(left, IntType) else None
    return _common(evaluator, (node.left, node.right), scope, state)


def _of_block(evaluator: Lvalues, node: Any, scope: Scope, state: State) -> CType | None:
    """The type of a statement expression: that of its last statement, where it is an expression."""
    *before, last = node.block_items or [None]
    inner = Scope(scope)
    for item in before:
        if isinstance(item, c_ast.Decl | c_ast.DeclList | c_ast.Typedef):
            evaluator.declare(item, inner, State())
    return decayed(evaluator.type_within(last, inner, state)) if evaluator.is_expression(last) else None
