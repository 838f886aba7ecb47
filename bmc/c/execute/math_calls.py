"""Calls of the functions of <math.h>, and of those of the program that are known by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bmc.c.execute import floating
from bmc.c.execute.math_library import FUNCTIONS, ONLY_TRUTH, UNKNOWN, MathFunction
from bmc.c.execute.memory import State, Value
from bmc.c.execute.nonfinite import stand_in
from bmc.c.source.program import Function, Scope, where
from bmc.c.source.types import FloatType, IntType, PointerType
from bmc.errors import InputRefused, UnsupportedConstruct

if TYPE_CHECKING:
    from bmc.c.execute.calls import Calls


class MathCalls:
    """Evaluates the arguments of a call and leaves the rest to ``bmc.c.execute.math_library``."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor

    @staticmethod
    def knows(name: str) -> bool:
        """Whether ``call`` is to be asked about a function that is not defined; it may refuse."""
        return name in FUNCTIONS or name in UNKNOWN

    def call(self, name: str, node: Any, scope: Scope, state: State) -> Value:
        """The result of a call. UnsupportedConstruct, with its place, for a function whose results are not fixed."""
        function = scope.find(name)
        own = stand_in(function) if isinstance(function, Function) else None
        if name in ONLY_TRUTH and node is not self.executor.asked:
            raise UnsupportedConstruct(
                "unsupported C construct: 'signbit' used as a number: only whether it is 0 is defined",
                where(node),
                "write signbit(x) != 0, whose value is 0 or 1",
            )
        if own is not None:
            assert isinstance(function, Function)
            assert isinstance(function.ctype.result, IntType | FloatType)
            return floating.exact(self._result(own, node, scope, state), function.ctype.result)
        if name not in FUNCTIONS:
            raise UnsupportedConstruct(
                f"unsupported C construct: '{name}' of <math.h>, whose results depend on the library",
                where(node),
                f"define '{name}' in a source file, such as a table with interpolation: model and replay then use that",
            )
        known = FUNCTIONS[name]
        if isinstance(function, Function) and not known.agrees(function.ctype, self.executor.model):
            raise InputRefused(f"'{name}' is declared otherwise than in <math.h>", where(node))
        return self._result(known, node, scope, state)

    def _result(self, function: MathFunction, node: Any, scope: Scope, state: State) -> Value:
        values = self._numbers(function, node, scope, state) if function.arity else []
        suspect = self.executor.suspecting(state, node)
        result = function.call(values, self.executor.model, suspect)
        if result is None:
            raise InputRefused(f"{node.name.name} needs a floating-point number", where(node))
        return result

    def _numbers(self, function: MathFunction, node: Any, scope: Scope, state: State) -> list[Value]:
        """The arguments, converted to the type of the parameters."""
        values: list[Value] = []
        for value in self.executor.arguments(node, scope, state):
            if not isinstance(value, Value) or isinstance(value.ctype, PointerType):
                raise InputRefused(f"{node.name.name} needs numbers", where(node))
            values.append(floating.exact(value, function.ctype) if function.ctype is not None else value)
        if len(values) != function.arity:
            text = f"{node.name.name} takes {function.arity} argument(s), not {len(values)}"
            raise InputRefused(text, where(node))
        return values
