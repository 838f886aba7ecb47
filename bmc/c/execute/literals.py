"""C constants: integers with their type by C11 6.4.4.1, floating constants, characters, strings."""

from __future__ import annotations

import re
from typing import Any

from bmc.c.execute.memory import Value
from bmc.c.source.preprocess import CHARACTERS, ESCAPES
from bmc.c.source.program import unsupported
from bmc.c.source.types import DataModel, FloatType, IntType
from bmc.floats.format import read
from bmc.formulas.terms import constant

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
        return _floating_constant(node)
    text = node.value.rstrip("uUlL")
    suffix = node.value[len(text) :].lower()
    number = int(text, 0) if not _is_octal(text) else int(text, 8)
    ctype = _integer_type(number, suffix, decimal=text[0] != "0" or text == "0", model=model)
    if ctype is None:
        raise unsupported(f"integer constant {node.value} (too large)", node)
    return Value(constant(number, ctype.bits), ctype)


def _floating_constant(node: Any) -> Value:
    """A decimal or hexadecimal constant, rounded once to its type; one that is too large is infinite, as gcc has it."""
    if node.type not in ("float", "double"):
        raise unsupported(f"{node.type} constant {node.value}", node)
    ctype = FloatType(node.type, 32 if node.type == "float" else 64)
    text = node.value[:-1] if node.type == "float" else node.value
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
