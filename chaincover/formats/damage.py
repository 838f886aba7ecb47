"""What is wrong with a result file that cannot be read: the first value that is not of the type of its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

WORDS = {
    "object": ("an object", dict),
    "array": ("a list", Sequence),
    "string": ("a text", str),
    "integer": ("a whole number", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "null": ("null", type(None)),
}
"""The types of JSON Schema, in words, and what values of them are in Python."""


def damage(error: Exception, data: object = None, schema: str = "") -> str:
    """What is wrong with the ``data`` of a file, by the ``error`` that reading it gave and the name of its ``schema``
    among those of this package; '' for a part that has none of its own."""
    if isinstance(error, KeyError):
        return f"there is no entry {error}"
    if isinstance(error, ValueError):
        return str(error)
    if not schema:
        return "a value has the wrong type"
    whole = _schema(schema)
    parts = {**_schema("chain").get("$defs", {}), **whole.get("$defs", {})}  # chains.json refers to those of chain.json
    return _misfit(data, whole, parts, "") or "a value has the wrong type"


def _schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(__file__).parent / "schemas" / f"{name}.json").read_text())
    return found


def _misfit(value: object, schema: dict[str, Any], parts: dict[str, Any], place: str) -> str:
    """The first value within ``value``, which stands at ``place``, that is not of the type of its ``schema``; ''."""
    if "$ref" in schema:
        return _misfit(value, parts[schema["$ref"].rpartition("/")[2]], parts, place)
    if "anyOf" in schema:
        found = [_misfit(value, other, parts, place) for other in schema["anyOf"]]
        return "" if "" in found else found[0]
    types = schema.get("type", [])
    expected = [WORDS[name] for name in ([types] if isinstance(types, str) else types)]
    if expected and not any(_is(value, kind) for _, kind in expected):
        return f"{place} is not {' or '.join(word for word, _ in expected)}"
    found_within = (
        _misfit(each, own, parts, where) for where, each, own in _entries(value, schema, place) if isinstance(own, dict)
    )
    return next(filter(None, found_within), "")


def _entries(value: object, schema: dict[str, Any], place: str) -> list[tuple[str, object, Any]]:
    """The values of which ``value`` consists, each with its place and its schema, if it has one."""
    if isinstance(value, dict):
        named, other = schema.get("properties", {}), schema.get("additionalProperties")
        return [(f"{place}.{key}" if place else key, each, named.get(key, other)) for key, each in value.items()]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [(f"{place}[{index}]", each, schema.get("items")) for index, each in enumerate(value)]
    return []


def _is(value: object, kind: Any) -> bool:
    """Whether it is of the ``kind`` itself: a text is no list, and a truth value no number."""
    return isinstance(value, kind) and (not isinstance(value, bool | str) or kind is type(value))
