"""What is read from outside: texts, data and whole numbers, each up to a named limit (docs/reference/limits.md).

A limit is far above real inputs. What is larger is refused with its place, before it takes memory or time.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable
from fractions import Fraction
from math import isfinite
from typing import Any

from bmc.errors import InputRefused, Location, UnsupportedConstruct
from bmc.records import dataclass


class TooLarge(UnsupportedConstruct):
    """Something is larger than it may be."""


@dataclass(frozen=True, slots=True)
class InputLimit:
    """Inputs have at most ``most`` of what is ``named``; the next step is what to do about more."""

    named: str
    most: int
    next_step: str

    def check(self, number: int, where: Location | None = None) -> None:
        """TooLarge if ``number`` is above the limit."""
        if number > self.most:
            raise self.refusal(where)

    def refusal(self, where: Location | None = None, text: str = "") -> TooLarge:
        """The error for what is above the limit, in the words of ``text`` if they are given."""
        return TooLarge(text or f"there are more than {self.most:,} {self.named}", where, self.next_step)


_FLATTER = "generate or write flatter code: more functions, a switch, or an array"
_BOUND = "bound the loop by a smaller constant, for example with a second condition on a counter"
_SMALLER = "keep it out of what init and step reach (#ifndef __CHAINCOVER__), or make it smaller there"

FILE_SIZE = InputLimit("bytes in this file", 64 << 20, "name the right file, or split it")
DIGITS = InputLimit("digits in a number", 1_000, "write a number that its type can hold")
NESTED_DATA = InputLimit("lists and tables one within the other", 100, "name the right file, or write it again")
TOKENS = InputLimit(
    "tokens in this file with its headers, macros expanded", 3_000_000, "look at macros that contain each other"
)
STRING = InputLimit("characters in a string constant", 1_000_000, "split it: constants side by side are one string")
MACROS = InputLimit(
    "macros active at once, each in what the one before stands for",
    10_000,
    "let the first of them stand for what the last one does",
)
INCLUDED = InputLimit("files included by this one", 10_000, "look at headers that include each other")
INCLUDES = InputLimit(
    "files that include one another", 200, "look at headers that include themselves: they need an include guard"
)
SYNTAX = InputLimit("levels of syntax: brackets, blocks, operators, links of 'else if'", 10_000, _FLATTER)
BRACKETS = InputLimit("pairs of brackets one right after the other, such as dimensions", SYNTAX.most // 3, _FLATTER)
CALLS = InputLimit("functions active at once", 1_000, _FLATTER)
STRUCTS = InputLimit("structs one within the other", 200, _FLATTER)
ELEMENTS = InputLimit("numbers in one object that is used: elements of arrays, members of structs", 100_000, _SMALLER)
NUMBERS = InputLimit("numbers in all objects at file scope that are used together", 300_000, _SMALLER)
ITERATIONS = InputLimit("iterations of a loop whose condition is constant in each", 100_000, _BOUND)
OPEN_ITERATIONS = InputLimit("iterations of a loop whose condition depends on state or input", 256, _BOUND)
POINTEES = InputLimit(
    "objects and functions that one pointer of the state may point to", 200, "keep an index into an array instead"
)
WORK = InputLimit(
    "statements executed, numbers read or written and, at each call, functions active by init, or by one step",
    1_000_000,
    _BOUND,
)
WORK_IN_CALLS = "do less in one step: a function is executed at each of its calls, with all that it calls"
"""What to do about too much work outside of loops."""
STEPS = InputLimit(
    "steps looked at by the operators of one property",
    100_000,
    "count the steps in a variable of the code, and make the property one of its value",
)
LIMITS = (
    *(FILE_SIZE, DIGITS, NESTED_DATA, TOKENS, STRING, MACROS, INCLUDED, INCLUDES),
    *(SYNTAX, BRACKETS, CALLS, STRUCTS),
    *(ELEMENTS, NUMBERS, ITERATIONS, OPEN_ITERATIONS, POINTEES, WORK, STEPS),
)
"""All of them, in the order of docs/reference/limits.md."""


_TOO_LONG = 10**DIGITS.most


def whole_number(text: str, base: int = 10, where: Location | None = None) -> int:
    """``int(text, base)``: ValueError if it is no number. TooLarge, with the place, for one of too many digits."""
    DIGITS.check(len(text), where)
    return int(text, base)


def text_of(path: str | os.PathLike[str], errors: str = "strict", most: InputLimit = FILE_SIZE) -> str:
    """The text of a file, UTF-8 with or without a byte order mark; line ends are ``\\n``.

    OSError if it cannot be opened, UnicodeDecodeError if it is no such text, InputRefused if it is a device or a pipe,
    which may never end, TooLarge if it has more than ``most`` bytes.
    """
    if "\0" in os.fspath(path):
        raise FileNotFoundError(2, "a file name cannot hold the character NUL", path)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe without writer is not waited for
    with open(handle, "rb") as file:
        kind, where = os.fstat(handle), Location(os.fspath(path))
        if stat.S_ISDIR(kind.st_mode):
            raise IsADirectoryError(21, "Is a directory", path)
        if not stat.S_ISREG(kind.st_mode):
            raise InputRefused("this is a device or a pipe, not a file", where, "write the text into a file")
        most.check(kind.st_size, where)
        content = file.read(max(kind.st_size, FILE_SIZE.most) + 1)
        most.check(len(content), where)
    text = content.decode("utf-8", errors).removeprefix("\ufeff")
    return re.sub("\r\n?", "\n", text) if "\r" in text else text


def read_text(
    path: str | os.PathLike[str], what: str, next_step: str = "", errors: str = "strict", most: InputLimit = FILE_SIZE
) -> str:
    """``text_of`` a file that the user has named. InputRefused, with its place, if ``what`` cannot be read there."""
    try:
        return text_of(path, errors, most)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        text = f"cannot read {what}: {reason}"
        raise InputRefused(text, Location(os.fspath(path).replace("\0", "\\0")), next_step) from None


def json_decoder() -> json.JSONDecoder:
    """Reads JSON, all of whose numbers are finite (else ValueError), and no object of which has a key twice (else
    KeyTwice)."""
    return json.JSONDecoder(parse_float=_finite, parse_constant=_finite, object_pairs_hook=_object)


def read_json(text: str, where: Location, parse: Callable[[str], Any] | None = None) -> Any:
    """The data in a JSON text, which ``parse`` gives: all of ``json_decoder`` where it is None.

    InputRefused with the place of what is wrong in it.
    """
    try:
        return _data(parse or json_decoder().decode, text, where, "JSON")
    except KeyTwice as error:
        key, line, column = _second_key(text)
        raise InputRefused(
            f"the key {key} stands twice in one object", Location(where.file, line, column), "leave one of them"
        ) from error


class KeyTwice(Exception):
    """An object has a key twice: readers differ in which of the two they take."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise KeyTwice
    return found


def _second_key(text: str) -> tuple[str, int, int]:
    """The first key that its object in the JSON ``text`` has already, as it is written, with its line and column."""
    keys: list[set[str]] = []
    for token in re.finditer(r'("(?:\\.|[^"\\])*")(\s*:)?|[{}\[\]]', text):
        if token[0] in "{[":
            keys.append(set())
        elif token[0] in "}]":
            keys.pop()
        elif token[2]:
            key = json.loads(token[1])
            if key in keys[-1]:
                before = text[: token.start()]
                return token[1], before.count("\n") + 1, token.start() - before.rfind("\n")
            keys[-1].add(key)
    raise ValueError("no object has a key twice")


def read_toml(text: str, where: Location) -> dict[str, Any]:
    """The tables of a TOML text. InputRefused with the place of what is wrong in it."""
    data: dict[str, Any] = _data(lambda toml: tomllib.loads(toml, parse_float=WrittenNumber), text, where, "TOML")
    return data


class WrittenNumber(float):
    """A number of a TOML text that keeps how it is written."""

    text: str

    def __new__(cls, text: str) -> WrittenNumber:
        """The number nearest to what is written. ValueError where that has too many digits."""
        if len(text) > DIGITS.most:
            raise ValueError("too many digits")
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # a copy is made of the text, as the number is
        return (self.text,)


def exact_number(number: float) -> Fraction:
    """A finite number of a TOML text as it is written there, without rounding; 0 where it is too small for a float."""
    return Fraction(number.text if isinstance(number, WrittenNumber) and number else str(number))


def _finite(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{word} is no finite number")
    return number


def _data(parse: Callable[[str], Any], text: str, where: Location, language: str) -> Any:
    try:
        data = parse(text)
    except RecursionError:
        raise NESTED_DATA.refusal(where) from None
    except ValueError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))  # as tomllib tells it
        line, column = map(int, found.groups()) if found else (getattr(error, n, 0) for n in ("lineno", "colno"))
        if not line and "digits" in str(error):
            raise DIGITS.refusal(_number_place(text, where)) from None
        message = re.sub(r" \(at .*\)", "", getattr(error, "msg", str(error)))
        raise InputRefused(
            f"this is not {language}: {message}", Location(where.file, line, column), f"write {language} there"
        ) from None
    check_data(data, text, where)
    return data


def check_data(data: Any, text: str, where: Location) -> None:
    """InputRefused if data is nested too deep, or holds a number of too many digits or a NUL character."""
    level = [data]
    for _ in range(NESTED_DATA.most + 1):
        if any(isinstance(item, str) and "\0" in item for item in level):
            raise InputRefused("a text holds the character NUL", where, "leave it out")
        if any(isinstance(item, int) and abs(item) >= _TOO_LONG for item in level):
            raise DIGITS.refusal(_number_place(text, where))
        inner = [item for item in level if isinstance(item, dict | list)]
        if not inner:
            return
        level = [item for each in inner for item in ([*each, *each.values()] if isinstance(each, dict) else each)]
    raise NESTED_DATA.refusal(where)


def _number_place(text: str, where: Location) -> Location:
    """Where the first number of too many digits stands, as far as that can be told."""
    found = re.search(rf"[0-9][0-9a-fA-Fx_]{{{DIGITS.most * 4 // 5},}}", text)
    if found is None:
        return where
    before = text[: found.start()]
    return Location(where.file, before.count("\n") + 1, found.start() - before.rfind("\n"))
