"""``chain.json`` and ``chains.json`` read as data, however long the chains in them are.

What is stored of a chain may have a million steps: as Python objects these take some ten times as much memory as their
text. So lists of steps stay text, of which an item is read whenever it is asked for.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any, overload

from bmc import footprint
from bmc.errors import Location
from bmc.limits import (
    DIGITS,
    NESTED_DATA,
    InputLimit,
    KeyTwice,
    check_data,
    json_decoder,
    read_json,
    read_text,
    text_of,
)

STEPS = frozenset({"steps", "inputs"})
"""The keys under which lists of steps stand."""
AROUND = frozenset({"", "chain", "goals", "verdicts", "requirements", "rulings", "test"})
"""The keys on the way there, '' for the whole document: objects, and lists of these."""

_space = re.compile(r"[ \t\n\r]*").match


def read_result(place: Path, what: str, next_step: str = "") -> Any:
    """The data in the JSON file ``place``, as ``read_json`` gives it, but for lists of steps, which are ``Steps``.

    InputRefused, with its place, if ``what`` cannot be read there.
    """
    return result_data(read_text(place, what, next_step, most=most_bytes()), Location(str(place)))


def read_result_of(place: Path) -> Any:
    """As ``read_result``, but OSError and UnicodeDecodeError where ``place`` is no text file that can be read."""
    return result_data(text_of(place, most=most_bytes()), Location(str(place)))


def most_bytes() -> InputLimit:
    """Results have as many bytes as one search may take: how long a chain may be is for ``generate`` to say."""
    most = footprint.part(footprint.machine())
    return InputLimit(
        "bytes in this result", most, "read it where there is more memory, or write CHAIN as a table (CSV)"
    )


def result_data(text: str, where: Location) -> Any:
    """The data in the ``text`` of a result. InputRefused with the place of what is wrong in it."""
    return read_json(text, where, lambda own: _Reader(own, where).document())


def whole_members(text: str, where: Location) -> dict[str, Any]:
    """The members of the object in a ``text`` that is cut off, up to the first one that is not whole."""
    found: dict[str, Any] = {}
    read_json(text, where, lambda own: _Reader(own, where).members(found))
    return found


class Steps(Sequence[Any]):
    """The items of a list in a JSON ``text``, from their ``starts`` on; each is read again whenever it is asked for."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self._text, self._starts, self._read = text, starts, JSONDecoder().raw_decode

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Any]:
        return (self._read(self._text, start)[0] for start in self._starts)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> Steps: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return Steps(self._text, self._starts[place])
        return self._read(self._text, self._starts[place])[0]


class _Reader:
    """Reads one text. What is not on the way to lists of steps is read by the library as a whole."""

    def __init__(self, text: str, where: Location) -> None:
        self._text, self._where = text, where
        self._read = json_decoder().raw_decode

    def document(self) -> Any:
        """The whole text. ValueError if it is no JSON."""
        value, end = self._value("", self._after(0))
        if end < len(self._text):
            raise JSONDecodeError("Extra data", self._text, end)
        return value

    def members(self, found: dict[str, Any]) -> dict[str, Any]:
        """Enter the members of the object into ``found`` as far as they are whole."""
        with suppress(JSONDecodeError):
            begin = self._after(0)
            if self._text[begin : begin + 1] == "{":
                self._items(self._after(begin + 1), "}", lambda at: self._pair(at, found))
        return found

    def _after(self, place: int) -> int:
        """The first place from ``place`` on that is no white space."""
        found = _space(self._text, place)
        return place if found is None else found.end()

    def _value(self, key: str, place: int) -> tuple[Any, int]:
        """The value at ``place``, which stands under ``key``, and the place behind it and white space."""
        first = self._text[place : place + 1]
        if first == "{" and key in AROUND:
            return self._object(self._after(place + 1))
        if first == "[" and key in STEPS:
            return self._steps(self._after(place + 1))
        if first == "[" and key in AROUND:
            found: list[Any] = []
            return found, self._items(self._after(place + 1), "]", lambda at: self._item(key, at, found))
        value, end = self._read(self._text, place)
        return value, self._after(end)

    def _item(self, key: str, place: int, found: list[Any]) -> int:
        value, end = self._value(key, place)
        found.append(value)
        return end

    def _items(self, place: int, close: str, item: Any) -> int:
        """Read by ``item``, which gets a place and gives that behind it, until ``close``; the place behind that."""
        text = self._text
        if text[place : place + 1] != close:
            place = item(place)
            while text[place : place + 1] == ",":
                place = item(self._after(place + 1))
            if text[place : place + 1] != close:
                raise JSONDecodeError("Expecting ',' delimiter", text, place)
        return self._after(place + 1)

    def _object(self, place: int) -> tuple[Any, int]:
        pairs: dict[str, Any] = {}
        return pairs, self._items(place, "}", lambda at: self._pair(at, pairs))

    def _pair(self, place: int, pairs: dict[str, Any]) -> int:
        text = self._text
        if text[place : place + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, place)
        key, end = self._read(text, place)
        end = self._after(end)
        if text[end : end + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, end)
        if key in pairs:
            raise KeyTwice
        pairs[key], end = self._value(key, self._after(end + 1))
        return end

    def _steps(self, place: int) -> tuple[Steps, int]:
        starts = array("q")
        return Steps(self._text, starts), self._items(place, "]", lambda at: self._step(at, starts))

    def _step(self, place: int, starts: array[int]) -> int:
        """Note that an item begins at ``place``, and check it as all other data; the place behind it."""
        text = self._text
        item, end = self._read(text, place)
        starts.append(place)
        nested = text.count("[", place, end) + text.count("{", place, end) > NESTED_DATA.most
        if nested or end - place > DIGITS.most or text.find("\\u0000", place, end) >= 0:
            check_data(item, text, self._where)
        return self._after(end)
