"""Inline assembly that the user says changes nothing but its outputs: what these hold afterwards is not known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pycparser import c_ast

from bmc.errors import UnsupportedConstruct
from bmc.formulas.terms import both
from bmc.models.c.execute.expressions import Evaluator
from bmc.models.c.execute.math_library import MathCalls
from bmc.models.c.execute.memory import State, Value
from bmc.models.c.source.program import Scope, unsupported, where
from bmc.models.c.source.types import FloatType, IntType
from bmc.models.undetermined import LibraryCall
from bmc.native.assembly import Operand, harmless


def how_to_list(texts: Sequence[str]) -> str:
    """What to do about statements with these texts."""
    listed = ", ".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in dict.fromkeys(texts))
    line = f"[sources] assembly = [{listed}]"
    return f"if it changes no data of the program but its outputs, say so: {line}; else write what it does in C"


class UnlistedAssembly(UnsupportedConstruct):
    """A statement that the project does not list. ``text`` holds its instructions, '' where these cannot be listed;
    ``harmless``: they are known to change nothing but its outputs."""

    text = ""
    harmless = False


class InlineAssembly:
    """Runs statements of inline assembly. ``listed`` are the texts of those that are passed over; ``passed`` are the
    places of those that were."""

    def __init__(self, executor: Evaluator, math: MathCalls) -> None:
        self.executor = executor
        self.math = math
        self.listed: frozenset[str] = frozenset()
        self.passed: dict[str, set[str]] = {}

    def run(self, node: Any, scope: Scope, state: State) -> None:
        """Evaluate the operands of a statement and set its outputs. UnlistedAssembly where that is not all."""
        first, *rest = node.args.exprs
        text = _value(first)
        if not rest:
            raise self._refusal(text, "of this form", node)
        outputs, inputs = ([Operand(word, "") for word in _value(each).split()] for each in rest[:2])
        places, values = rest[2 : 2 + len(outputs)], rest[2 + len(outputs) :]
        if not text:
            self._keep(list(zip(outputs, places, strict=True)), list(zip(inputs, values, strict=True)), scope, state)
            return
        if any(each.in_memory for each in inputs):
            raise self._refusal(text, "that is given a place in memory", node)
        if text not in self.listed:
            raise self._refusal(text, "", node, harmless(text))
        for operand in values:
            self.executor.evaluate(operand, scope, state)
        for output, operand in zip(outputs, places, strict=True):
            if output.constraint[0] == "+":
                self.executor.evaluate(operand, scope, state)
            self._set(text, operand, scope, state)
        place = where(node)
        self.passed.setdefault(text, set()).add(f"{Path(place.file).name}:{place.line}")

    def _keep(
        self, outputs: Sequence[tuple[Operand, Any]], inputs: Sequence[tuple[Operand, Any]], scope: Scope, state: State
    ) -> None:
        """Do a statement without instructions: an output has the value of the input that is in the same register."""
        values = {each.constraint: self.executor.evaluate(operand, scope, state) for each, operand in inputs}
        for number, (output, operand) in enumerate(outputs):
            if output.constraint[0] == "+":
                self.executor.evaluate(operand, scope, state)
                continue
            place, value = self.executor.place(operand, scope, state), values.get(str(number))
            if not isinstance(value, Value) or value.ctype != place.ctype:
                raise self._refusal("", "with an output that takes the value of no input of its type", operand)
            self.executor.store(place, value, state, operand)

    def _set(self, text: str, node: Any, scope: Scope, state: State) -> None:
        """Give an output a value of which nothing is known."""
        calls, place = self.math.undetermined, self.executor.place(node, scope, state)
        ctype = place.ctype
        if calls is None or not isinstance(ctype, IntType | FloatType):
            raise self._refusal(text, "whose output is no number, or stands in a property", node)
        symbol = ctype.value_type().symbol(f"asm#{len(calls) + 1}")
        reached = both(self.executor.recorder.base, state.pc)
        calls.append(LibraryCall(text, symbol, where(node), (), reached, assembly=True))
        self.executor.store(place, Value(symbol, ctype), state, node)

    @staticmethod
    def _refusal(text: str, kind: str, node: Any, is_harmless: bool = False) -> UnlistedAssembly:
        shown = unsupported(f"inline assembly '{text}'{f' {kind}' if kind else ''}", node)
        error = UnlistedAssembly(
            shown.message,
            shown.where,
            "leave it out in the model and in the original, with a macro in its place, or write what it does in C"
            if kind
            else how_to_list([text]),
        )
        error.text, error.harmless = ("" if kind else text), is_harmless
        return error


def _value(node: Any) -> str:
    """What a text literal of ours stands for."""
    assert isinstance(node, c_ast.Constant)
    return str(node.value)[1:-1].replace('\\"', '"').replace("\\\\", "\\")
