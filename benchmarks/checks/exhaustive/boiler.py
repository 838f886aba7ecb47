"""One input of each kind for the boiler, whose inputs have 58 bits.

What the controller and the goals ask of an input are the truth values below. Supply and wall are compared with each
other, back and demand with supply only, smoke with wall only, pressure and height with each other only: so it is enough
to go through all 65,536 pairs of supply and wall, and to take for each of the others one value of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product

BYTE = range(256)


def one_of_each(kinds: Callable[[int], tuple[bool, ...]]) -> tuple[int, ...]:
    """The least byte of each kind."""
    found: dict[tuple[bool, ...], int] = {}
    for value in BYTE:
        found.setdefault(kinds(value), value)
    return tuple(found.values())


def pair(supply: int, wall: int) -> tuple[bool, ...]:
    """What supply and wall say."""
    total = supply + wall
    return total > 360, total < 300, total == 361, wall < 60, wall == 59


@cache
def backs(supply: int) -> tuple[int, ...]:
    return one_of_each(lambda back: kinds_of_back(supply, back))


@cache
def demands(supply: int) -> tuple[int, ...]:
    return one_of_each(lambda demand: kinds_of_demand(supply, demand))


@cache
def smokes(wall: int) -> tuple[int, ...]:
    return one_of_each(lambda smoke: smoky(smoke, wall))


def smoky(smoke: int, wall: int) -> tuple[bool, ...]:
    """What smoke says beside wall."""
    return smoke > wall and smoke - wall > 40, smoke < wall, smoke > wall + 60


def water() -> list[tuple[int, int]]:
    """A pair of pressure and height of each kind."""
    found: dict[tuple[bool, ...], tuple[int, int]] = {}
    for pressure, height in product(BYTE, BYTE):
        total = pressure + height
        kind = (
            total < 60,
            total == 60,
            total == 59,
            pressure > 200 and height < 100,
            pressure > 220 and height < 80,
            pressure > 100,
            pressure < 100,
        )
        found.setdefault(kind, (pressure, height))
    return list(found.values())


def kinds_of_back(supply: int, back: int) -> tuple[bool, ...]:
    """What back says beside supply."""
    return supply > back + 20, supply < back, supply == back + 21, back < 50, back < 40


def kinds_of_demand(supply: int, demand: int) -> tuple[bool, ...]:
    """What demand says beside supply."""
    return (
        supply < demand,
        supply > demand,
        supply + 50 < demand,
        supply + 30 < demand,
        supply + 51 == demand,
        supply == demand + 1,
        demand > 100,
        demand > 150,
    )


def temperatures() -> Iterable[tuple[int, int, int, int, int]]:
    """Supply, back, wall, smoke and demand of each kind."""
    found: dict[tuple[bool, ...], tuple[int, int, int, int, int]] = {}
    for supply in BYTE:
        beside = {
            kinds_of_back(supply, back) + kinds_of_demand(supply, demand): (back, demand)
            for back in backs(supply)
            for demand in demands(supply)
        }
        above = {pair(supply, wall) + smoky(smoke, wall): (wall, smoke) for wall in BYTE for smoke in smokes(wall)}
        for said, (wall, smoke) in above.items():
            for kind, (back, demand) in beside.items():
                found.setdefault(said + kind, (supply, back, wall, smoke, demand))
    return found.values()


def inputs(fields: Sequence[str]) -> list[tuple[int, ...]]:
    """An input of each kind, in the order of ``fields``."""
    assert list(fields) == ["supply", "back", "wall", "smoke", "demand", "pressure", "height", "key", "emergency"]
    kinds = product(temperatures(), water(), product((0, 1), (0, 1)))
    return [(*hot, *wet, *keys) for hot, wet, keys in kinds]
