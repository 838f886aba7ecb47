"""Sums of a constant zero, and narrowed constants in initialisers: gcc 12 gets one of the two wrong, even at -O0.

Without -frounding-math, ``0.0f - x`` and ``0.0f + -x`` become ``-x`` where x is a converted integer or an absolute
value: the zero's sign is wrong for x = 0. Instead of 0.0f there may be any expression that gcc folds to a zero. With
-frounding-math, a double constant that is no float keeps its 8 bytes where it initialises a float of a struct or array
on the stack or of a compound literal, and what follows it in memory is shifted. Which files have either is noted here,
for ``bmc.native.build``; rather too much than too little, for that costs no more than a replay.
"""

from __future__ import annotations

import contextlib
from typing import Any

from pycparser import c_ast

from bmc.errors import InputRefused
from bmc.floats.format import FLOAT32, FLOAT64, canonical, number, pattern
from bmc.models.c.execute.arithmetic import constant_value, interval
from bmc.models.c.execute.memory import Value
from bmc.models.c.source.program import EnumConstant, Program, Scope, Unit, where
from bmc.models.c.source.rewritten import is_elvis
from bmc.models.c.source.types import FloatType, IntType

_ARITHMETIC = ("+", "-", "*", "/")
LONG = 1000
"""Expressions of more syntax nodes are not looked through."""


def note_zero_sum(program: Program, node: Any, left: Value, right: Value, scope: Scope) -> None:
    """Note in the unit of ``scope`` that the sum or difference at ``node`` may have a zero that gcc folds."""
    if not isinstance(left.ctype, FloatType) and not isinstance(right.ctype, FloatType):
        return
    unit = unit_of(program, scope)
    if unit is None or unit.zero_sum is not None:
        return
    if _may_be_zero(node.left, left, scope) or _may_be_zero(node.right, right, scope):
        unit.zero_sum = where(node)


def unit_of(program: Program, scope: Scope) -> Unit | None:
    """The unit whose file scope encloses ``scope``, None for an expression of the project's own."""
    *_, file = scope.outwards()
    return next((unit for unit in program.units if unit.scope is file), None)


def is_narrowed(value: Value, ctype: object) -> bool:
    """Whether ``value`` is a double constant that a conversion to ``ctype``, a float, changes."""
    if not isinstance(ctype, FloatType) or not isinstance(value.ctype, FloatType):
        return False
    if (value.ctype.bits, ctype.bits) != (64, 32) or not value.bits.is_constant():
        return False
    raw = int(value.bits.bv_unsigned_value())
    narrow = number(pattern(number(raw, FLOAT64), FLOAT32), FLOAT32)
    return pattern(narrow, FLOAT64) != canonical(raw, FLOAT64)


def _may_be_zero(node: Any, value: Value, scope: Scope) -> bool:
    """Whether a compiler may fold an operand with this value to a zero without knowing any object's value."""
    if isinstance(value.ctype, IntType):
        low, high = interval(value.bits, value.ctype)
        if low > 0 or high < 0 or constant_value(value) not in (0, None):
            return False
        return _folds(node, scope, False)
    if not isinstance(value.ctype, FloatType):
        return False
    if value.bits.is_constant() and int(value.bits.bv_unsigned_value()) not in (0, value.ctype.format.sign):
        return False
    return _folds(node, scope, True)


def _folds(node: Any, scope: Scope, real: bool) -> bool:
    """Whether a compiler may fold an expression to a constant; ``real`` if it is known to be a floating one."""
    while isinstance(node, c_ast.Cast | c_ast.ExprList | c_ast.Assignment) or _is_sign(node):
        real = real and _is_sign(node)
        if isinstance(node, c_ast.Assignment):
            node = node.rvalue
        else:
            node = node.exprs[-1] if isinstance(node, c_ast.ExprList) else node.expr
    if isinstance(node, c_ast.TernaryOp):
        return _folds(node.cond if is_elvis(node) else node.iftrue, scope, real) or _folds(node.iffalse, scope, real)
    if isinstance(node, c_ast.BinaryOp) and node.op in _ARITHMETIC and (real or _is_real(node)):
        if _folds(node.right, scope, False) and _folds(node.left, scope, False):
            return True
        return node.op in ("+", "-") and _folds_inside(node)
    if isinstance(node, c_ast.BinaryOp) or (isinstance(node, c_ast.UnaryOp) and node.op in ("!", "~")):
        return _folds_inside(node, scope)
    if isinstance(node, c_ast.FuncCall):
        return node.args is not None and all(_folds(item, scope, False) for item in node.args.exprs)
    return _is_constant(node, scope)


def _folds_inside(node: Any, scope: Scope | None = None) -> bool:
    """Whether a name stands twice in an expression, as in ``n - n``, or, given a scope, there is a constant in it."""
    seen: set[str] = set()
    todo, count = [node], 0
    while todo:
        item = todo.pop()
        count += 1
        if count > LONG or (scope is not None and _is_constant(item, scope)):
            return True
        if isinstance(item, c_ast.ID | c_ast.StructRef):
            name = item.name if isinstance(item, c_ast.ID) else item.field.name
            if name in seen:
                return True
            seen.add(name)
        else:
            todo += [child for _, child in item.children()]
    return False


def _is_constant(node: Any, scope: Scope) -> bool:
    if isinstance(node, c_ast.ID):
        with contextlib.suppress(InputRefused):  # in a part that is not evaluated
            return isinstance(scope.find(node.name), EnumConstant)
    sized = isinstance(node, c_ast.UnaryOp) and node.op in ("sizeof", "_Alignof")
    return sized or (isinstance(node, c_ast.Constant) and node.type != "string")


def _is_real(node: Any) -> bool:
    """Whether a floating constant makes the sum, product or quotient at ``node`` a floating one."""
    todo = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, c_ast.Constant) and item.type in ("float", "double"):
            return True
        if isinstance(item, c_ast.BinaryOp) and item.op in _ARITHMETIC:
            todo += [item.left, item.right]
        elif _is_sign(item):
            todo.append(item.expr)
    return False


def _is_sign(node: Any) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in ("+", "-")
