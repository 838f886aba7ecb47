"""One input of each kind for the crane, whose inputs have 58 bits.

What the controller and the goals ask of an input are truth values of four bytes and of whether the telegram is whole.
``load`` and ``lean`` are sums over the load cells: one set of cells for each pair of them that is possible is enough.
Beside them ``stress`` needs the wind only and ``moment`` the reach: whatever load and lean are, every stress and every
moment is possible, so one pair of each kind and one wind and reach of each kind are enough. The byte ``check`` makes
any telegram whole, or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

BYTE = range(256)


def cells() -> dict[tuple[int, int], tuple[int, int, int, int]]:
    """Load cells for each pair of load and lean: a front and a back one for the sums, no matter on which side."""
    found: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    for front, back in product(BYTE, BYTE):
        for one in ((front, back, 0, 0), (front, 0, 0, back), (0, back, front, 0), (0, 0, front, back)):
            load = sum(one) % 256
            lean = (3 * one[0] + 5 * one[1] - 3 * one[2] - 5 * one[3]) % 256
            found.setdefault((load, lean), one)
    assert len(found) == 256 * 256 // 2  # load and lean are both even, or both odd
    return found


def kinds_of_load(load: int) -> tuple[bool, ...]:
    return (
        *(load < 4, load == 0, load == 3, load == 4, load == 10, load > 20, load == 50),
        *(load < 100, load == 100, load > 200, load == 200, load == 201, load > 230),
    )


def kinds_of_lean(lean: int) -> tuple[bool, ...]:
    return (
        *(40 < lean < 216, lean == 0, lean < 20, lean == 40, lean == 41, lean == 100, 100 < lean < 150),
        *(lean > 200, lean == 215, lean == 216),
    )


@cache
def winds(load: int) -> list[int]:
    """A wind for each kind of stress under a load."""
    found: dict[tuple[bool, ...], int] = {}
    for wind in BYTE:
        stress = (load + 3 * wind) % 256
        kind = (
            *(stress > 220, stress == 220, stress == 221, stress == 255),
            *(stress < 50, stress < 100, stress < 200, stress > 240),
        )
        found.setdefault(kind, wind)
    return list(found.values())


@cache
def reaches(lean: int) -> list[int]:
    """A reach for each kind of moment of a leaning load."""
    found: dict[tuple[bool, ...], int] = {}
    for reach in BYTE:
        moment = (lean + 7 * reach) % 256
        kind = (
            *(moment == 0, 100 < moment < 156, moment < 30, moment == 29, moment == 77),
            *(moment == 101, moment == 128, moment > 250),
        )
        found.setdefault(kind, reach)
    return list(found.values())


def inputs(fields: Sequence[str]) -> list[tuple[int, ...]]:
    """An input of each kind, in the order of ``fields``."""
    assert list(fields) == ["lf", "lb", "rf", "rb", "wind", "reach", "check", "up", "release"]
    kinds: dict[tuple[tuple[bool, ...], ...], tuple[int, int, tuple[int, int, int, int]]] = {}
    for (load, lean), one in cells().items():
        kinds.setdefault((kinds_of_load(load), kinds_of_lean(lean)), (load, lean, one))
    found: list[tuple[int, ...]] = []
    for load, lean, one in kinds.values():
        for wind, reach in product(winds(load), reaches(lean)):
            whole = -(load + wind + reach) % 256
            for check, up, release in product((whole, whole ^ 1), (0, 1), (0, 1)):
                found.append((*one, wind, reach, check, up, release))
    return found
