"""``sprintf`` and ``snprintf``: passed over where nothing reads the text, which must fit its array."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bmc.errors import UnsupportedConstruct
from bmc.models.c.execute import arithmetic
from bmc.models.c.execute.first_members import is_character
from bmc.models.c.execute.memory import UNDEFINED, MemObject, Place, State, Value, live
from bmc.models.c.execute.prototypes import promoted
from bmc.models.c.source.program import Scope, unsupported
from bmc.models.c.source.types import ArrayType, FloatType, IntType

if TYPE_CHECKING:
    from bmc.models.c.execute.calls import Calls

_DIRECTIVE = re.compile(r"%([-+ #0]*)(\d*)(?:\.(\d*))?(hh|h|ll|l|z|)([diuxXocsfFeEgG%])")


class TextOutput:
    """Calls that write a text into an array of the program."""

    def __init__(self, executor: Calls) -> None:
        self.executor = executor
        self.functions: dict[str, Callable[[Any, Scope, State], None]] = {
            "sprintf": self._print,
            "snprintf": self._print,
        }

    def _print(self, node: Any, scope: Scope, state: State) -> None:
        executor, name = self.executor, node.name.name
        values = executor.arguments(node, scope, state)
        if node is not executor.discarded:
            raise _refused(f"'{name}', whose value is used", node, name)
        sized = name == "snprintf"
        if len(values) < 2 + sized or not isinstance(values[0], Value) or not isinstance(values[0].term, tuple):
            raise _refused(f"'{name}' with these arguments", node, name)
        size = arithmetic.constant_value(values[1]) if sized else self._longest(values[1], values[2:], node, name) + 1
        if sized:
            self._longest(values[2], values[3:], node, name)
        if size is None:
            raise _refused(f"'{name}' with a size that is not constant", node, name)
        executor.check_not_null(Place(values[0].targets, executor.model.basic["char"]), state, node)
        for guard, obj, path in live(values[0].targets):
            array, first = self._array(obj, node, name), int(path[-1]) if path else 0
            if first + size > (array.length or 0):
                raise _refused(f"'{name}' of up to {size} characters into '{obj.name}', which has fewer", node, name)
            for number in range(first, first + size):
                executor.set_cell((obj, (number,)), UNDEFINED, guard, state, node)
            obj.refusal = _refused(f"use of the text that '{name}' has written into '{obj.name}'", node, name)

    @staticmethod
    def _array(obj: MemObject, node: Any, name: str) -> ArrayType:
        """The array of characters, of one activation of a function, that an object is."""
        ctype = obj.ctype
        if obj.kind != "automatic" or not isinstance(ctype, ArrayType) or not is_character(ctype.element):
            raise _refused(f"'{name}' into '{obj.name}', which is no array of a block", node, name)
        return ctype

    def _longest(self, text: Any, values: list[Any], node: Any, name: str) -> int:
        """How many characters a format makes of these values at most. Refused if that is not known."""
        form = self._literal(text, node, name)
        rest, length, left = form, 0, list(values)
        while "%" in rest:
            before, rest = rest[: rest.index("%")], rest[rest.index("%") :]
            found = _DIRECTIVE.match(rest)
            if found is None:
                raise _refused(f"'{name}' with the format '{form}'", node, name)
            rest = rest[found.end() :]
            length += len(before)
            if found[5] == "%":
                length += 1
                continue
            if not left:
                raise _refused(f"'{name}' with fewer values than its format '{form}' takes", node, name)
            length += max(int(found[2] or 0), self._width(found, left.pop(0), node, name))
        return length + len(rest)

    def _literal(self, value: Any, node: Any, name: str) -> str:
        """The text of a string constant."""
        objects = [obj for _, obj, _ in live(value.targets)] if isinstance(value, Value) else []
        if len(objects) != 1 or objects[0].name != "(string)":
            raise _refused(f"'{name}' with a text that is no string constant", node, name)
        text = next(numbers for obj, numbers, _ in self.executor.strings.values() if obj is objects[0])
        return bytes(each & 255 for each in text[:-1]).split(b"\0")[0].decode("latin-1")

    def _width(self, found: re.Match[str], value: Any, node: Any, name: str) -> int:
        """The greatest number of characters of one value; its type must be the one that the format says."""
        model, kind = self.executor.model, found[5]
        ctype = promoted(value.ctype, model) if isinstance(value, Value) else None
        if kind == "s":
            return len(self._literal(value, node, name))
        digits = int(found[3] or 0) if found[3] is not None else 6
        if kind in "fFeEgG" and isinstance(ctype, FloatType) and ctype.bits == 64 and not found[4]:
            # beside the decimals, the longest %f has 309 digits, sign and point, %g and %e sign, point and exponent
            return digits + (312 if kind in "fF" else 9)
        bits = {"ll": model.long_long, "l": model.long, "z": model.pointer}.get(found[4], model.int_)
        if kind in "fFeEgG" or not isinstance(ctype, IntType) or ctype.bits != bits or (kind == "c" and found[4]):
            raise _refused(f"'{name}' with a value of another type than its format says", node, name)
        return 1 if kind == "c" else 3 + max(bits // 3 + 1, int(found[3] or 0))


def _refused(text: str, node: Any, name: str) -> UnsupportedConstruct:
    hint = f'if nothing depends on the text, define it away: sources.defines = {{ "{name}(...)" = "((void)0)" }}'
    return unsupported(text, node, hint)
