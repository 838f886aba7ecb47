"""Expressions over the variables of a machine: ``state == s1 && input != "a / b"``.

A bare word is a variable, else what a value of the other side of ``==`` or ``!=`` is called. In double quotes, where
``\\`` stands before a quote or a backslash, it is always that. The operators bind as in C.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE

from bmc.errors import InputRefused, Location
from bmc.formulas.terms import both, either, negate
from bmc.formulas.unroll import framed
from bmc.limits import whole_number
from bmc.models.model import Operator, UnknownFunction
from bmc.records import dataclass
from bmc.system.names import suggestion
from bmc.system.transition import BOOLEAN, ValueType, equal


@dataclass(frozen=True, slots=True)
class MachineVariable:
    """One of the variables of a machine; ``values`` are its values by what they are called."""

    name: str
    type: ValueType
    role: str
    values: Mapping[str, int]
    file: str = ""

    def each(self) -> dict[str, FNode]:
        """For each of its values, by name, that it has it: a formula over its plain symbol."""
        symbol = self.type.symbol(self.name)
        return {name: equal(symbol, self.type.constant(value)) for name, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Node:
    """An expression. ``kind`` is ``word``, ``quoted``, ``number``, ``call`` or the sign of an operation."""

    kind: str
    text: str
    parts: tuple[Node, ...] = ()

    @property
    def call(self) -> tuple[str, Sequence[Node]] | None:
        return (self.text, self.parts) if self.kind == "call" else None

    @property
    def connective(self) -> str:
        return self.kind if self.kind in ("&&", "||", "!") else ""

    @property
    def operation(self) -> bool:
        return self.kind not in ("word", "call")

    @property
    def name(self) -> str:
        return self.text if self.kind == "word" else ""


@dataclass(frozen=True, slots=True)
class Typed:
    """A framed term with the type of its value."""

    term: FNode
    type: ValueType


Value = Typed | str
"""A string is what a value is called, until the other side of a comparison tells its type."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Where an operator of properties is evaluated."""

    language: MachineLanguage
    step: int
    operator: Operator

    def value(self, expression: Any, step: int) -> Value:
        return self.language.evaluated(expression, step, self.operator)

    def truth(self, value: Value) -> FNode:
        return self.language.truth(value)

    def of(self, formula: FNode) -> Value:
        return Typed(formula, BOOLEAN)


_TOKEN = re.compile(r'(?P<blank>\s+)|(?P<operand>"(?:[^"\\]|\\.)*+"|\w+)|(?P<sign>&&|\|\||[=!]=|[!(),])|.', re.S)
_PYTHON = {"&&": " and ", "||": " or ", "!": "~"}
"""Signs of Python that bind as these do."""


@dataclass(frozen=True)
class MachineLanguage:
    """The language over ``variables``. What is refused is refused at ``where``; all calls are of ``operators``."""

    variables: Mapping[str, MachineVariable]
    where: Location
    operators: Collection[str]

    def parse(self, text: str) -> Node:
        source = ""
        operands: list[str] = []
        for found in _TOKEN.finditer(text.strip()):
            if found.lastgroup is None:
                raise self._refused(f"cannot read the expression '{text.strip()}': '{found[0]}' cannot stand in it")
            if found.lastgroup == "operand":
                source += f"x{len(operands)}"
                operands.append(found[0])
            else:
                source += " " if found.lastgroup == "blank" else _PYTHON.get(found[0], found[0])
        try:
            return self._node(ast.parse(source, mode="eval").body, operands)
        except (SyntaxError, RecursionError, MemoryError):
            hint = 'write comparisons with == and !=, joined by !, && and ||; a name with blanks or signs as "a / b"'
            raise self._refused(f"cannot read the expression '{text.strip()}'", hint) from None

    def _node(self, tree: ast.expr, operands: Sequence[str]) -> Node:
        """The expression that Python's syntax tree is meant for. SyntaxError if it is none."""
        match tree:
            case ast.Name(place):
                text = operands[int(place[1:])]
                if text.startswith('"'):
                    return Node("quoted", re.sub(r'\\(["\\])', r"\1", text[1:-1]))
                return Node("number" if text.isdecimal() else "word", text)
            case ast.UnaryOp(ast.Invert(), operand):
                return Node("!", "!", (self._node(operand, operands),))
            case ast.BoolOp(operation, values):
                sign = "&&" if isinstance(operation, ast.And) else "||"
                return reduce(lambda *sides: Node(sign, sign, sides), (self._node(value, operands) for value in values))
            case ast.Compare(left, [ast.Eq() | ast.NotEq() as operation], [right]):
                sign = "==" if isinstance(operation, ast.Eq) else "!="
                return Node(sign, sign, (self._node(left, operands), self._node(right, operands)))
            case ast.Call(ast.Name() as function, arguments, []):
                name = self._node(function, operands).text
                if name not in self.operators:
                    raise UnknownFunction(f"'{name}' is no operator", self.where)
                return Node("call", name, tuple(self._node(argument, operands) for argument in arguments))
        raise SyntaxError

    def apply(self, operation: str, *operands: Any) -> Node:
        return Node("call" if operation in self.operators else operation, operation, operands)

    def number(self, value: int) -> Node:
        return Node("number", str(value))

    def constant(self, expression: Any) -> int:
        if expression.kind != "number":
            raise self._refused("a whole number has to stand here")
        return whole_number(expression.text, 10, self.where)

    def declares(self, name: str) -> bool:
        return name in self.variables or any(name in each.values for each in self.variables.values())

    def expanded(self, text: str) -> str:
        return text

    def is_member(self, before: Sequence[str], name: str) -> bool:
        return False

    def reads(self, expression: Any, names: Collection[str]) -> bool:
        if not expression.parts:
            return expression.name in self.variables and expression.name in names
        return not expression.call and any(self.reads(part, names) for part in expression.parts)

    def holds(self, expression: Any, step: int, operator: Operator) -> FNode:
        return self.truth(self.evaluated(expression, step, operator))

    def value(self, expression: Any) -> tuple[FNode, FNode, ValueType]:
        found = self.evaluated(expression, 0, self._no_operator)
        typed = found if isinstance(found, Typed) else Typed(self.truth(found), BOOLEAN)
        return typed.term, TRUE(), typed.type

    def _no_operator(self, call: Any, moment: Any) -> Value:
        raise UnknownFunction(f"'{call.text}' looks at another step", self.where)

    def shown(self, message: str) -> str:
        return message

    def _refused(self, text: str, hint: str = "") -> InputRefused:
        return InputRefused(text, self.where, hint)

    def evaluated(self, expression: Node, step: int, operator: Operator) -> Value:
        """The value of an expression at ``step``."""
        if expression.kind == "call":
            found: Value = operator(expression, Moment(self, step, operator))
            return found
        if variable := self.variables.get(expression.name):
            return Typed(framed(variable.type.symbol(variable.name), step), variable.type)
        if not expression.parts:
            return expression.text
        values = [self.evaluated(part, step, operator) for part in expression.parts]
        if expression.kind in ("==", "!="):
            same = self._same(*values)
            return Typed(same if expression.kind == "==" else negate(same), BOOLEAN)
        truths = [self.truth(value) for value in values]
        if expression.kind == "!":
            return Typed(negate(*truths), BOOLEAN)
        return Typed(both(*truths) if expression.kind == "&&" else either(*truths), BOOLEAN)

    def truth(self, value: Value) -> FNode:
        """When ``value`` is true."""
        if value in ("true", "false"):
            return TRUE() if value == "true" else FALSE()
        if isinstance(value, str):
            raise self._refused(f"unknown name '{value}'", suggestion(value, self.variables))
        if value.type != BOOLEAN:
            raise self._refused(f"'{value.type.name}' is no condition", f"compare it: {value.type.name} == ...")
        return value.term

    def _same(self, left: Value, right: Value) -> FNode:
        """When two values are the same."""
        if isinstance(left, str):
            left, right = right, left
        if isinstance(left, str):
            raise self._refused(f"neither '{right}' nor '{left}' is a variable", suggestion(left, self.variables))
        if isinstance(right, str) and left.type == BOOLEAN:
            right = Typed(self.truth(right), BOOLEAN)
        elif isinstance(right, str):
            values = self.variables[left.type.name].values
            if right not in values:
                raise self._refused(f"'{right}' is no value of '{left.type.name}'", suggestion(right, values))
            right = Typed(left.type.constant(values[right]), left.type)
        if left.type != right.type:
            hint = f'what a value is called like a variable stands in double quotes: "{right.type.name}"'
            raise self._refused(f"'{left.type.name}' has no value in common with '{right.type.name}'", hint)
        return equal(left.term, right.term)
