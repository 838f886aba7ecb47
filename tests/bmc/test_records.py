"""Records are what the standard library's dataclasses are, in all that can be told of them."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc import records

OPTIONS = [
    {},
    {"eq": False},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "slots": True, "order": True},
    {"frozen": True, "kw_only": True},
]


def made(how: Callable[..., Any], options: dict[str, bool]) -> type:
    """A class with fields of every kind, made a record by ``how``."""

    class Item:
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list, compare=False)
        d: dict[str, int] = field(init=False, default_factory=dict, repr=False, compare=False)
        e: int = field(init=False, default=5)

        def __post_init__(self) -> None:
            self.d["seen"] = self.a

    Item.__qualname__ = "Item"
    return how(**options)(Item)  # type: ignore[no-any-return]


def outcome(ask: Callable[[], Any]) -> Any:
    """What ``ask`` gives, or the class of its error."""
    try:
        return ask()
    except (AttributeError, TypeError) as error:
        return type(error)


def change(record: Any, name: str) -> Any:
    setattr(record, name, 1)
    return getattr(record, name)


def answers(cls: type, a: int, b: str) -> list[Any]:
    """What can be told of records of ``cls``."""
    one, other, alike = cls(a=a, b=b), cls(a=2, c=[3]), cls(a=a, b=b, c=[7])
    return [
        outcome(lambda: cls(1, "x", [2]).c),
        outcome(lambda: cls()),
        outcome(lambda: cls(1, "x", [2], {})),
        outcome(lambda: cls(a=1, z=2)),
        repr(one),
        one.d,
        cls(a=1).c is cls(a=1).c,
        [one == other, one == alike, one == (a, b), one != alike],
        outcome(lambda: hash(one) == hash(alike)),
        outcome(lambda: hash(one) == hash((a, b))),
        [outcome(lambda: one < other), outcome(lambda: one >= alike)],
        outcome(lambda: change(copy.copy(one), "a")),
        outcome(lambda: delattr(copy.copy(one), "a")),
        replace(one, b="new").b,
        [(each.name, each.default, each.compare) for each in dataclasses.fields(cls)],
        outcome(lambda: cls.__match_args__),
        [outcome(lambda: dataclasses.asdict(one)), hasattr(one, "__dict__"), copy.deepcopy(other).c],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "none")
@settings(max_examples=20)
@given(a=st.integers(0, 3), b=st.text(max_size=2))
def test_records_answer_as_dataclasses_do(options: dict[str, bool], a: int, b: str) -> None:
    assert answers(made(records.dataclass, options), a, b) == answers(made(dataclasses.dataclass, options), a, b)


@records.dataclass(frozen=True, slots=True)
class Point:
    """A record that can be found by its name."""

    x: int
    y: int = 0


@records.dataclass(frozen=True)
class Named(Point):
    """A record made from another."""

    name: str = ""

    def __hash__(self) -> int:
        return 7

    @cached_property
    def length(self) -> int:
        return len(self.name)


def test_records_are_pickled_and_made_from_others() -> None:
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
    named = Named(1, name="abc")
    assert (hash(named), named.length, named.y) == (7, 3, 0)
    assert pickle.loads(pickle.dumps(named)) == named != Point(1)


def test_a_record_that_holds_itself_can_be_shown() -> None:
    record = made(records.dataclass, {})(1)
    record.c.append(record)
    assert repr(record).startswith("Item(a=1, b='b', c=[Item(a=1, b='b', c=[Item(a=1, b='b', c=[Item(...)], e=5)]")


def test_a_record_is_shown_in_ten_lines_of_a_terminal_at_most() -> None:
    record = made(records.dataclass, {})(1)
    for _ in range(5):
        record = made(records.dataclass, {})(1, c=[record] * 40)
    assert repr(record).startswith("Item(a=1, b='b', c=[Item(")
    assert 80 < len(repr(record)) <= 800


@dataclasses.dataclass(frozen=True)
class Standard(Point):
    """A class of the standard library made from a record."""

    z: int = 0


def test_what_is_made_from_a_frozen_record_is_frozen() -> None:
    assert (repr(Standard(1, z=2)), Standard(1) == Standard(1)) == ("Standard(x=1, y=0, z=2)", True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Standard(1).x = 2  # type: ignore[misc]
    with pytest.raises(TypeError, match="frozen"):
        records.dataclass(type("Changing", (Point,), {}))
