"""Character constants in the conditions of ``#if``: their values as gcc has them."""

from __future__ import annotations

import copy
import re
from typing import Any

from pcpp.evaluator import Evaluator

_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}
_PART = re.compile(r"\\([0-7]{1,3})|\\x([0-9a-fA-F]+)|\\(.)|(.)", re.S)


class ConditionEvaluator(Evaluator):  # type: ignore[misc]
    """pcpp's evaluator, with character constants of the target's (signed or unsigned) char."""

    def __init__(self, lexer: object, char_signed: bool) -> None:
        super().__init__(lexer)
        self.char_signed = char_signed

    def __call__(self, input: Any, functions: Any = {}, identifiers: Any = {}) -> Any:  # noqa: A002, B006 (as pcpp)
        """The value of the tokens of a condition."""
        tokens = [self._number(token) if getattr(token, "type", "") == "CPP_CHAR" else token for token in input]
        return super().__call__(tokens, functions, identifiers)

    def _number(self, token: Any) -> Any:
        result = copy.copy(token)
        result.type, result.value = "CPP_INTEGER", str(character(token.value, self.char_signed))
        return result


def character(text: str, char_signed: bool) -> int:
    """The value of a constant such as ``'a'``, ``'\\377'`` or ``L'a'``; SyntaxError where it has none."""
    wide = text.startswith("L")
    units: list[int] = []
    for octal, digits, escape, plain in _PART.findall(text[2 if wide else 1 : -1]):
        if octal or digits:
            units.append(int(octal, 8) if octal else int(digits, 16))
        elif escape:
            units.append(_ESCAPES.get(escape, ord(escape)))
        else:
            units += [ord(plain)] if wide else plain.encode("utf-8", "surrogateescape")
    if len(units) != 1 or units[0] > (0x7FFFFFFF if wide else 255):
        raise SyntaxError(f"character constant {text}")
    return units[0] - 256 if char_signed and not wide and units[0] > 127 else units[0]
