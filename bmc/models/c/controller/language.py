"""C expressions over the variables of a model, as properties are written in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from pycparser import c_ast
from pysmt.fnode import FNode

from bmc.errors import InputRefused, Location
from bmc.models.c.controller.model import CModel
from bmc.models.c.execute.access import Accesses
from bmc.models.c.execute.arithmetic import from_condition
from bmc.models.c.execute.memory import Cells, Content, Key, State, last_common
from bmc.models.c.execute.recorder import Recorder
from bmc.models.c.execute.variables import variable_name
from bmc.models.c.source.program import EnumConstant, Scope
from bmc.models.c.source.types import PointerType
from bmc.models.model import Expression, Moment, Operator, Value
from bmc.records import dataclass
from bmc.system.transition import ValueType, conjunction

_T = TypeVar("_T")

_OPERATIONS = c_ast.BinaryOp, c_ast.TernaryOp, c_ast.Cast, c_ast.ExprList, c_ast.Constant, c_ast.Typename
_OF_ONE = ("!", "~", "-", "+")


@dataclass(frozen=True, slots=True)
class CExpression:
    """The syntax tree of an expression."""

    node: Any

    @property
    def call(self) -> tuple[str, Sequence[CExpression]] | None:
        node = self.node
        if not isinstance(node, c_ast.FuncCall) or not isinstance(node.name, c_ast.ID):
            return None
        return node.name.name, [CExpression(each) for each in (node.args.exprs if node.args else ())]

    @property
    def parts(self) -> Sequence[CExpression]:
        return [CExpression(child) for _, child in self.node.children()]

    @property
    def connective(self) -> str:
        node = self.node
        joins = isinstance(node, c_ast.BinaryOp | c_ast.UnaryOp) and node.op in ("&&", "||", "!")
        return str(node.op) if joins else ""

    @property
    def operation(self) -> bool:
        node = self.node
        return isinstance(node, _OPERATIONS) or (isinstance(node, c_ast.UnaryOp) and node.op in _OF_ONE)

    @property
    def name(self) -> str:
        return str(self.node.name) if isinstance(self.node, c_ast.ID) else ""


def _node(expression: Expression) -> Any:
    assert isinstance(expression, CExpression)
    return expression.node


class CLanguage:
    """Expressions over ``model``, as ``bmc.models.model.Language`` says; refused at ``where``."""

    def __init__(self, model: CModel, where: Location, operators: Collection[str]) -> None:
        self._model, self._where, self._operators = model, where, operators
        objects = dict.fromkeys(variable.key[0] for variable in model.variables)
        named = [obj for obj in objects if obj.kind == "return" or "::" in obj.name]
        self._spelled = {f"chaincover_name_{number}_": obj for number, obj in enumerate(named)}
        """Identifiers for what C has none for: ``f::x``, ``file.c::x``, ``return``."""
        self._step = 0
        self._scope = self._names()

    def parse(self, text: str) -> CExpression:
        for word, obj in self._spelled.items():
            text = re.sub(rf"(?<![\w:]){re.escape(obj.name)}(?!\w|::)", word, text)
        return CExpression(self._model.expand_and_parse(text, self._where))

    def apply(self, operation: str, *operands: Expression) -> CExpression:
        nodes = [_node(each) for each in operands]
        if operation in self._operators:
            return CExpression(c_ast.FuncCall(c_ast.ID(operation), c_ast.ExprList(nodes)))
        return CExpression((c_ast.UnaryOp if len(nodes) == 1 else c_ast.BinaryOp)(operation, *nodes))

    def number(self, value: int) -> CExpression:
        return CExpression(c_ast.Constant("int", str(value)))

    def constant(self, expression: Expression) -> int:
        return self._model.executor.constant(_node(expression), self._scope)

    def declares(self, name: str) -> bool:
        return self._scope.find(name) is not None

    def expanded(self, text: str) -> str:
        return self._model.expanded(text)

    def is_member(self, before: Sequence[str], name: str) -> bool:
        binding = self._scope.find(before[-1])
        if len(before) > 1 and before[-2] in (".", "->"):
            names = self._model.names
            members = {part for each in names for part in re.split(r"->|\.|\[.*?\]", each)[:-1]}
            return before[-1] in members and f"{before[-1]}->{name}" in " ".join(names)
        return isinstance(getattr(binding, "ctype", None), PointerType)

    def reads(self, expression: Expression, names: Collection[str]) -> bool | None:
        accesses, executor = Accesses(-1), self._model.executor

        def unnoted(inner: Expression, moment: Moment) -> Value:
            assert inner.call is not None
            assert isinstance(moment, _Moment)
            with executor.apart():
                return executor.evaluate(_node(inner.call[1][-1]), moment.scope, moment.state)

        state = self._model.memory.at(0)
        executor.noted_in.append(accesses)
        try:
            self._within(Recorder(), 0, unnoted, lambda: executor.evaluate(_node(expression), self._scope, state))
        except InputRefused:
            return None
        finally:
            executor.noted_in.remove(accesses)
        return not accesses.reads.isdisjoint(var.key for var in self._model.variables if var.name in names)

    def holds(self, expression: Expression, step: int, operator: Operator) -> FNode:
        recorder, state = Recorder(), self._model.memory.at(step)
        before, condition = state.cells.copied(), self._model.executor.condition
        holds = self._within(recorder, step, operator, lambda: condition(_node(expression), self._scope, state))
        self.refuse_changes(before, state)
        for place in recorder.undefined_behaviour:
            if place.formula.is_true():
                raise InputRefused(f"always undefined: {place.name}", self._where)
        return conjunction([holds, recorder.defined])

    def value(self, expression: Expression) -> tuple[FNode, FNode, ValueType]:
        recorder, state = Recorder(), self._model.memory.at(0)
        before, evaluate = state.cells.copied(), self._model.executor.value
        value = self._within(recorder, 0, None, lambda: evaluate(_node(expression), self._scope, state))
        self.refuse_changes(before, state)
        if isinstance(value.ctype, PointerType):
            raise InputRefused("a pointer is no value", self._where, "name what has a value")
        return value.bits, recorder.defined, value.ctype.value_type()

    def shown(self, message: str) -> str:
        for word, obj in self._spelled.items():
            message = message.replace(word, obj.name)
        return message

    def _within(self, recorder: Recorder, step: int, operator: Operator | None, work: Callable[[], _T]) -> _T:
        """Evaluate at ``step``; calls of operators go to ``operator``."""

        def hook(node: Any, scope: Scope, state: State) -> Value:
            assert operator is not None
            return operator(CExpression(node), _Moment(self, self._step, scope, state))

        outside, self._step = self._step, step
        hooks = dict.fromkeys(self._operators if operator is not None else (), hook)
        try:
            found: _T = self._model.with_names(recorder, self._where, work, **hooks)
            return found
        finally:
            self._step = outside

    def value_at(self, expression: Expression, step: int, scope: Scope, state: State) -> Value:
        """The value of ``expression`` at ``step``, where evaluation comes as it came to ``state``."""
        outside, self._step = self._step, step
        before = self._model.memory.at(step).cells
        there = State(before.copied(), state.pc)
        try:
            result = self._model.executor.evaluate(_node(expression), scope, there)
            self.refuse_changes(before, there)
            return result
        finally:
            self._step = outside

    def truth(self, value: Value) -> FNode:
        """When ``value`` is not 0."""
        return self._model.executor.truth_of(value)

    def of(self, formula: FNode) -> Value:
        """1 where ``formula`` holds, else 0."""
        return from_condition(formula, self._model.executor.model.int_type)

    def refuse_changes(self, before: Cells[Key, Content], state: State) -> None:
        """A condition looks at the state; one that changes it is most often '=' written for '=='."""
        opened, kept = state.cells.written_since(last_common(before, state.cells))
        for key in {**opened, **kept}:
            if key in before and state.cells.get(key) != before[key]:
                text = f"the condition changes '{variable_name(*key)}'"
                raise InputRefused(text, self._where, "compare with '=='; a condition may only read")

    def _names(self) -> Scope:
        scope = self._model.scope()
        scope.names.update(self._spelled)
        for word, value in (("true", 1), ("false", 0)):
            if scope.find(word) is None:
                scope.names[word] = EnumConstant(value)
        return scope


@dataclass(frozen=True, slots=True)
class _Moment:
    """Where an operator is evaluated, with the scope and the memory there."""

    language: CLanguage
    step: int
    scope: Scope
    state: State

    def value(self, expression: Expression, step: int) -> Value:
        return self.language.value_at(expression, step, self.scope, self.state)

    def truth(self, value: Value) -> FNode:
        return self.language.truth(value)

    def of(self, formula: FNode) -> Value:
        return self.language.of(formula)
