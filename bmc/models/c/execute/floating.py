"""Integers and floating-point numbers alike: constants (C11 6.4.4), conversions (C11 6.3.1), operators, truth.

Two integers are left to ``arithmetic``. A floating value is its IEEE-754 pattern, computed in its own type
(FLT_EVAL_METHOD 0), rounded to nearest, ties to even. Division by zero and overflow are defined (C11 annex F);
conversion to an integer type that cannot hold the truncated value is not, and is told to the callback.
"""

from __future__ import annotations

import re
from typing import Any

from pysmt.fnode import FNode

from bmc.floats import arithmetic as numbers
from bmc.floats import compare as comparisons
from bmc.floats.format import Format, read
from bmc.formulas.terms import constant, is_false, negate
from bmc.limits import whole_number
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.arithmetic import COMPARISONS, Undefined, from_condition
from bmc.models.c.execute.memory import Value
from bmc.models.c.source.program import unsupported, where
from bmc.models.c.source.tokens import CHARACTERS, ESCAPES
from bmc.models.c.source.types import Arithmetic, DataModel, FloatType, IntType, common_type

_PLAIN = "'\"?\\"


def read_constant(node: Any, model: DataModel) -> Value:
    """The value of an integer, floating or character constant; ``long double`` is refused."""
    if node.type == "char" or "'" in node.value:
        characters = characters_of(node.value[1:-1], node) if node.value.startswith("'") else []
        if len(characters) != 1:
            raise unsupported(f"character constant {node.value}", node)
        raw = characters[0]
        char = model.basic["char"]
        signed = raw - 256 if char.signed and raw > 127 else raw
        return Value(constant(signed, model.int_type.bits), model.int_type)
    if "int" not in node.type:
        return _floating_constant(node, model)
    text = node.value.rstrip("uUlL")
    suffix = node.value[len(text) :].lower()
    number = whole_number(text, 8 if _is_octal(text) else 0, where(node))
    ctype = _integer_type(number, suffix, decimal=text[0] != "0" or text == "0", model=model)
    if ctype is None:
        raise unsupported(f"integer constant {node.value} (too large)", node)
    return Value(constant(number, ctype.bits), ctype)


def _floating_constant(node: Any, model: DataModel) -> Value:
    """A decimal or hexadecimal constant, rounded once to its type; one that is too large is infinite, as gcc has it."""
    ctype = FloatType(node.type, {"float": 32, "double": model.double}.get(node.type, model.long_double))
    if not ctype.readable:
        raise unsupported(f"{node.type} constant {node.value}", node)
    text = node.value if node.type == "double" else node.value[:-1]
    try:
        raw = read(text, ctype.format)
    except OverflowError:
        raw = ctype.format.infinity
    return Value(constant(raw, ctype.bits), ctype)


def _is_octal(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text[1].isdigit()


def _integer_type(number: int, suffix: str, decimal: bool, model: DataModel) -> IntType | None:
    ranks = ["int", "long", "long long"][suffix.count("l") :]
    for name in ranks:
        choices = [f"unsigned {name}"] if "u" in suffix else [name] if decimal else [name, f"unsigned {name}"]
        for choice in choices:
            if number <= model.basic[choice].greatest:
                return model.basic[choice]
    return None


def string_of(node: Any) -> list[int]:
    """The bytes of a string literal and its closing 0; wide strings are refused."""
    prefix = node.value[: node.value.index('"')]
    if prefix not in ("", "u8"):
        raise unsupported(f"wide string {node.value}", node)
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', node.value, re.S)  # the parser may leave adjacent literals apart
    return [*(number for part in parts for number in characters_of(part, node)), 0]


def characters_of(text: str, node: Any) -> list[int]:
    """The bytes of the inside of a character constant or string literal."""
    result: list[int] = []
    for octal, digits, escape, plain in CHARACTERS.findall(text):
        if plain:
            result.extend(plain.encode("utf-8", "surrogateescape"))
        elif octal or digits:
            result.append((int(octal, 8) if octal else int(digits, 16)) & 255)
        elif escape in ESCAPES or escape in _PLAIN:
            result.append(ESCAPES.get(escape, ord(escape)))
        else:
            raise unsupported(f"escape sequence '\\{escape}'", node)
    return result


_OPERATORS = {
    "+": numbers.add,
    "-": numbers.subtract,
    "*": numbers.multiply,
    "/": numbers.divide,
}
OPERATORS = frozenset([*_OPERATORS, *COMPARISONS])
"""The binary operators that floating operands may have."""


def common_arithmetic_type(left: Arithmetic, right: Arithmetic, model: DataModel) -> Arithmetic:
    """The usual arithmetic conversions (C11 6.3.1.8)."""
    if isinstance(left, IntType) and isinstance(right, IntType):
        return common_type(left, right, model)
    if isinstance(left, FloatType) and isinstance(right, FloatType):
        return left if left.bits >= right.bits else right
    return left if isinstance(left, FloatType) else right


def convert(value: Value, ctype: Arithmetic, undefined: Undefined) -> Value:
    """Conversion between any two arithmetic types."""
    old = value.ctype
    if isinstance(old, FloatType):
        if isinstance(ctype, IntType):
            return _to_integer(value.bits, old, ctype, undefined)
        if old.bits == ctype.bits:
            return Value(value.bits, ctype)
        return Value(numbers.resize(value.bits, old.format, ctype.format), ctype)
    assert isinstance(old, IntType)
    if isinstance(ctype, IntType):
        return arithmetic.convert(value, ctype)
    return Value(numbers.from_int(value.bits, old.signed, ctype.format), ctype)


def _to_integer(term: FNode, old: FloatType, ctype: IntType, undefined: Undefined) -> Value:
    if ctype.is_bool:
        return from_condition(negate(comparisons.is_zero(term, old.format)), ctype)
    found, in_range = numbers.to_int(term, old.format, ctype.bits, ctype.signed)
    undefined(f"{old.name} out of the range of {ctype.name} in a conversion", negate(in_range))
    return Value(found, ctype)


def exact(value: Value, ctype: Arithmetic) -> Value:
    """A conversion that cannot be undefined, as to a common type."""
    return convert(value, ctype, _impossible)


def _impossible(kind: str, when: FNode) -> None:
    if not is_false(when):
        raise AssertionError(f"{kind} where there is nothing undefined")


def truth(value: Value) -> FNode:
    """When an arithmetic value compares unequal to 0 (a NaN does)."""
    if isinstance(value.ctype, FloatType):
        return negate(comparisons.is_zero(value.bits, value.ctype.format))
    return arithmetic.truth(value)


def unary(op: str, value: Value, model: DataModel, undefined: Undefined) -> Value:
    """``+`` and ``-`` of any arithmetic value, ``~`` of an integer."""
    if not isinstance(value.ctype, FloatType):
        return arithmetic.unary(op, value, model, undefined)
    return Value(comparisons.negate(value.bits, value.ctype.format), value.ctype) if op == "-" else value


def binary(op: str, left: Value, right: Value, model: DataModel, undefined: Undefined) -> Value:
    """Any binary operator on two arithmetic values except ``&& || ,``; one of ``OPERATORS`` if one is floating."""
    assert isinstance(left.ctype, IntType | FloatType)
    assert isinstance(right.ctype, IntType | FloatType)
    ctype = common_arithmetic_type(left.ctype, right.ctype, model)
    if isinstance(ctype, IntType):
        return arithmetic.binary(op, left, right, model, undefined)
    a, b = exact(left, ctype).bits, exact(right, ctype).bits
    if op in COMPARISONS:
        return from_condition(compare(op, a, b, ctype.format), model.int_type)
    return Value(_OPERATORS[op](a, b, ctype.format), ctype)


def compare(op: str, a: FNode, b: FNode, form: Format) -> FNode:
    """A comparison of two patterns of one format; with a NaN only ``!=`` holds."""
    if op in ("==", "!="):
        same = comparisons.equal(a, b, form)
        return same if op == "==" else negate(same)
    if op in (">", ">="):
        a, b = b, a
    return (comparisons.less if op in ("<", ">") else comparisons.less_equal)(a, b, form)
