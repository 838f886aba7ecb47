"""Helper functions for NaN and infinity that Embedded Coder's code carries (rt_nonfinite.c, rtGetInf.c, rtGetNaN.c).

Older ones look at a number's bits through unions, which are not read. Where a function has such a name, the parameters
and the result that go with it, and a union in its body, it is taken for what its name says.
"""

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from bmc.c.execute.math_library import FUNCTIONS, MathFunction, infinity
from bmc.c.source.program import Function, Scope, Typedef
from bmc.c.source.types import ArrayType, CType, FloatType, IntType, StructType

_MEANINGS = {"rtIsNaN": "isnan", "rtIsInf": "isinf", "rtGetNaN": "nan", "rtGetInf": "inf", "rtGetMinusInf": "-inf"}


def stand_in(function: Function) -> MathFunction | None:
    """What ``function`` does; None if its body is to be read."""
    narrow = function.name.endswith("F")
    meaning = _MEANINGS.get(function.name.removesuffix("F"))
    if meaning is None or function.node is None:
        return None
    test = meaning in ("isnan", "isinf")
    bits = 32 if narrow else 64
    numbers = [ctype for _, ctype in function.ctype.parameters] if test else [function.ctype.result]
    fits = len(numbers) == 1 and isinstance(numbers[0], FloatType) and numbers[0].bits == bits
    fits = fits and (isinstance(function.ctype.result, IntType) if test else not function.ctype.parameters)
    if not fits or not _uses_union(function.node.body, function.unit.scope):
        return None
    number = numbers[0]
    assert isinstance(number, FloatType)
    if meaning in ("inf", "-inf"):
        return infinity(number, minus=meaning == "-inf")
    return FUNCTIONS[f"__builtin_{meaning}{'f' if narrow and not test else ''}"]


def _uses_union(node: Any, scope: Scope) -> bool:
    if isinstance(node, c_ast.Union):
        return True
    if isinstance(node, c_ast.IdentifierType) and len(node.names) == 1:
        found = scope.find(node.names[0])
        return isinstance(found, Typedef) and _holds_union(found.ctype)
    return any(_uses_union(child, scope) for _, child in node.children())


def _holds_union(ctype: CType) -> bool:
    if isinstance(ctype, ArrayType):
        return _holds_union(ctype.element)
    if not isinstance(ctype, StructType):
        return False
    return ctype.is_union or any(_holds_union(member.type) for member in ctype.fields or ())
